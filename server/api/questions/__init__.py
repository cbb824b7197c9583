"""Routes of questions to datasets."""
