"""Commands about principals, populations, projects and proposals."""
