"""Windows by other ways of writing: by names, beside DISTINCT, in QUALIFY."""
