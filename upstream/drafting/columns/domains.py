"""Which domain a column may have: a rung of a public ladder, or a published list."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import duckdb

from privacy.schema import ColumnType
from upstream.drafting.columns.code_guesses import code_guess
from upstream.drafting.columns.column_guesses import Guess
from upstream.drafting.columns.column_names import Drafted
from upstream.drafting.columns.vocabularies import sex_proposal, vocabulary_proposal
from upstream.drafting.rows import row_of
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.usual_forms import WHITE_SPACE
from upstream.manifests.proposals import (
    MOST_COUNTED,
    OLDEST,
    Proposal,
    age_proposal,
    date_proposal,
    is_age,
    is_identifier,
    may_count,
    moment_proposal,
    names_people,
    number_proposal,
)

_BLANKS = quoted(WHITE_SPACE)
_MANY = 20
"""One of so many beyond the oldest age is a slip, or 999 for unknown; more are none."""


@dataclass(frozen=True, slots=True)
class Domains:
    """Proposes domains for the columns of one table.

    Attributes:
        connection: That reads the rows.
        rows: The relation of them.
        guesses: Of columns that are read otherwise than as they are described.
    """

    connection: duckdb.DuckDBPyConnection
    rows: str
    guesses: Mapping[str, Guess]

    def of(self, column: Drafted) -> tuple[str | None, Proposal | None]:
        """Return what is said of a column's domain, and the proposal of one."""
        if column.kind is not ColumnType.TEXT:
            return None, self._proposal(column)
        guess = self.guesses.get(column.source)
        is_padded = guess is not None and guess.is_padded  # postcodes, not codes
        if is_padded or names_people(column.name) or is_identifier(column.name):
            return None, self._listed(column)  # P0001 is no code of ICD-10
        # as a load reads them: a draft declares trim where blanks stand at an end
        found = code_guess(self.connection, self.rows, column.source, column.name)
        return found.said, found.proposal or self._listed(column)

    def are_padded(self, column: Drafted) -> bool:
        """Whether blanks stand at the ends of some of a column's texts."""
        if column.kind is not ColumnType.TEXT:
            return False
        name = quoted_name(column.source)
        padded = f"bool_or({name} <> trim({name}, {_BLANKS}))"
        (found,) = row_of(self.connection, self.rows, [padded])
        return found is True

    def _proposal(self, column: Drafted) -> Proposal | None:
        guess = self.guesses.get(column.source)
        if guess is not None and guess.is_short:
            return None
        if is_identifier(column.name) and not self._counts(column):
            return None
        if self._is_age(column):
            return age_proposal()
        return self._sex(column) or self._ladder(*self._ends(column))

    def _counts(self, column: Drafted) -> bool:
        """Whether numbers count within a person, as of doses: few, and they recur."""
        if column.kind is not ColumnType.INTEGER or not may_count(column.name):
            return False
        name = quoted_name(column.source)
        ends = f"coalesce(min({name}) >= 0 AND max({name}) <= {MOST_COUNTED}, FALSE)"
        recur = f"2 * count(DISTINCT {name}) <= count({name})"
        return row_of(self.connection, self.rows, [ends, recur]) == (True, True)

    def _is_age(self, column: Drafted) -> bool:
        """Whether whole numbers are ages in years: nearly all are up to 120."""
        if column.kind is not ColumnType.INTEGER or not is_age(column.name):
            return False
        name = quoted_name(column.source)
        older = f"count(*) FILTER (WHERE {name} > {OLDEST})"
        beyond = f"{_MANY} * {older} > count({name})"
        return row_of(self.connection, self.rows, [beyond]) == (False,)

    def _sex(self, column: Drafted) -> Proposal | None:
        """Return the proposal of a public list for whole numbers that say a sex."""
        if column.kind is not ColumnType.INTEGER:
            return None
        return sex_proposal(column.name, self._values(column))

    def _ladder(self, low: object, high: object) -> Proposal | None:
        if isinstance(low, datetime) and isinstance(high, datetime):
            return moment_proposal(low.date(), high.date())
        if isinstance(low, date) and isinstance(high, date):
            return date_proposal(low, high)
        if isinstance(low, Decimal) and isinstance(high, Decimal):
            return number_proposal(int(low), int(high))
        return None

    def _ends(self, column: Drafted) -> tuple[object, ...]:
        """Return the ends of times, or of numbers in whole steps; else two Nones.

        Whole steps are those below: a rung above one lies beyond the number itself.
        """
        name = quoted_name(column.source)
        if column.kind in {ColumnType.DATE, ColumnType.TIMESTAMP}:
            return row_of(self.connection, self.rows, [f"min({name})", f"max({name})"])
        if column.kind in {ColumnType.INTEGER, ColumnType.DECIMAL}:
            whole = f"TRY_CAST(floor(CAST({name} AS DOUBLE)) AS DECIMAL(38, 0))"
            return row_of(
                self.connection, self.rows, [f"min({whole})", f"max({whole})"]
            )
        return None, None

    def _listed(self, column: Drafted) -> Proposal | None:
        """Return a public vocabulary that has all values of a column."""
        return vocabulary_proposal(column.name, self._values(column))

    def _values(self, column: Drafted) -> list[str]:
        """Return the values of a column as texts; none where they are many."""
        text = f"trim(CAST({quoted_name(column.source)} AS VARCHAR), {_BLANKS})"
        listed = f"list(DISTINCT {text}) FILTER ({text} <> '')[:20]"
        many = f"approx_count_distinct({text})"
        values, count = row_of(self.connection, self.rows, [listed, many])
        if not isinstance(values, list) or not isinstance(count, int) or count > 20:  # noqa: PLR2004 - longer than any
            return []
        return [str(value) for value in values]
