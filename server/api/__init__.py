"""HTTP routes, request bodies, problems and slots."""
