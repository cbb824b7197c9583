"""Health terms in text: what is said of a patient, and whether it is said not to be."""
