"""Files and databases on their way to drafted tables, and how they are written."""
