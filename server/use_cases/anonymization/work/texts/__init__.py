"""De-identified copies of texts: what is declared, done, and shown beforehand."""
