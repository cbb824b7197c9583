"""The neighbouring relations under which losses and sensitivities are stated."""

from enum import StrEnum


class Neighbours(StrEnum):
    """Which two databases must look alike to whoever reads an answer."""

    ADD_REMOVE_UNIT = "add_remove_unit"
    """Add or remove all rows of one privacy unit, in every table."""
