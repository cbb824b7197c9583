"""ICD-9-CM as a tree of five levels: any, chapter, block, category, code.

Source of the levels: Tamersoy 2011, section IV.4.4; of the list: ``query_lang``'s own.
"""

from collections.abc import Iterable

from query_lang.hierarchies.code_systems import Category, code_system
from upstream.trajectories.codes.tree import CodeTree, tree_of

ANY = "Any"
"""The root: any code at all."""

LEVELS = ("any", "chapter", "block", "category", "code")
"""From the root down."""


def icd9cm_tree(codes: Iterable[str], *, is_whole: bool = True) -> CodeTree:
    """Return the tree of the published categories, with codes below theirs.

    A code that is a category itself is that node. A block that holds one category is
    named as a range (``338-338``), so that no two nodes have one name.

    Args:
        codes: Of the data, as ``401.1`` or ``401``.
        is_whole: Whether categories without codes are in the tree, as leaves. If not,
            losses are measured against the codes of the data alone.

    Raises:
        ValueError: A text is no code of ICD-9-CM.
    """
    system = code_system("icd9cm")
    known: dict[str, Category] = {}
    for code in dict.fromkeys(codes):
        found = system.category_of(code)
        if found is None:
            message = "a text is no code of ICD-9-CM: check the column of codes"
            raise ValueError(message)
        known[code] = found
    listed = system.categories.values() if is_whole else known.values()
    parents: dict[str, str] = {}
    for each in listed:
        _add_category(parents, each)
    for code, each in known.items():
        if code != each.category:
            parents[code] = each.category
    return tree_of(parents or {ANY + " code": ANY}, LEVELS)


def _add_category(parents: dict[str, str], each: Category) -> None:
    """Add a category, its block and its chapter."""
    block = f"{each.block}-{each.block}" if "-" not in each.block else each.block
    # Chapters are numerals, or the ranges of V and E codes that no block has.
    parents[each.chapter] = ANY
    parents[block] = each.chapter
    parents[each.category] = block
