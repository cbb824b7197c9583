"""Published releases: listed, opened, asked and offered in place of a charge."""
