"""Refuses what costs too much, and says which public bound to lower."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from privacy.errors import SqlNotAllowedError
from privacy.schema import Dataset
from query_lang.costs.plans import StatementCosts
from query_lang.plans.costs import CostLimits, CostPart, PlanCost
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse

Costing = Callable[[Mapping[str, int]], StatementCosts]
"""Costs a plan where each unit keeps so many rows of some tables."""

Places = Callable[[str], Position]
"""Tells where a construct stands."""

_WORDS: Mapping[CostPart, str] = {
    "unit_steps": "the rows of one {unit} could add {cost} ms of work; at most "
    "{limit} ms may hang on one",
    "startup_steps": "what its first rows start up could take {cost} ms; at most "
    "{limit} ms may hang on them",
    "unit_memory_bytes": "the rows of one {unit} could add {cost} MB of memory; at "
    "most {limit} MB may hang on one",
    "steps": "at the declared sizes this could take {cost} ms; at most {limit} ms are "
    "allowed",
    "startup_memory_bytes": "what its first rows start up could hold {cost} MB; at "
    "most {limit} MB may hang on them",
    "memory_bytes": "at the declared sizes this could hold {cost} MB; at most {limit} "
    "MB are allowed",
}
_UNIT: Mapping[CostPart, int] = {
    "unit_steps": 10**6,
    "startup_steps": 10**6,
    "unit_memory_bytes": 2**20,
    "startup_memory_bytes": 2**20,
    "steps": 10**6,
    "memory_bytes": 2**20,
}


_KEEPING_ROWS = (
    "to keep every row: filter and roll up by the unit key (GROUP BY it) before "
    "joining, and where a table only decides which {unit}s count, use IN (SELECT unit "
    "key ...), or EXISTS tied by it, with what else ON says in its WHERE"
)
_OF_EACH_ROW: Final = frozenset({"computed columns", "WHERE"})
"""What is dear without a join."""

_COMPUTING_LESS = (
    "to keep every row: compute less for each. What stands several times is computed "
    "once in a derived table, FROM (SELECT patient_id, LOWER(note) AS n FROM {table}) "
    "AS t, and searched there, n LIKE '%pain%'; texts are searched as long as their "
    "declared max_length, so search LEFT(note, 200)"
)
_DROPPING_ROWS = (
    ". Or drop rows: number those that count (ROW_NUMBER() ... AS n, WHERE n <= 5)"
)


_OF_TABLES: Final = frozenset({"steps", "memory_bytes"})
"""What declared sizes of tables decide; the others are of one unit."""
_OF_DECLARED = (
    ". What counts is how large tables are declared: their custodian may declare a "
    "lower max_rows"
)


@dataclass(frozen=True, slots=True)
class CostCheck:
    """A limit, and what a plan that passes it is told.

    Attributes:
        limits: What a plan may cost.
        dataset: Whose tables have bounds that can be lowered.
    """

    limits: CostLimits
    dataset: Dataset

    def check(self, costing: Costing, places: Position | Places) -> PlanCost:
        """Return what a plan costs.

        Args:
            costing: Costs the plan.
            places: Where the question stands, or what it is made of.

        Raises:
            SqlNotAllowedError: Rule ``too_costly``.
        """
        costs = costing({})
        cost = costs.cost()
        passed = next(self.limits.passed(cost), None)
        if passed is not None:
            raise self._refusal(costs, passed, costing, places)
        return cost

    def _refusal(
        self,
        costs: StatementCosts,
        passed: CostPart,
        costing: Costing,
        places: Position | Places,
    ) -> SqlNotAllowedError:
        found, most = getattr(costs.cost(), passed), getattr(self.limits, passed)
        detail = _WORDS[passed].format(
            unit=self.dataset.unit,
            cost=_shown(found, _UNIT[passed]),
            limit=_shown(most, _UNIT[passed]),
        )
        dearest = costs.dearest(passed)
        return refuse(
            rules.TOO_COSTLY,
            places if isinstance(places, Position) else places(dearest),
            detail=f"{detail}; most of it: {dearest}",
            hint=self._hint(costs, costing, passed, dearest),
        )

    def _hint(
        self, costs: StatementCosts, costing: Costing, passed: CostPart, dearest: str
    ) -> str:
        lower = self._lower_bounds(costing, self._bounds(costs))
        is_plain = dearest in _OF_EACH_ROW and costs.reads_once()
        keeping = _KEEPING_ROWS.format(unit=self.dataset.unit)
        if is_plain:
            keeping = _COMPUTING_LESS.format(table=costs.scanned()[0])
        if lower:
            keeping += _DROPPING_ROWS
            tables = ", ".join(f'"{name}": {most}' for name, most in lower.items())
            bounds = f'{{"bounds": {{"tables": {{{tables}}}}}}}'
            declared = _OF_DECLARED if passed in _OF_TABLES else ""
            return f"{keeping}, or ask with the options {bounds}{declared}"
        if passed in _OF_TABLES:
            return (
                "read fewer tables or columns; or ask the custodian to declare the "
                "tables' max_rows, the texts' max_length and the population's max_units"
            )
        return keeping if is_plain else rules.TOO_COSTLY.hint

    def _lower_bounds(
        self, costing: Costing, bounds: Mapping[str, int]
    ) -> Mapping[str, int]:
        """Return the least change of the tables' bounds that makes the plan fit."""
        tried = [{name: most} for name, most in bounds.items()]
        if len(bounds) > 1:
            tried.append(dict(bounds))
        found = [lower for each in tried if (lower := self._lowered(costing, each))]
        return max(found, key=lambda each: _kept(each, bounds), default={})

    def _lowered(self, costing: Costing, bounds: Mapping[str, int]) -> dict[str, int]:
        most = self._most(costing, bounds)
        return {name: min(most, own) for name, own in bounds.items()} if most else {}

    def _bounds(self, costs: StatementCosts) -> dict[str, int]:
        """Return the row bounds above 1 of the private tables that are read."""
        tables = [self.dataset.tables[name] for name in costs.scanned()]
        declared = {table.name: table.max_rows_per_unit or 0 for table in tables}
        return {name: most for name, most in declared.items() if most > 1}

    def _most(self, costing: Costing, bounds: Mapping[str, int]) -> int:
        """Return the most rows, of 1, 2, 5, 10 ..., to which these can stay bounded."""
        steps = _ladder(max(bounds.values(), default=0))
        low, high = 0, len(steps)  # steps[:low] fit, steps[high:] do not
        while low < high:
            middle = (low + high) // 2
            tried = {name: min(steps[middle], own) for name, own in bounds.items()}
            if self.limits.allow(costing(tried).cost()):
                low = middle + 1
            else:
                high = middle
        return steps[low - 1] if low else 0


def check_showing(steps: int, limits: CostLimits, position: Position) -> None:
    """Refuse what takes the server too long to show.

    Raises:
        SqlNotAllowedError: Rule ``too_costly``.
    """
    if steps <= limits.showing_steps:
        return
    detail = (
        f"what is computed of the answer's numbers could take {_shown(steps, 10**6)} "
        f"ms to show; at most {_shown(limits.showing_steps, 10**6)} ms are allowed"
    )
    hint = (
        "group by fewer keys, select fewer computed columns, or select their numbers "
        "and compute from the answer"
    )
    raise refuse(rules.TOO_COSTLY, position, detail=detail, hint=hint)


def _kept(lower: Mapping[str, int], bounds: Mapping[str, int]) -> Fraction:
    """Return the share of rows that the most lowered table keeps."""
    return min(Fraction(most, bounds[name]) for name, most in lower.items())


def _ladder(most: int) -> list[int]:
    """Return 1, 2, 5, 10 ... below a number."""
    steps = [base * 10**power for power in range(len(str(most))) for base in (1, 2, 5)]
    return [step for step in steps if step < most]


def _shown(amount: int, unit: int) -> str:
    value = amount / unit
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"  # noqa: PLR2004 - three digits
