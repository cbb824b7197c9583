"""From text to tree: sizes first, then sqlglot, then our own nodes alone."""
