"""What is known of the rows; read in every environment, so it imports nothing else."""

from typing import Final

MOST_ROWS: Final = 40
KEPT_ROWS: Final = 8
"""Rows of each patient that bounded tools keep."""
CODES: Final = tuple(f"{chr(65 + i % 26)}{i // 26:02d}.{i % 10}" for i in range(200))
ASKED_CODE: Final = CODES[4]
YEARS: Final = tuple(range(2000, 2021))
SEXES: Final = ("F", "M")
