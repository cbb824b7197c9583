"""De-identified texts: what identifies is removed, generalized or replaced."""
