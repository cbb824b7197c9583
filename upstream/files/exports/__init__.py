"""Tables as hospitals export them, written anew as plain CSV for a load to read."""
