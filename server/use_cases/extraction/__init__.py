"""Texts: read, tagged and judged; models of them; tables made of what they say."""
