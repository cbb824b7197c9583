"""What a text finds, held against plain SQL over the same rows, and less a patient."""

from decimal import Decimal

import duckdb

from privacy.errors import QueryError
from tests.semantics.engine import exact_vectors
from tests.semantics.typed.plain_sql import ours, plain


class DifferenceError(AssertionError):
    """A text finds something else than plain SQL does."""


def require(holds, said):
    """Raise a difference where something does not hold."""
    if not holds:
        raise DifferenceError(said)


def outcome(connection, sql):
    """Return how a text fares, the rule that refuses it or 'answered'.

    Raises:
        DifferenceError: It is answered otherwise than plain SQL answers it.
    """
    try:
        compiled, mine = ours(connection, sql)
    except QueryError as error:
        return error.rule
    try:
        theirs = plain(connection, sql)
    except duckdb.BinderException as error:
        require("Ambiguous" not in str(error), f"no SQL: {error}")
        return "no plain SQL"
    compare(compiled.columns, mine, theirs)
    check_neighbours(connection, compiled)
    return "answered"


def compare(columns, mine, theirs):
    """Hold rows against rows: keys once each, numbers alike, others of nothing."""
    found, wanted = _by_keys(columns, mine), _by_keys(columns, theirs)
    for keys, numbers in wanted.items():
        own = found.get(keys, [None] * len(numbers))
        require(all(map(_alike, own, numbers)), f"{keys}: {own}, not {numbers}")
    for keys in found.keys() - wanted.keys():
        require(not any(found[keys]), f"{keys}: {found[keys]}, in no plain SQL")


def _by_keys(columns, rows):
    kinds = [column.kind == "group" for column in columns]
    found = {}
    for row in rows:
        keys = tuple(_key(v) for v, own in zip(row, kinds, strict=True) if own)
        numbers = [
            None if v is None else Decimal(str(v))
            for v, own in zip(row, kinds, strict=True)
            if not own
        ]
        require(keys not in found, f"two rows of {keys}")
        found[keys] = numbers
    return found


def _key(value):
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float | Decimal):
        return str(Decimal(str(value)).normalize() + 0)
    return str(value)


def _alike(one, other):
    """Whether two numbers are one; nothing and zero are both what no row has."""
    return abs((one or 0) - (other or 0)) <= Decimal("0.002")


def check_neighbours(connection, compiled, units=2, private=None):
    """Hold the vectors without a patient against the sensitivity (ADD_REMOVE_UNIT).

    Args:
        connection: Of the stored tables.
        compiled: What was asked.
        units: So many patients, those of most rows.
        private: The tables that have rows of theirs, the first of which tells whose
            rows are most; None: encounters, and all that is read.
    """
    whole = exact_vectors(connection, compiled.rendered)
    first, *others = private or ("encounters", *compiled.rendered.tables)
    counted = (
        f'SELECT unit_key FROM "{first}" GROUP BY 1 ORDER BY COUNT(*) DESC, 1 LIMIT ?'
    )
    for (unit,) in connection.execute(counted, [units]).fetchall():
        connection.execute("BEGIN")
        for table in {first, *others} & {*compiled.rendered.tables}:
            connection.execute(f'DELETE FROM "{table}" WHERE unit_key = ?', [unit])
        left = exact_vectors(connection, compiled.rendered)
        connection.execute("ROLLBACK")
        for one, other, measure in zip(whole, left, compiled.measures, strict=True):
            moved = [abs(a - b) for a, b in zip(one, other, strict=True)]
            bound = measure.sensitivity
            within = sum(moved) <= bound.l1 and max(moved) <= bound.linf
            within = within and sum(m * m for m in moved) <= bound.l2_squared
            require(within, f"moved by {sum(moved)}, more than {bound}")
