"""Source files as they are: structure, parsing, typed values."""
