"""Commands about what ``use_cases/custody`` keeps, and about proposals."""
