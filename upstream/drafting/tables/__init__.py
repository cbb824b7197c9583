"""One table of a draft: its columns, questions and proposals, as YAML."""
