"""Levels of codes as one DuckDB expression over a column, total on every text.

A category is its row (all but its last two characters), its second last and its last
character: E, 1, 1, or E8, 1, 2. Two short constant lists, indexed by their places in
alphabets, lead to the block: a list index costs some nanoseconds. Tried and slower: a
search in one text of all categories (twice), a balanced tree of CASE comparisons and a
constant map (four times; both also bind longer).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

from privacy.schema import Hierarchy, HierarchyDomain
from query_lang.hierarchies.code_systems import (
    BUILT_IN,
    FURTHER,
    Category,
    CodeSystem,
    code_system,
)
from query_lang.hierarchies.levels import OwnHierarchies, levels_of, longest_code

_SEPARATOR = "\x1f"
_FIRST = ord("0")  # stands in a cell for a row's first block
_NONE = "~"  # stands there for what is no category; its number lies beyond every list


def level_sql(
    domain: HierarchyDomain, level: str, operand: str, own: OwnHierarchies
) -> str:
    """Return ``level_of`` as a DuckDB expression over ``operand``.

    Args:
        domain: The operand's domain.
        level: One of its levels.
        operand: A quoted identifier of a text column; it may occur several times.
        own: The dataset's own hierarchies.

    Returns:
        An expression that never raises; NULL where the operand is NULL or no code.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
        ValueError: It has no such level.
    """
    levels_of(domain, own).index(level)
    if domain.name in BUILT_IN:
        return _built_in_sql(domain.name, level, operand)
    return _own_sql(own[domain.name], level, operand)


def is_code_sql(domain: HierarchyDomain, operand: str, own: OwnHierarchies) -> str:
    """Return whether ``operand`` is a code as a DuckDB expression, false for NULL.

    Raises:
        KeyError: The hierarchy is neither built in nor one of ``own``.
    """
    if domain.name in BUILT_IN:
        block = _built_in_sql(domain.name, "block", operand)
        return f"({block} IS NOT NULL)"
    return _own_code_sql(own[domain.name], operand)


def _built_in_sql(name: str, level: str, operand: str) -> str:
    """Return a built-in code system's level of a column.

    Raises:
        KeyError: No code system has that name.
    """
    return _template(name, level).replace("{operand}", operand)


@cache
def _template(name: str, level: str) -> str:
    layout = _Layout(code_system(name))
    if level == "category":
        return f"CASE WHEN {layout.value('block')} IS NOT NULL THEN {layout.key()} END"
    return layout.value(level)


@dataclass(frozen=True, slots=True)
class _Layout:
    """A code system as lists: one cell a row and second last character."""

    system: CodeSystem

    def key(self) -> str:
        """Return the category that a text would be of, '' where it is no code."""
        pattern = f"^({self.system.category_pattern}){FURTHER}$"
        return f"upper(regexp_extract({{operand}}, '{pattern}', 1))"

    def _place(self, from_end: int) -> str:
        alphabet = self.system.alphabets[-from_end]
        return f"instr('{alphabet}', substr({self.key()}, -{from_end}, 1))"

    def _row(self) -> str:
        """Return the row's number from 0; below 0 where the text is no code."""
        rows = len(self.system.alphabets[0])
        return f"((strlen({self.key()}) - 3) * {rows} + {self._place(3)} - 1)"

    def _number(self) -> str:
        """Return the block's number within its row, from 0, NULL for no code."""
        columns = len(self.system.alphabets[1])
        cell = f"greatest({self._row()} * {columns} + {self._place(2)}, 0)"
        cells = f"string_split('{','.join(self._cells())}', ',')[{cell}]"
        return f"(ascii(substr({cells}, {self._place(1)}, 1)) - {_FIRST})"

    def value(self, level: str) -> str:
        """Return a block or chapter, NULL for no code."""
        rows = [self._blocks(row) for row in self._rows()]
        columns = zip_longest(*rows)
        values = ",".join(
            getattr(c, level) if c else "" for column in columns for c in column
        )
        place = f"{self._number()} * {len(rows)} + {self._row()} + 1"
        return f"string_split('{values}', ',')[{place}]"

    def _rows(self) -> list[str]:
        """Return what categories begin with, all but their last two characters."""
        longer = {code[:-3] for code in self.system.categories}
        return [e + first for e in sorted(longer) for first in self.system.alphabets[0]]

    def _blocks(self, row: str) -> list[Category]:
        """Return one category of each block of a row."""
        found = self.system.categories.values()
        within = [c for c in found if c.category[:-2] == row]
        return list({c.block: c for c in within}.values())

    def _cells(self) -> Iterable[str]:
        _, seconds, lasts = self.system.alphabets
        for row in self._rows():
            blocks = enumerate(self._blocks(row), start=_FIRST)
            marks = {c.block: chr(number) for number, c in blocks}
            for second in seconds:
                found = (self.system.categories.get(row + second + e) for e in lasts)
                yield "".join(marks[c.block] if c else _NONE for c in found)


def _own_sql(hierarchy: Hierarchy, level: str, operand: str) -> str:
    """Return an own hierarchy's level of a column.

    Raises:
        ValueError: No level has that name.
    """
    index = hierarchy.levels.index(level)
    values = [row[index] or "" for row in hierarchy.codes.values()]
    return f"nullif({_look_up(hierarchy, values, operand)}, '')"


def _own_code_sql(hierarchy: Hierarchy, operand: str) -> str:
    """Return whether a column holds a code of an own hierarchy."""
    ones = ["1"] * len(hierarchy.codes)
    return f"({_look_up(hierarchy, ones, operand)} IS NOT NULL)"


def _look_up(hierarchy: Hierarchy, values: list[str], operand: str) -> str:
    keys = _texts((code.replace(".", "") for code in hierarchy.codes), "upper")
    most = longest_code(hierarchy)
    short = f"COALESCE(CASE WHEN strlen({operand}) <= {most} THEN {operand} END, NULL)"
    return f"map({keys}, {_texts(values)})[upper(replace({short}, '.', ''))]"


def _texts(values: Iterable[str], function: str = "") -> str:
    """Write texts, which are free of control characters, as one literal to be split."""
    literal = _SEPARATOR.join(values).replace("'", "''")
    return f"string_split({function}('{literal}'), '{_SEPARATOR}')"
