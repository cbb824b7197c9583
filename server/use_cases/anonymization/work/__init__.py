"""The jobs that make anonymized copies, and previews of them."""
