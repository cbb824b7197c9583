"""Gold standards: documents whose spans a person marked, from files and to files."""
