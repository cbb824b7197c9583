"""The public cells of group keys: declared, never learnt from rows."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from itertools import chain, product
from json.encoder import encode_basestring
from math import prod
from typing import Final

from privacy.schema import (
    ColumnType,
    Domain,
    RangeDomain,
    Scalar,
    ValuesDomain,
)
from query_lang.plans.compiled import DependentShown, KeyShown, NamedTotal
from query_lang.plans.costs import NUMBER_BYTES
from query_lang.plans.dates.calendar import domain_of, reach_of
from query_lang.plans.expressions import Facts, HalfRange
from query_lang.plans.intervals import grid_value, joined
from query_lang.plans.nodes import Key, PlanColumn
from query_lang.plans.rendered import Cell
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import no_public_domain, refuse, too_many_groups

MAX_CELLS = 10_000
MAX_LISTED = 10_000
"""The most values that a domain of several parts is listed for."""
_OTHER_BYTES: Final = 48
"""Of a key that is no text, as JSON: a decimal of 38 digits, in quotes, is longest."""


def value_count(facts: Facts) -> int | None:  # noqa: PLR0911 - an arm a form
    """Return how many values a key has, NULL not counted, or None."""
    match facts.domain:
        case ValuesDomain() as listed:
            return len(listed.all_values())
        case RangeDomain(date() as low, date() as high) if (
            facts.type is ColumnType.DATE
        ):
            return max(0, (high - low).days + 1)
        case RangeDomain(int(low), int(high)) if facts.type is ColumnType.INTEGER:
            return max(0, high - low + 1)
        case None if facts.type is ColumnType.BOOLEAN:
            return 2
        case _:
            return None


def cell_count(facts: Facts) -> int | None:
    """Return how many cells a key has (values, ``other``, NULL), or None."""
    values = value_count(facts)
    return None if values is None else values + facts.nullable


def key_values(facts: Facts) -> tuple[Scalar | None, ...]:
    """Return a countable key's cells in declared order, NULL last where nullable."""
    null: tuple[None, ...] = (None,) if facts.nullable else ()
    return (*_values(facts), *null)


def _values(facts: Facts) -> Iterable[Scalar]:
    match facts.domain:
        case ValuesDomain() as listed:
            return listed.all_values()
        case RangeDomain(date() as low, date() as high):
            return (low + timedelta(days=n) for n in range((high - low).days + 1))
        case RangeDomain(int(low), int(high)):
            return range(low, high + 1)
        case _:
            return (False, True)


def combined(
    parts: Sequence[Facts], count_values: Callable[[int], None]
) -> Domain | HalfRange | None:
    """Return the domain of a value that comes from any of these.

    The first's values, then new ones (CONTRACT 3); where they are too many to be cells,
    the least interval, or the end of it that all parts have.

    Args:
        parts: What is known of each.
        count_values: Is told how many values are about to be listed; may refuse them.
    """
    if all(part.domain == parts[0].domain for part in parts):
        return parts[0].domain
    counts = [value_count(part) for part in parts]
    known_counts = [count for count in counts if count is not None]
    if len(known_counts) == len(parts) and sum(known_counts) <= MAX_LISTED:
        count_values(sum(known_counts))
        values = tuple(dict.fromkeys(chain.from_iterable(map(_values, parts))))
        return None if parts[0].type is ColumnType.BOOLEAN else ValuesDomain(values)
    return domain_of(joined(map(reach_of, parts)), parts[0])


def longest_of(parts: Sequence[Facts]) -> int | None:
    """Return the most bytes of a text that comes from any of these, None if unknown."""
    known = [part.longest for part in parts]
    sizes = [size for size in known if size is not None]
    return max(sizes) if sizes and len(sizes) == len(known) else None


def check_key(
    facts: Facts, name: str, position: Position, hint: str | None = None
) -> None:
    """Refuse a key without public cells, or with more than an answer may hold.

    Raises:
        NoPublicDomainError: Its values are not declared one by one.
        TooManyGroupsError: It alone has more than 10,000 cells.
        SqlNotAllowedError: It has no cell at all.
    """
    size = cell_count(facts)
    if size is None:
        raise no_public_domain(
            position,
            detail=f"{name} has no declared list of values or small range to group by",
            hint=hint,
        )
    if size == 0:
        raise refuse(rules.NO_CELLS, position)
    if size > MAX_CELLS:
        raise too_many_groups(position, cells=size)


def check_cells(keys: Sequence[Key], bins: int, position: Position) -> None:
    """Refuse more than 10,000 cells, multiplied by the largest number of bins.

    Raises:
        TooManyGroupsError: There are more.
    """
    total = prod(len(key.values) for key in keys) * bins
    if total > MAX_CELLS:
        raise too_many_groups(position, cells=total, hint=_fewer_cells(keys, total))


