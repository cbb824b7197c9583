"""Anonymized copies of tables: what is declared, and the job that makes them."""
