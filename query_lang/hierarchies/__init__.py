"""Hierarchies of codes: ICD-10, ICD-10-CM and ICD-9-CM built in, others from files."""

from query_lang.hierarchies.code_systems import BUILT_IN
from query_lang.hierarchies.levels import (
    LEVELS,
    code_count,
    code_of_level,
    is_code,
    level_follows,
    level_of,
    level_values,
    levels_of,
    longest_code,
)

__all__ = [
    "BUILT_IN",
    "LEVELS",
    "code_count",
    "code_of_level",
    "is_code",
    "level_follows",
    "level_of",
    "level_values",
    "levels_of",
    "longest_code",
]
