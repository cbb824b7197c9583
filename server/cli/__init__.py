"""The commands of custodians on the server's host."""
