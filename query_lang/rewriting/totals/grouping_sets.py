"""ROLLUP, CUBE and GROUPING SETS: which keys each set of groups has.

``GROUP BY a, ROLLUP (b, c)`` has the sets (a, b, c), (a, b) and (a): those of its
items, each with each, as SQL has it.
"""

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import combinations, product
from typing import Final, TypeVar

from query_lang.rewriting.trees import called, wording
from query_lang.syntax import rules
from query_lang.syntax.idioms import GroupedKeys
from query_lang.syntax.nodes import Expression, Position, Select
from query_lang.syntax.refusals import refuse

MOST_SETS: Final = 64
"""Grouping sets of a query: six keys in a CUBE."""

_Keys = tuple[Expression, ...]
_SomeSelect = TypeVar("_SomeSelect", bound=Select)


def has_sets(select: Select) -> bool:
    """Whether ROLLUP or the like was written."""
    return any(isinstance(key, GroupedKeys) for key in select.group_by)


def with_sets(select: _SomeSelect) -> _SomeSelect:
    """Return a SELECT whose keys are each named once, and its sets by their places.

    Raises:
        SqlNotAllowedError: There are too many sets, or several without any key.
    """
    if not has_sets(select):
        return select
    sets = _crossed([_sets(key) for key in select.group_by], select.position)
    own = "" if select.joins else called(select.source)
    said = {id(key): wording(key, own) for each in sets for key in each}
    keys: dict[Hashable, Expression] = {}
    for each in sets:
        for key in each:
            keys.setdefault(said[id(key)], key)
    if not keys:
        raise refuse(rules.GROUPING_SETS, select.position, detail="no set has a key")
    places = {said: place for place, said in enumerate(keys)}
    numbered = (sorted({places[said[id(key)]] for key in each}) for each in sets)
    return replace(
        select, group_by=tuple(keys.values()), sets=tuple(map(tuple, numbered))
    )


def _sets(key: Expression) -> list[_Keys]:
    """Return the sets of one item of GROUP BY, in the order of the text."""
    if not isinstance(key, GroupedKeys):
        return [(key,)]
    if key.word == "GROUPING SETS":
        sets = [found for item in key.items for found in _sets(item)]
        _check_number(len(sets), key.position)
        return sets
    return _rolled(key) if key.word else [_part(key)]


def _rolled(key: GroupedKeys) -> list[_Keys]:
    """Return the sets of ROLLUP or CUBE."""
    parts = [_part(item) for item in key.items]
    sizes = range(len(parts), -1, -1)
    if key.word in {"ROLLUP", "WITH ROLLUP"}:
        _check_number(len(sizes), key.position)
        return [_joined(parts[:size]) for size in sizes]
    _check_number(2 ** min(len(parts), 12), key.position)
    return [_joined(some) for size in sizes for some in combinations(parts, size)]


def _part(item: Expression) -> _Keys:
    """Return what ROLLUP and CUBE take or leave together."""
    if not isinstance(item, GroupedKeys):
        return (item,)
    if item.word or any(isinstance(each, GroupedKeys) for each in item.items):
        raise refuse(rules.GROUPING_SETS, item.position)
    return item.items


def _joined(parts: Iterable[_Keys]) -> _Keys:
    return tuple(key for part in parts for key in part)


def _crossed(items: Iterable[list[_Keys]], position: Position) -> list[_Keys]:
    """Return each set of an item with each set of the others."""
    found: list[_Keys] = [()]
    for sets in items:
        _check_number(len(found) * len(sets), position)
        found = [(*one, *other) for one, other in product(found, sets)]
    return found


def _check_number(sets: int, position: Position) -> None:
    """Refuse more sets than an answer has.

    Raises:
        SqlNotAllowedError: Rule ``grouping_sets``.
    """
    if sets > MOST_SETS:
        detail = f"a query has at most {MOST_SETS} grouping sets; these are more"
        hint = "name those that you need: GROUPING SETS ((sex, age), (sex), ())"
        raise refuse(rules.GROUPING_SETS, position, detail=detail, hint=hint)
