"""From the text of a question to a cube's codes."""
