"""A published code system, read from its compact table.

A table has one line a chapter (continued by indented ones): the chapter's name, a
colon, and its blocks in published order. A block holds every category from its first
to its last one; where the list has gaps, its runs of categories follow in brackets.
Blocks that hold only other blocks are left out: a category belongs to the innermost.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from query_lang.hierarchies import icd9cm, icd10, icd10cm

FURTHER = r"\.?[0-9A-Za-z]{0,4}"
"""What may follow a category in a code."""

_DIGITS = "0123456789"
_ICD10_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ICD10 = (
    "[A-Za-z][0-9Aa][0-9ABab]",
    (_ICD10_LETTERS, f"{_DIGITS}A", f"{_DIGITS}AB"),
)
_ICD9 = (
    "[0-9]{3}|[Vv][0-9]{2}|[Ee][0-9]{3}",
    (f"{_DIGITS}V", _DIGITS, _DIGITS),
)
_TABLES = {
    "icd10": (icd10.CHAPTERS, *_ICD10),
    "icd10cm": (icd10cm.CHAPTERS, *_ICD10),
    "icd9cm": (icd9cm.CHAPTERS, *_ICD9),
}
BUILT_IN = tuple(_TABLES)
CATEGORY: Final = 3
"""Characters that every code has in front: its category's."""
_BLOCK = re.compile(r"([0-9A-Z]+(?:-[0-9A-Z]+)?)(?:\(([0-9A-Z,-]+)\))?")


@dataclass(frozen=True, slots=True)
class Category:
    """A category of a published list with what it lies in."""

    chapter: str
    block: str
    category: str


@dataclass(frozen=True, slots=True)
class CodeSystem:
    """A published list of categories.

    Attributes:
        category_pattern: A regular expression that every category matches in full, in
            capital or small letters; the same in Python and RE2.
        alphabets: What may stand at the third last, second last and last place of a
            text that matches; a fourth last character is always the same.
        categories: By name, in published order.
    """

    category_pattern: str
    alphabets: tuple[str, str, str]
    categories: Mapping[str, Category]

    def category_of(self, code: str) -> Category | None:
        """Return the category of a code, or None for what is no code."""
        pattern = f"({self.category_pattern}){FURTHER}"
        found = re.fullmatch(pattern, code)
        return None if found is None else self.categories.get(found[1].upper())


@cache
def code_system(name: str) -> CodeSystem:
    """Return a built-in code system.

    Raises:
        KeyError: It is not one of ``BUILT_IN``.
    """
    table, pattern, alphabets = _TABLES[name]
    categories = {found.category: found for found in _read(table)}
    return CodeSystem(pattern, alphabets, MappingProxyType(categories))


def _read(table: str) -> Iterator[Category]:
    chapter = ""
    for word in table.split():
        if word.endswith(":"):
            chapter = word.removesuffix(":")
            continue
        block, runs = _BLOCK.fullmatch(word).groups()  # type: ignore[union-attr] # our own tables
        for run in (runs or block).split(","):
            for category in _run(run):
                yield Category(chapter, block, category)


def _run(run: str) -> list[str]:
    """Return the categories of ``E10-E14``: they differ in their last digits.

    >>> _run("E098-E101")
    ['E098', 'E099', 'E100', 'E101']
    """
    first, _, last = run.partition("-")
    if not last:
        return [first]
    letter = "" if first[0].isdigit() else first[0]
    width = len(first) - len(letter)
    numbers = range(int(first[len(letter) :]), int(last[len(letter) :]) + 1)
    return [f"{letter}{number:0{width}}" for number in numbers]
