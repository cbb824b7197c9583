"""Functions of one row's values: what is publicly known of each result."""
