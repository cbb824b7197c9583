"""What people can do with Curator, one module a purpose."""
