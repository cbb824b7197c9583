"""Records of tables and texts, linked into patients: who is one person."""
