"""People, projects and populations, as custodians and admins keep them."""
