"""Anonymized copies of diagnosis codes: what is declared, and the job."""
