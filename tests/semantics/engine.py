"""The one place where the tests here meet the compiler: compile, load, run, compare.

Glue that follows ``query_lang.plans.compiled`` and the stored layout: a private table
has "unit_key" BIGINT, "row_hash" BIGINT, "row_rank" INTEGER, then its declared
columns but the unit column (decimals as scaled BIGINT); a public table has "_row"
BIGINT, its row number from 1, then its declared columns.
"""

from collections import Counter
from contextlib import contextmanager
from functools import partial
from itertools import combinations, permutations
from types import SimpleNamespace

import duckdb

from engines.duckdb.snapshots import BLIND, new_hash_key, set_hash_key
from privacy.errors import QueryError
from privacy.schema import ColumnType
from query_lang.plans.compiled import DependentShown, KeyShown
from tests.semantics import hospital
from tests.semantics.meaning.answers import prepare
from tests.semantics.meaning.evaluator import NotAnswerableError
from tests.semantics.meaning.values import to_grid
from tests.support.compiling import compile_query

STORED = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.DECIMAL: "BIGINT",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
}
PRIVATE_COLUMNS = (
    ("unit_key", "BIGINT"),
    ("row_hash", "BIGINT"),
    ("row_rank", "INTEGER"),
)
PUBLIC_COLUMNS = (("_row", "BIGINT"),)


class DisagreementError(AssertionError):
    """Compiler and evaluator give different cells or exact vectors."""


_spare = []


@contextmanager
def connect():
    """Lend a database that holds the stored tables, empty.

    Making one takes twice as long as filling it: one that was lent is emptied and lent
    again, unless anything was raised in between.
    """
    connection = _spare.pop() if _spare else _made()
    yield connection
    load(connection, dict.fromkeys(hospital.DATASET.tables, ()))
    _spare.append(connection)


def _made():
    connection = duckdb.connect(":memory:", config={"threads": 1, **BLIND})
    set_hash_key(connection, new_hash_key())
    for table in hospital.DATASET.tables.values():
        columns = ", ".join(f'"{name}" {kind}' for name, kind in stored_columns(table))
        connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
    return connection


def stored_columns(table):
    first = PUBLIC_COLUMNS if table.is_public else PRIVATE_COLUMNS
    declared = ((column.name, STORED[column.type]) for column in declared_of(table))
    return [*first, *declared]


def declared_of(table):
    return [column for column in table.columns if column.name != table.unit_column]


def load(connection, tables):
    """Replace the rows of every table."""
    for name, rows in tables.items():
        table = hospital.DATASET.tables[name]
        connection.execute(f'DELETE FROM "{name}"')
        found = [
            stored_row(table, number, row) for number, row in enumerate(rows, start=1)
        ]
        if found:
            marks = ", ".join("?" for _ in found[0])
            places = ", ".join(f"({marks})" for _ in found)
            flat = [value for row in found for value in row]
            connection.execute(f'INSERT INTO "{name}" VALUES {places}', flat)


def stored_row(table, number, row):
    first = (
        (number,)
        if table.is_public
        else (row["unit"], row["row_hash"], row["row_rank"])
    )
    return (
        *first,
        *(stored(column, row[column.name]) for column in declared_of(table)),
    )


def stored(column, value):
    if value is None or column.type is not ColumnType.DECIMAL:
        return value
    return to_grid(value, column.scale)


def compiled_of(question):
    """Return the compiled query, or None where the compiler refuses the text."""
    try:
        return compile_query(question.sql, hospital.DATASET, question.bounds)
    except QueryError:
        return None


def exact_vectors(connection, plan):
    """Run a rendered plan's statements and lay their rows out (``Statement``)."""
    vectors = [None] * plan.vector_count
    for statement in plan.statements:
        filled = {place: [0] * len(statement.vectors) for place in statement.places}
        seen = set()
        width = len(statement.vectors)
        parameters = list(statement.parameters)
        for row in connection.execute(statement.sql, parameters).fetchall():
            place = tuple(row[: len(row) - width])
            assert place not in seen, "two rows fill one place"
            seen.add(place)
            if place in filled:
                filled[place] = [0 if v is None else v for v in row[len(place) :]]
        for column, vector in enumerate(statement.vectors):
            assert vectors[vector] is None, "two statements fill one vector"
            vectors[vector] = [filled[place][column] for place in statement.places]
    assert None not in vectors, "a vector that no statement fills"
    return vectors


