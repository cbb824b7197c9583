"""Levels of codes as one DuckDB expression over a column, total on every text.

All but the last step of a look-up are functions of one column and constants, which
DuckDB evaluates once for each entry of a stored dictionary: a regular expression cuts
the category out, one text of all categories tells its place, the place its slot.
Balanced trees of CASE comparisons cost ten times as much there, and long lists take ten
times as long to bind.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby

from privacy.schema import Hierarchy
from query_lang.hierarchies.code_systems import (
    FURTHER,
    Category,
    CodeSystem,
    code_system,
)

_SLOT_SIZE = 10
_NO_PLACE = Category("", "", "")
_SEPARATOR = "\x1f"


def built_in_sql(name: str, level: str, operand: str) -> str:
    """Return a built-in code system's level of a column.

    Raises:
        KeyError: No code system has that name.
    """
    if level == "category":
        template = (
            f"CASE WHEN {_slot_sql(name, 'block')} IS NOT NULL THEN {_key(name)} END"
        )
    else:
        template = _slot_sql(name, level)
    return template.replace("{operand}", operand)


@cache
def _slot_sql(name: str, level: str) -> str:
    """Return the block or chapter of a column, NULL where it is no code."""
    system = code_system(name)
    slots = list(_slots(system))
    width = _SLOT_SIZE * (1 + max(len(code) for code in system.categories))
    places = " " * (width - 1)
    places += "".join(
        "".join(f"{c}," for c in codes).ljust(width) for _, codes in slots
    )
    values = ",".join(getattr(category, level) for category, _ in slots)
    place = f"instr('{places.rstrip()}', {_key(name)})"
    return f"nullif(string_split('{values}', ',')[{place} // {width}], '')"


def _key(name: str) -> str:
    pattern = f"^({code_system(name).category_pattern}){FURTHER}$"
    return f"upper(regexp_extract({{operand}}, '{pattern}', 1))"


def _slots(system: CodeSystem) -> Iterator[tuple[Category, list[str]]]:
    """Yield slots of at most ten codes of one block with a category for all of them.

    Decoys come first: texts that are no category but end a longer one ('003' would be
    found in 'E003').
    """
    longer = (code[1:] for code in system.categories if len(code) > len("E11"))
    decoys = sorted({code for code in longer if code not in system.categories})
    yield from ((_NO_PLACE, slot) for slot in _cut(decoys))
    for _, group in groupby(system.categories.values(), lambda c: c.block):
        block = list(group)
        yield from ((block[0], slot) for slot in _cut([c.category for c in block]))


def _cut(codes: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(codes), _SLOT_SIZE):
        yield codes[start : start + _SLOT_SIZE]


def own_sql(hierarchy: Hierarchy, level: str, operand: str) -> str:
    """Return an own hierarchy's level of a column.

    Raises:
        ValueError: No level has that name.
    """
    index = hierarchy.levels.index(level)
    values = [row[index] or "" for row in hierarchy.codes.values()]
    return f"nullif({_look_up(hierarchy, values, operand)}, '')"


def own_code_sql(hierarchy: Hierarchy, operand: str) -> str:
    """Return whether a column holds a code of an own hierarchy."""
    ones = ["1"] * len(hierarchy.codes)
    return f"({_look_up(hierarchy, ones, operand)} IS NOT NULL)"


def _look_up(hierarchy: Hierarchy, values: list[str], operand: str) -> str:
    keys = _texts((code.replace(".", "") for code in hierarchy.codes), "upper")
    return f"map({keys}, {_texts(values)})[upper(replace({operand}, '.', ''))]"


def normal_code(code: str) -> str:
    """Return an own code as it is compared: in capital letters, without dots.

    >>> normal_code("y.1")
    'Y1'
    """
    letters = (c.upper() if len(c.upper()) == 1 else c for c in code)
    return "".join(letters).replace(".", "")


def _texts(values: Iterable[str], function: str = "") -> str:
    """Write texts, which are free of control characters, as one literal to be split."""
    literal = _SEPARATOR.join(values).replace("'", "''")
    return f"string_split({function}('{literal}'), '{_SEPARATOR}')"
