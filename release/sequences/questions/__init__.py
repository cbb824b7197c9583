"""Questions of published sequences."""
