"""What builds and tries things around the server; never shipped."""
