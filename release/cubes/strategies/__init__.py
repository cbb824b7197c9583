"""How a loss is spent on a cube."""