def _fewer_cells(keys: Sequence[Key], total: int) -> str | None:
    """Say how a key has the values alone that WHERE leaves: declared cells all stay."""
    for key in keys:
        left = [value for value in key.reached if isinstance(value, str | int)]
        cells = total // len(key.values) * (len(left) + 1)  # NULL is what CASE leaves
        if len(left) < len(key.values) - 1 and cells <= MAX_CELLS:
            named = ", ".join(map(_literal, left[:_MOST_NAMED]))
            more = ", ..." if len(left) > _MOST_NAMED else ""
            return (
                f"WHERE leaves {len(left):,} of the {len(key.values):,} values of "
                f"{key.name}, and all come back: with k for this key, group by and "
                f"select CASE WHEN k IN ({named}{more}) THEN k END"
            )
    return None


def _literal(value: Scalar) -> str:
    return (
        "'" + value.replace("'", "''") + "'" if isinstance(value, str) else f"{value}"
    )


_MOST_NAMED: Final = 12


def check_numbers(cells: int, columns: int, position: Position, most: int) -> None:
    """Refuse more than so many numbers: what is stored and sent has a public bound.

    Args:
        cells: Of the answer.
        columns: That it shows, or numbers that it measures in each cell.
        position: Of what is refused.
        most: Of numbers: ``MAX_NUMBERS``, unless it is paid for already.

    Raises:
        SqlNotAllowedError: There are more.
    """
    if cells * columns > most:
        detail = f"{rules.ANSWER_SIZE.detail}; these are {cells:,} times {columns:,}"
        raise refuse(rules.ANSWER_SIZE, position, detail=detail)


def key_bytes(keys: Sequence[Key], columns: Sequence[PlanColumn], sets: int = 0) -> int:
    """Return how many bytes of JSON the keys of an answer take at most, in all cells.

    Args:
        keys: That are grouped by.
        columns: Of the answer; several may show one key.
        sets: Grouping sets of an answer with totals: each row of one is a cell whose
            other keys are NULL.
    """
    if sets:
        cells = prod(len(key.values) for key in keys)
        words = [c.shown.word for c in columns if isinstance(c.shown, NamedTotal)]
        nulls = len("null, ") * len(columns) * cells
        nulls += sum(map(_json_bytes, words)) * cells
        return sets * (key_bytes(keys, columns) + nulls)
    shown = Counter(_shown_keys(columns))
    cells = prod(len(key.values) for key in keys)
    follow = (c.shown for c in columns if isinstance(c.shown, DependentShown))
    return sum(_following_bytes(each, cells) for each in follow) + sum(
        times
        * sum(map(_json_bytes, keys[index].values))
        * cells
        // len(keys[index].values)
        for index, times in shown.items()
    )


def _following_bytes(shown: DependentShown, cells: int) -> int:
    """Return the bytes of what follows from a key: each value in as many cells."""
    made = sum(_json_bytes(value) for _, value in shown.pairs)
    return made * cells // max(1, len(shown.pairs))


def _shown_keys(columns: Sequence[PlanColumn]) -> list[int]:
    shown = (c.shown for c in columns)
    return [one.index for one in shown if isinstance(one, KeyShown | NamedTotal)]


def _json_bytes(value: Scalar | None) -> int:
    """Return the bytes of a value and what parts it from the next, at most."""
    if isinstance(value, str):
        return len(encode_basestring(value).encode()) + len(", ")
    return _OTHER_BYTES


def check_answer_bytes(
    keys: Sequence[Key],
    columns: Sequence[PlanColumn],
    position: Position,
    most: int,
    sets: int = 0,
) -> None:
    """Refuse an answer that keys make longer than the most numbers would.

    Args:
        keys: That are grouped by.
        columns: Of the answer.
        position: Of what is refused.
        most: As in ``check_numbers``.
        sets: As in ``key_bytes``.

    Raises:
        SqlNotAllowedError: It is longer.
    """
    of_keys = key_bytes(keys, columns, sets)
    cells = prod(len(key.values) for key in keys) * max(1, sets)
    numbers = cells * (len(columns) - len(_shown_keys(columns)))
    if of_keys + numbers * NUMBER_BYTES > most * NUMBER_BYTES:
        detail = (
            f"an answer holds at most {most * NUMBER_BYTES:,} bytes; these are "
            f"{of_keys:,} of keys and {numbers:,} numbers of {NUMBER_BYTES}"
        )
        raise refuse(rules.ANSWER_SIZE, position, detail=detail)


def cells(keys: Sequence[Key]) -> tuple[Cell, ...]:
    """Return all cells, first key slowest, NULL last; ``((),)`` without keys."""
    return tuple(product(*(key.values for key in keys)))


def stored_value(value: Scalar | None, facts: Facts) -> Scalar | None:
    """Return a cell's value as an engine returns it: decimals as scaled integers."""
    if value is None or facts.type is not ColumnType.DECIMAL:
        return value
    return grid_value(value, facts.scale)
