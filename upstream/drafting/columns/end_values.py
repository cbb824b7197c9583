"""Numbers at an end of a column that may stand for nothing: 9999, -1.

They would widen the domain that a draft proposes, and with it the noise of sums. A
column whose values reach them is no such column: 99 beside ages of 80 to 98.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.columns.column_guesses import Guess
from upstream.drafting.rows import LEAST_UNITS, units_sql
from upstream.files.reading_sql import quoted, quoted_name
from upstream.manifests.proposals import rung_above

_MARK = re.compile(r"-(?:1|9{1,8})|9{2,8}|99991231")
_MOST = 3  # such values at one end
_ASKED = (
    "far from all other values: does it stand for nothing? Then take TODO away, else "
    "take it out of null_values (and see that the domain has it)"
)


@dataclass(frozen=True, slots=True)
class EndValues:
    """Looks for numbers that stand for nothing.

    Attributes:
        connection: That reads the rows.
        rows: The relation of them, with types.
        texts: The same, each value as the files write it.
        unit: The column that says whose a row is, if one does.
        is_typed: Whether the file has numbers, which a load writes out itself.
    """

    connection: duckdb.DuckDBPyConnection
    rows: str
    texts: str
    unit: str | None
    is_typed: bool

    def set_aside(
        self, name: str, kind: ColumnType, guess: Guess | None
    ) -> Guess | None:
        """Return a column's guess without such numbers, which it asks about.

        Args:
            name: The column.
            kind: Its type.
            guess: What it seems to hold, if that is not what it is described as.

        Returns:
            None: It has no such numbers.
        """
        found = [*self._at_end(name, 1), *self._at_end(name, -1)]
        words = self._written(name, found)
        if not words:
            return None
        plain = guess or Guess(kind, quoted_name(name))
        listed = ", ".join(map(str, found))
        value = f"CASE WHEN ({plain.value}) NOT IN ({listed}) THEN {plain.value} END"
        said = f"{', '.join(words)}: {_ASKED}"
        asked = said if plain.question is None else f"{plain.question}; {said}"
        return replace(plain, value=value, words=(*plain.words, *words), question=asked)

    def _at_end(self, name: str, sign: int) -> list[int]:
        """Return the marks beyond the rung of all values before them."""
        column = quoted_name(name)
        number, units = f"CAST({column} AS DOUBLE)", units_sql(self.unit)
        order = "DESC" if sign > 0 else "ASC"
        rows = self.connection.execute(
            f"SELECT {number}, {units} FROM {self.rows} WHERE isfinite({number}) "  # noqa: S608 - quoted names
            f"GROUP BY 1 ORDER BY 1 {order} LIMIT {_MOST + 1}"
        ).fetchall()
        found = []
        for (value, count), (before, _) in pairwise(rows):
            rung = rung_above(int(sign * before)) if sign * before >= 0 else 0
            is_mark = _MARK.fullmatch(f"{value:.0f}") and value == int(value)
            if not is_mark or count < LEAST_UNITS or sign * value <= rung:
                break
            found.append(int(value))
        return found

    def _written(self, name: str, values: Sequence[int]) -> tuple[str, ...]:
        """Return how the files write numbers."""
        if not values or self.is_typed:
            return tuple(map(str, values))
        column = quoted_name(name)
        plain = f"regexp_replace(trim({column}), '[.,]0*$', '')"
        listed = ", ".join(quoted(str(value)) for value in values)
        rows = self.connection.execute(
            f"SELECT DISTINCT {column} FROM {self.texts} WHERE {plain} IN ({listed}) "  # noqa: S608 - quoted names
            f"ORDER BY 1 LIMIT {2 * _MOST}"
        ).fetchall()
        return tuple(str(text) for (text,) in rows)
