"""Totals of ROLLUP and the like: which numbers add up, and what they cost in accuracy.

Proof: docs/proofs/grouping_sets.md.
"""

import math
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass

from privacy.errors import QueryError
from privacy.schema import ColumnType
from query_lang.binding.environment import Environment
from query_lang.binding.results.total_names import WordForTotals, word_for_totals
from query_lang.plans.compiled import (
    GroupingShown,
    KeyShown,
    NamedTotal,
    Shown,
    leaves,
)
from query_lang.plans.expressions import Facts
from query_lang.plans.nodes import (
    Aggregate,
    BoundContributions,
    CountDistinctMeasure,
    CountUnitsMeasure,
    Key,
)
from query_lang.plans.sensitivity import groups_over, reached_cells
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.nodes import (
    FunctionCall,
    Position,
)
from query_lang.syntax.refusals import refuse


@dataclass(frozen=True, slots=True)
class TotalsBinder:
    """Binds what stands beside totals: GROUPING of keys, and a word for totals.

    Attributes:
        sets: The grouping sets of the query, none where it has no totals.
        key: The key that an expression is; refuses what is none.
        facts: The type of all that is shown; what is found is added.
        warn: Told of what may be meant otherwise.
    """

    sets: Sequence[Sequence[int]]
    key: Callable[[Tree], Shown]
    facts: MutableMapping[Shown, Facts]
    warn: Callable[[str, str], None]

    def bind(self, tree: Tree) -> Shown | None:
        """Return what an expression means beside totals; None where nothing of its own.

        Raises:
            QueryError: GROUPING has no totals to tell apart, or is of what is no key.
        """
        if isinstance(tree, FunctionCall) and tree.name == "grouping":
            return self._grouping(tree)
        said = word_for_totals(tree) if self.sets else None
        return None if said is None else self._named(said)

    def _grouping(self, tree: FunctionCall) -> Shown:
        if not self.sets:
            detail = "GROUPING tells totals apart; there are none without ROLLUP"
            raise refuse(rules.GROUPING_SETS, tree.position, detail=detail)
        keys = [self.key(argument) for argument in tree.arguments]
        found = GroupingShown(tuple(k.index for k in keys if isinstance(k, KeyShown)))
        self.facts[found] = Facts(ColumnType.INTEGER, nullable=False)
        return found

    def _named(self, said: WordForTotals) -> Shown | None:
        """Return a key with a word for its totals, if it is a key that is a text."""
        try:
            shown, asked = self.key(said.key), self.key(said.asked)
        except QueryError:  # of no key: refused, or itself one
            return None
        kind = self.facts[shown].type
        is_text = kind is ColumnType.TEXT
        is_text = is_text or (said.is_cast and kind is ColumnType.INTEGER)
        if shown != asked or not isinstance(shown, KeyShown) or not is_text:
            return None
        if said.of_null and self.facts[shown].nullable:
            self.warn(
                "null_and_total",
                f"'{said.word}' stands for the group without a value, too, which has a "
                "row of its own: CASE WHEN GROUPING(...) = 1 THEN ... names totals",
            )
        found = NamedTotal(shown.index, said.word, said.of_null)
        self.facts[found] = Facts(ColumnType.TEXT)
        return found


def check_totals(
    plan: Aggregate, places: Sequence[Position], environment: Environment
) -> None:
    """Refuse totals of what does not add up, and tell how noisy the others are.

    Args:
        plan: Of an answer, perhaps with totals.
        places: Of its measures in the text.
        environment: Told of the noise.

    Raises:
        SqlNotAllowedError: Rule ``grouping_sets``: a total of COUNT(DISTINCT ...) is
            not the sum of its cells.
    """
    sets = plan.presentation.sets
    if not sets:
        return
    rolled = [
        key for n, key in enumerate(plan.keys) if any(n not in each for each in sets)
    ]
    for measure, place in zip(plan.measures, places, strict=True):
        is_distinct = isinstance(measure, CountDistinctMeasure)
        is_of_units = isinstance(measure, CountUnitsMeasure)
        if is_distinct or (is_of_units and not _is_in_one_cell(plan, rolled)):
            detail = (
                "COUNT(DISTINCT ...) of a total is not that of its cells added up: "
                f"rows of one {environment.dataset.unit} may lie in several"
            )
            named = ", ".join(key.name for key in plan.keys if key not in rolled)
            alone = f"GROUP BY {named}" if named else "without GROUP BY"
            hint = (
                "COUNT(*), SUM and AVG add up; ask for COUNT(DISTINCT ...) of each "
                f"grouping set in a question of its own, the smallest {alone}"
            )
            raise refuse(rules.GROUPING_SETS, place, detail=detail, hint=hint)
    _warn_of_nulls(plan, rolled, environment)
    most = max(
        reached_cells(key for n, key in enumerate(plan.keys) if n not in each)
        for each in sets
    )
    if most > 1:
        environment.warn(
            "totals_added_up",
            f"a total is its noisy cells added up, as many as {most:,} here, with "
            f"about {math.sqrt(most):.1f} times the noise of one: where totals matter "
            "more than cells, ask for them in a question of their own",
        )


def _warn_of_nulls(
    plan: Aggregate, rolled: Sequence[Key], environment: Environment
) -> None:
    """Note keys whose NULL stands for the group without a value and for totals."""
    told: set[int] = set()
    for shown in (leaf for column in plan.columns for leaf in leaves(column.shown)):
        if isinstance(shown, GroupingShown):
            told.update(shown.indexes)
        elif isinstance(shown, NamedTotal):
            told.add(shown.index)
    for n, key in enumerate(plan.keys):
        if key in rolled and None in key.reached and n not in told:
            environment.warn(
                "null_and_total",
                f"NULL of {key.name} is the group without a value, and a total, too: "
                f"GROUPING({key.name}), which is 1 of totals, tells them apart",
            )


def _is_in_one_cell(plan: Aggregate, rolled: Sequence[Key]) -> bool:
    """Whether rows of one unit are in one at most of the cells that a total adds up."""
    child = plan.child
    bounded = isinstance(child, BoundContributions) and child.max_groups == 1
    return bounded or groups_over(plan, rolled) == 1
