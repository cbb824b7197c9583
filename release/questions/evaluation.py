"""What expressions of the language are on the public values of a cube's dimensions.

DuckDB evaluates them, from the SQL that an engine would run over rows: nothing here
says again what an operator means. The database holds public values alone.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from math import prod
from threading import Lock
from typing import Final

import duckdb
import numpy as np
from numpy.typing import NDArray

from engines.snapshots import BLIND, LOCKED
from privacy.schema import Scalar
from query_lang.domains import stored_value
from query_lang.expressions import Expression, Facts, FieldRef, conjunction, slots_read
from query_lang.fragments import Fragment
from query_lang.public_values import render_public_values, sql_type, value_column
from release.questions.cube import PublishedCube
from release.questions.question import AxisSlot, CubeQuestion

BoolArray = NDArray[np.bool_]
Values = list[Scalar | None]
_FEW: Final = 4_096
_STATEMENTS: Final = 512


class PublicValues:
    """Evaluates expressions over the dimensions of one cube; safe for many threads."""

    def __init__(self, cube: PublishedCube) -> None:
        self._cube = cube
        self._shape = cube.domain.shape
        self._lock = Lock()
        self._tables: dict[str, str] = {}
        self._truths: dict[Fragment, BoolArray] = {}
        self._found: dict[Fragment, Values] = {}
        self._statements: dict[str, duckdb.Statement] = {}
        self._connection = duckdb.connect(
            ":memory:", config={**LOCKED, **BLIND, "threads": "1"}
        )
        self._connection.execute("PRAGMA disable_optimizer")  # the rows are few

    def close(self) -> None:
        """Forget the public values."""
        self._connection.close()

    def axes_of(
        self, expressions: Iterable[Expression], question: CubeQuestion
    ) -> tuple[int, ...]:
        """Return the dimensions that expressions read, in order."""
        slots = chain.from_iterable(map(slots_read, expressions))
        return tuple(sorted({question.slots[slot].axis for slot in slots}))

    def truths(
        self, conditions: Sequence[Expression], question: CubeQuestion
    ) -> tuple[tuple[int, ...], BoolArray]:
        """Return where all conditions are TRUE.

        Returns:
            The dimensions that they read, and an array over those alone.
        """
        axes = self.axes_of(conditions, question)
        sizes = tuple(self._shape[axis] for axis in axes)
        query = self._query((conjunction(tuple(conditions)),), axes, question)
        known = self._truths.get(query)
        if known is not None:
            return axes, known
        holds = np.zeros(prod(sizes), dtype=np.bool_)
        if len(holds) <= _FEW:
            holds[[place for place, truth in self._rows(query) if truth]] = True
        else:
            found = self._columns(query)
            holds[found["place"].astype(np.int64)] = _is_true(found["e0"])
        return axes, self._remember(query, holds.reshape(sizes))

    def _remember(self, query: Fragment, holds: BoolArray) -> BoolArray:
        """Keep what is small; the same condition is asked of again and again."""
        holds.setflags(write=False)
        if holds.size <= _FEW:
            with self._lock:
                if len(self._truths) >= _STATEMENTS:
                    self._truths.clear()
                self._truths[query] = holds
        return holds

    def values(
        self, expression: Expression, question: CubeQuestion
    ) -> tuple[tuple[int, ...], Values]:
        """Return an expression's value for each cell of the dimensions it reads.

        Returns:
            Those dimensions, and the values in C order, decimals as stored steps.
        """
        if isinstance(expression, FieldRef):
            own = question.slots[expression.slot]
            return (own.axis,), _stored(own)
        axes = self.axes_of((expression,), question)
        query = self._query((expression,), axes, question)
        known = self._found.get(query)
        if known is not None:
            return axes, known
        rows = self._rows(query)
        values: Values = [None] * len(rows)
        for place, value in rows:
            values[place] = value
        if len(values) <= _FEW:
            with self._lock:
                if len(self._found) >= _STATEMENTS:
                    self._found.clear()
                self._found[query] = values
        return axes, values

    def _rows(self, query: Fragment) -> list[tuple[int, Scalar | None]]:
        with self._lock:
            return self._executed(query).fetchall()

    def _columns(self, query: Fragment) -> dict[str, NDArray[np.generic]]:
        """Return many rows as columns: it takes longer to begin with."""
        with self._lock:
            found: dict[str, NDArray[np.generic]] = self._executed(query).fetchnumpy()
        return found

    def _executed(self, query: Fragment) -> duckdb.DuckDBPyConnection:
        """Run a text; one that came before is not parsed again."""
        if query.sql not in self._statements:
            if len(self._statements) >= _STATEMENTS:
                self._statements.clear()
            (statement,) = self._connection.extract_statements(query.sql)
            self._statements[query.sql] = statement
        return self._connection.execute(self._statements[query.sql], query.parameters)

    def _query(
        self,
        expressions: Sequence[Expression],
        axes: tuple[int, ...],
        question: CubeQuestion,
    ) -> Fragment:
        read = frozenset(chain.from_iterable(map(slots_read, expressions)))
        return render_public_values(
            expressions,
            self._product(axes, read, question),
            read,
            kept=("place",),
            own=self._cube.hierarchies,
        )

    def _product(
        self, axes: tuple[int, ...], read: frozenset[int], question: CubeQuestion
    ) -> Fragment:
        """Return all combinations of some dimensions' values, and where each lies."""
        place, shown, tables = "CAST(0 AS BIGINT)", [], []
        for axis in axes:
            slots = sorted(slot for slot in read if question.slots[slot].axis == axis)
            held = [f"{self._table(question.slots[slot])} t{slot}" for slot in slots]
            tables.append(
                "".join(held[:1] + [f" JOIN {t} USING (place)" for t in held[1:]])
            )
            place = f"({place} * {self._shape[axis]} + t{slots[0]}.place)"
            shown += [f", t{slot}.value AS {value_column(slot)}" for slot in slots]
        source = f" FROM {', '.join(tables)}" if tables else ""
        return Fragment(f"(SELECT {place} AS place{''.join(shown)}{source})")

    def _table(self, own: AxisSlot) -> str:
        """Return the table of a slot's values; made when it is first read."""
        with self._lock:
            if own.name not in self._tables:
                name = f"v{len(self._tables)}"
                kind = sql_type(own.type)
                self._connection.execute(
                    f"CREATE TABLE {name} AS SELECT range AS place, "  # noqa: S608 - our own names
                    f"CAST(? AS {kind}[])[range + 1] AS value FROM range(?)",
                    [_stored(own), len(own.values)],
                )
                self._tables[own.name] = name
            return self._tables[own.name]


def _stored(own: AxisSlot) -> Values:
    facts = Facts(own.type, own.scale)
    return [stored_value(value, facts) for value in own.values]


def _is_true(column: NDArray[np.generic]) -> BoolArray:
    """Return which truths are TRUE; DuckDB masks NULL."""
    return np.asarray(np.ma.filled(column, fill_value=False), dtype=np.bool_)
