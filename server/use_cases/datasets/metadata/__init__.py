"""A dataset's public schema, and the releases, in the words of other catalogues."""
