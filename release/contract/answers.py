"""What an answer from a release holds, of whatever kind the release is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from privacy.errors import SqlNotAllowedError
from query_lang.plans.compiled import OutputColumn, QueryWarning
from query_lang.showing.presentation import Value
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse
from query_lang.syntax.rules import Rule

Ends = tuple[str, str]
"""An interval's lower and upper end, as they are written in an answer."""

ONE_RELEASE: Final = Rule(
    "one_release",
    "a question to a release reads the release alone, once",
    "write SELECT ... FROM the release's name, without JOIN, subquery or WITH",
)
CHOSEN: Final = (
    QueryWarning(
        "rows_chosen",
        "these rows were chosen by their estimates, and those that noise raised are "
        "chosen first: their intervals are wider, so that of the rows shown as few are "
        "wrong as of all",
    ),
)
"""The warning of rows that noise chose."""


def no_totals(position: Position) -> SqlNotAllowedError:
    """Return the refusal of ROLLUP and the like: questions to releases are free."""
    detail = "a release answers one grouping at a time"
    hint = "ask for each grouping set in a question of its own: each is free"
    return refuse(rules.GROUPING_SETS, position, detail=detail, hint=hint)


@dataclass(frozen=True, slots=True)
class ColumnIntervals:
    """One measure's intervals, a pair of texts a row; None where the value is NULL."""

    column: str
    rows: tuple[Ends | None, ...]


@dataclass(frozen=True, slots=True)
class ReleaseAnswer:
    """Rows, and how far each measure may be from what the custodian's data says.

    ``undecided`` says of counts of sequences how many more there may be, a text a row.
    """

    columns: tuple[OutputColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    intervals: tuple[ColumnIntervals, ...]
    half_widths: Mapping[str, tuple[str, ...]]
    confidence: str
    derivation: str
    warnings: tuple[QueryWarning, ...]
    undecided: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
