"""Questions of published cubes."""
