"""What expressions of the language are on the public values of a cube's dimensions.

DuckDB evaluates them, from the SQL that an engine would run over rows: nothing here
says again what an operator means. The database holds public values alone.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from math import prod
from threading import Lock
from typing import Final, cast

import duckdb
import numpy as np
from numpy.typing import NDArray

from privacy.schema import Scalar
from query_lang.plans.domains import stored_value
from query_lang.plans.expressions import (
    TRUTH,
    Call,
    Expression,
    Facts,
    FieldRef,
    Function,
    slots_read,
)
from query_lang.rendering.duckdb.public_values import (
    render_public_values,
    sql_type,
    value_column,
)
from query_lang.rendering.fragments import Fragment
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.binding.question import AxisSlot, CubeQuestion
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.engine import PublicEngine
from release.cubes.questions.evaluating.lookups import Lookups, TruthArray
from release.cubes.questions.evaluating.steps import (
    FOUND_STEPS,
    LOOKED_UP_STEPS,
    TRUTH_STEPS,
    VALUE_STEPS,
    evaluation_steps,
    pairs_steps,
)

BoolArray = NDArray[np.bool_]
Values = Sequence[Scalar | None]
_FEW: Final = 4_096
_STATEMENTS: Final = 128
_VALUE_BYTES: Final = 64


class PublicValues:
    """Evaluates expressions over the dimensions of one cube; safe for many threads.

    Attributes:
        shape: Of the cube.
        lock: Held while the engine evaluates; others wait, however long it takes.
    """

    def __init__(self, cube: PublishedCube, engine: PublicEngine | None = None) -> None:
        self._cube = cube
        self.shape = cube.domain.shape
        self.lock = Lock()
        self._tables: dict[str, str] = {}
        self._statements: dict[str, duckdb.Statement] = {}
        self._stored: dict[str, Values] = {}
        self._engine = engine or PublicEngine()
        self._cursor = self._engine.cursor()

    def close(self) -> None:
        """Forget the public values."""
        self._cursor.close()

    def axes_of(
        self, expressions: Iterable[Expression], question: CubeQuestion
    ) -> tuple[int, ...]:
        """Return the dimensions that expressions read, in order."""
        slots = chain.from_iterable(map(slots_read, expressions))
        return tuple(sorted({question.slots[slot].axis for slot in slots}))

    def truths(
        self, condition: Expression, question: CubeQuestion, effort: Effort
    ) -> TruthArray:
        """Return what a condition is on each combination of what it reads.

        Returns:
            An array over the dimensions that it reads (``axes_of``) alone.

        Raises:
            SqlNotAllowedError: There are too many combinations, or it takes too many
                steps.
        """
        axes, size = self._ranged(condition, question, effort)
        if len(axes) == 1:
            found = self._lookups(question, effort).truths(condition)
            if found is not None:
                return found
        effort.spend(size * TRUTH_STEPS)
        self._count(condition, size, question, effort)
        query = self._query(condition, axes, question)
        own = (self, "truths")  # what is kept of the same text as values is no signs
        known = self._engine.kept.get((own, query))
        if known is not None:
            return cast("TruthArray", known)
        holds = self._signs(query, size)
        holds = holds.reshape([self.shape[axis] for axis in axes])
        holds.setflags(write=False)
        self._engine.kept.put((own, query), holds, holds.nbytes + _bytes(query))
        return holds

    def values(
        self, expression: Expression, question: CubeQuestion, effort: Effort
    ) -> Values:
        """Return an expression's value for each combination of what it reads.

        Returns:
            Values in C order over ``axes_of``, decimals as stored steps.

        Raises:
            SqlNotAllowedError: There are too many combinations, or it takes too many
                steps.
        """
        if isinstance(expression, FieldRef):
            own = question.slots[expression.slot]
            self._count_table(own, effort)
            return self._own(own)
        axes, size = self._ranged(expression, question, effort)
        if len(axes) == 1:
            numbers = self._lookups(question, effort).numbers(expression)
            if numbers is not None:
                return numbers
        effort.spend(size * FOUND_STEPS)
        self._count(expression, size, question, effort)
        query = self._query(expression, axes, question)
        known = self._engine.kept.get((self, query))
        if known is not None:
            return cast("Values", known)
        values: list[Scalar | None] = [None] * size
        for place, value in self._rows(query):
            values[place] = value
        weight = size * _VALUE_BYTES + _bytes(query)
        self._engine.kept.put((self, query), values, weight)
        return values

    def _ranged(
        self, expression: Expression, question: CubeQuestion, effort: Effort
    ) -> tuple[tuple[int, ...], int]:
        """Return what an expression ranges over, and how often; refuse too much."""
        axes = self.axes_of((expression,), question)
        size = prod(self.shape[axis] for axis in axes)
        effort.check_evaluated(size, axes=len(axes))
        return axes, size

    def _count(
        self,
        expression: Expression,
        size: int,
        question: CubeQuestion,
        effort: Effort,
    ) -> None:
        """Count what evaluating takes, whether or not it was evaluated before."""
        for slot in slots_read(expression):
            self._count_table(question.slots[slot], effort)
        effort.spend(
            evaluation_steps(expression, size, question.slots, self._cube.hierarchies)
        )

    def _count_table(self, own: AxisSlot, effort: Effort) -> None:
        effort.spend_once((self, own.name), VALUE_STEPS * len(own.values))

    def _lookups(self, question: CubeQuestion, effort: Effort) -> Lookups:
        return Lookups(
            question, lambda function, own: self._compared(function, own, effort)
        )

    def _compared(
        self, function: Function, own: AxisSlot, effort: Effort
    ) -> TruthArray:
        """Return which values of a slot compare so with each of them, by constant."""
        key = (self, f"{own.name} {function}")
        self._count_table(own, effort)
        effort.spend_once(key, pairs_steps(own))
        effort.spend(LOOKED_UP_STEPS)
        known = self._engine.kept.get(key)
        if known is not None:
            return cast("TruthArray", known)
        with self.lock, self._engine.watched(self._cursor):
            table = self._table(own)
        count, facts = len(own.values), Facts(own.type, own.scale)
        source = Fragment(
            f"(SELECT b.place * {count} + a.place AS place, "  # noqa: S608 - our own names
            f"a.value AS {value_column(0)}, b.value AS {value_column(1)} "
            f"FROM {table} a, {table} b)"
        )
        pair = Call(function, (FieldRef(0, facts), FieldRef(1, facts)), TRUTH)
        query = render_public_values(
            (pair,), source, slots_read(pair), kept=("place",), own={}
        )
        holds = self._signs(query, count**2).reshape(count, count)
        holds.setflags(write=False)
        self._engine.kept.put(key, holds, holds.nbytes + _bytes(query))
        return holds

    def _signs(self, query: Fragment, size: int) -> TruthArray:
        signs = np.zeros(size, dtype=np.int8)
        if size <= _FEW:  # columns take longer to begin with
            for place, truth in self._rows(query):
                if truth is not None:
                    signs[place] = 1 if truth else -1
            return signs
        found = self._columns(query)
        signs[found["place"].astype(np.int64)] = _signs(found["e0"])
        return signs

    def _rows(self, query: Fragment) -> list[tuple[int, Scalar | None]]:
        found = self._executed(query, "fetchall")
        return cast("list[tuple[int, Scalar | None]]", found)

    def _columns(self, query: Fragment) -> dict[str, NDArray[np.generic]]:
        found = self._executed(query, "fetchnumpy")
        return cast("dict[str, NDArray[np.generic]]", found)

    def _executed(self, query: Fragment, fetch: str) -> object:
        """Run a text; what came before is not parsed again."""
        with self.lock, self._engine.watched(self._cursor):
            statement = self._statement(query.sql)
            self._cursor.execute(statement, query.parameters)
            return getattr(self._cursor, fetch)()

    def _statement(self, sql: str) -> duckdb.Statement:
        if sql not in self._statements:
            if len(self._statements) >= _STATEMENTS:
                self._statements.clear()
            (self._statements[sql],) = self._cursor.extract_statements(sql)
        return self._statements[sql]

    def _query(
        self,
        expression: Expression,
        axes: tuple[int, ...],
        question: CubeQuestion,
    ) -> Fragment:
        read = slots_read(expression)
        with self.lock, self._engine.watched(self._cursor):
            source = self._product(axes, read, question)
        return render_public_values(
            (expression,),
            source,
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
            place = f"({place} * {self.shape[axis]} + t{slots[0]}.place)"
            shown += [f", t{slot}.value AS {value_column(slot)}" for slot in slots]
        source = f" FROM {', '.join(tables)}" if tables else ""
        return Fragment(f"(SELECT {place} AS place{''.join(shown)}{source})")

    def _table(self, own: AxisSlot) -> str:
        """Return the table of a slot's values; made when it is first read."""
        if own.name not in self._tables:
            name = f"v{len(self._tables)}"
            kind = sql_type(own.type)
            self._cursor.execute(
                f"CREATE TEMP TABLE {name} AS SELECT range AS place, "  # noqa: S608 - our own names
                f"CAST(? AS {kind}[])[range + 1] AS value FROM range(?)",
                [list(self._own(own)), len(own.values)],
            )
            self._tables[own.name] = name
        return self._tables[own.name]

    def _own(self, own: AxisSlot) -> Values:
        """Return a slot's own values as they are stored."""
        if own.name not in self._stored:
            facts = Facts(own.type, own.scale)
            self._stored[own.name] = tuple(
                stored_value(value, facts) for value in own.values
            )
        return self._stored[own.name]


def _bytes(query: Fragment) -> int:
    return len(query.sql) + _VALUE_BYTES * len(query.parameters)


def _signs(column: NDArray[np.generic]) -> TruthArray:
    """Return truths as signs; DuckDB masks NULL."""
    signs = np.where(np.ma.getdata(column), 1, -1).astype(np.int8)
    signs[np.ma.getmaskarray(column)] = 0
    return signs
