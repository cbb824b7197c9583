"""What executing a plan may take, from public sizes alone (PRIVACY 6)."""
