"""What FROM gives: tables, derived tables and their joins."""