def compare(connection, question, tables):
    """Compare compiler and evaluator on loaded tables.

    Returns:
        "equal", "refused" where the compiler refuses the text, or "unanswerable" where
        the evaluator does not know what follows from conditions further in.

    Raises:
        DisagreementError: Cells, or the exact vectors, differ.
    """
    compiled = compiled_of(question)
    if compiled is None:
        return "refused"
    try:
        prepared = prepare(question, tables)
    except NotAnswerableError:
        return "unanswerable"
    vectors = exact_vectors(connection, compiled.rendered)
    expected = expected_vectors(compiled, prepared, vectors)
    if len(vectors) != len(expected):
        message = f"vectors: {len(expected)} expected, not {len(vectors)}"
        raise DisagreementError(message)
    for number, (mine, theirs) in enumerate(zip(expected, vectors, strict=True)):
        if mine != theirs:
            message = f"vector {number}: {mine} expected, not {theirs}"
            raise DisagreementError(message)
    return "equal"


def expected_vectors(compiled, prepared, found_vectors=None):
    """Return the evaluator's vectors over the compiler's cells.

    The evaluator has a cell for each combination of all keys. Where the compiler says
    that a key follows from another, combinations in which it does not must be empty.
    Of ``NOT a`` and ``a`` either may follow: of such ways the one is taken that gives
    ``found_vectors``, if any does.

    Raises:
        DisagreementError: The cells differ, or a row lies where a key does not follow.
    """
    found = [tuple(cell) for cell in compiled.rendered.cells]
    vectors = prepared.exact_vectors()
    if found == prepared.cells:
        return vectors
    places = {cell: place for place, cell in enumerate(found)}
    wrong, ways = None, []
    for follows in _ways_to_follow(compiled, found, prepared.cells):
        try:
            made = [_gathered(v, prepared.cells, follows, places) for v in vectors]
        except DisagreementError as error:
            wrong = error
            continue
        if found_vectors in (None, made):
            return made
        ways.append(made)
    if ways:
        return ways[0]
    if wrong is not None:
        raise wrong
    message = f"cells: {prepared.cells[:9]} expected, not {found[:9]}"
    raise DisagreementError(message)


def _ways_to_follow(compiled, found, cells):
    """Yield functions of a cell of all keys: the compiler's cell, if it has one."""
    shown = [c.shown for c in compiled.columns]
    dependent = [s for s in dict.fromkeys(shown) if isinstance(s, DependentShown)]
    dependent += _repeated(shown, found)
    width, own = len(cells[0]), len(found[0])
    for kept in combinations(range(width), own):
        projected = dict.fromkeys(tuple(cell[at] for at in kept) for cell in cells)
        rest = [place for place in range(width) if place not in kept]
        if list(projected) != found or len(dependent) < len(rest):
            continue
        for chosen in permutations(dependent, len(rest)):
            yield partial(_followed, kept, dict(zip(rest, chosen, strict=True)))


def _repeated(shown, found):
    """Return how a key that is shown again, in other words, follows from itself."""
    times = Counter(s.index for s in shown if isinstance(s, KeyShown))
    return [
        SimpleNamespace(index=key, pairs=[(cell[key], cell[key]) for cell in found])
        for key, number in times.items()
        for _ in range(number - 1)
    ]


def _followed(kept, follow, cell):
    own = tuple(cell[place] for place in kept)
    for place, shown in follow.items():
        if dict(shown.pairs)[own[shown.index]] != cell[place]:
            return None
    return own


def _gathered(vector, cells, follows, places):
    size = len(vector) // len(cells)
    made = [0] * (size * len(places))
    for number, cell in enumerate(cells):
        values = vector[number * size : (number + 1) * size]
        own = follows(cell)
        if own is not None:
            first = places[own] * size
            made[first : first + size] = values
        elif any(values):
            message = f"keys: rows lie in {cell}, where no key should follow so"
            raise DisagreementError(message)
    return made


def failure(question, tables):
    """Return the kind of failure of a question on its own database, None if it holds.

    Used while shrinking: what is refused, or outside the evaluator, holds.
    """
    with connect() as connection:
        load(connection, tables)
        try:
            compare(connection, question, tables)
        except DisagreementError as error:
            return str(error).split(":")[0].split()[0]
        except NotAnswerableError:
            return None
        except Exception as error:  # noqa: BLE001 - a crash is a failure of its own kind
            return type(error).__name__
    return None
