"""Reading published releases: listed, opened, asked, offered instead of a charge."""
