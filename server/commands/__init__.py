"""The command line: each family's commands, wired, in a file read when named."""
