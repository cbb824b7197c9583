"""Rows of a plan's statements to vectors of integers, before they are sealed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import duckdb

from engines.duckdb.deadlines import Deadlines
from engines.duckdb.snapshots import Snapshots
from privacy.schema import Scalar
from privacy.sealed import SATURATION
from query_lang.plans.rendered import Cell, RenderedPlan, Statement

ROWS_AT_ONCE: Final = 10_000

Row = tuple[Scalar | None, ...]


def filled_vectors(
    snapshots: Snapshots, deadlines: Deadlines, asked: tuple[str, RenderedPlan, float]
) -> list[list[int]]:
    """Return the raw vectors of a plan, in order; whoever calls this seals them.

    One cursor of one read-only file, so all statements read the same rows.

    Args:
        snapshots: The open files.
        deadlines: What interrupts a statement that runs too long.
        asked: A snapshot's id, the plan, and the seconds that it may take.

    Raises:
        Exception: Anything that the database raises; it may quote a value.
    """
    snapshot, plan, seconds = asked
    filled: dict[int, list[int]] = {}
    lent = snapshots.cursor(snapshot, timeout_seconds=seconds)
    with lent as cursor, deadlines.within(cursor, seconds) as watch:
        for statement in plan.statements:
            if watch.passed:
                raise TimeoutError
            fill(filled, statement, _rows(cursor, statement))
    return [filled[i] for i in range(plan.vector_count)]


def _rows(cursor: duckdb.DuckDBPyConnection, statement: Statement) -> Iterator[Row]:
    """Yield the rows of a statement; most of them may be strangers to its places."""
    cursor.execute(statement.sql, list(statement.parameters))
    while rows := cursor.fetchmany(ROWS_AT_ONCE):
        yield from rows


def fill(
    filled: dict[int, list[int]], statement: Statement, rows: Iterable[Row]
) -> None:
    """Lay rows out over places: none for 0, strangers and what is to be empty dropped.

    Raises:
        ValueError: Two rows fill one place, two places have one key, or two statements
            fill one vector; the rendering is at fault.
    """
    width = len(statement.vectors)
    if not width:
        raise ValueError
    places = Places(statement.places)
    if not filled.keys().isdisjoint(statement.vectors):
        raise ValueError
    vectors = [[0] * len(statement.places) for _ in range(width)]
    seen = bytearray(len(statement.places))
    empty = {*statement.empty}
    for row in rows:
        place = places.find(row[:-width])
        if place is None or place in empty:
            continue
        if seen[place]:
            raise ValueError
        seen[place] = 1
        for vector, value in zip(vectors, row[-width:], strict=True):
            vector[place] = _saturated(value)
    filled.update(zip(statement.vectors, vectors, strict=True))


class Places:
    """Where the keys of cells stand, found in steps that no text can make many.

    Python's hash of a whole number has no key: of 64-bit ones at most nine have the
    same, but of tuples of those as many as there are. So each value of a key is looked
    up by itself, and then the one number that their places make.

    Raises:
        ValueError: Two cells have one key.
    """

    def __init__(self, stored: Sequence[Cell]) -> None:
        self._codes: list[dict[Scalar | None, int]] = []
        numbers = [0] * len(stored)
        for column in zip(*stored, strict=True):
            codes: dict[Scalar | None, int] = {}
            found = [codes.setdefault(value, len(codes)) for value in column]
            size = len(codes)
            numbers = [n * size + code for n, code in zip(numbers, found, strict=True)]
            self._codes.append(codes)
        self._places = {number: place for place, number in enumerate(numbers)}
        if len(self._places) < len(stored):
            message = "two cells have one key"
            raise ValueError(message)

    def find(self, key: Cell) -> int | None:
        """Return the place of a row's key, or None where no cell has it."""
        number = 0
        for codes, value in zip(self._codes, key, strict=True):
            code = codes.get(value)
            if code is None:
                return None
            number = number * len(codes) + code
        return self._places.get(number)


def _saturated(value: Scalar | None) -> int:
    """Return an aggregate as it counts; the sum of nothing is 0."""
    if value is None:
        return 0
    if not isinstance(value, int):
        raise TypeError
    if -SATURATION <= value <= SATURATION:
        return value
    return SATURATION if value > 0 else -SATURATION
