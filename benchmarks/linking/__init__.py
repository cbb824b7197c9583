"""How well and how fast records are linked, beside splink and FRIL's weighted sum."""
