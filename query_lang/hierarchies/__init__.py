"""Hierarchies of codes: ICD-10, ICD-10-CM and ICD-9-CM built in, others from files."""

from query_lang.hierarchies.code_systems import BUILT_IN, CATEGORY
from query_lang.hierarchies.levels import (
    LEVELS,
    OwnHierarchies,
    code_count,
    code_of_level,
    is_code,
    level_follows,
    level_of,
    level_values,
    levels_of,
    listed_as,
    listed_codes,
    longest_code,
    normal_code,
)

__all__ = [
    "BUILT_IN",
    "CATEGORY",
    "LEVELS",
    "OwnHierarchies",
    "code_count",
    "code_of_level",
    "is_code",
    "level_follows",
    "level_of",
    "level_values",
    "levels_of",
    "listed_as",
    "listed_codes",
    "longest_code",
    "normal_code",
]
