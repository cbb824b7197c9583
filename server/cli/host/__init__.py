"""Commands of those who run the server's host."""
