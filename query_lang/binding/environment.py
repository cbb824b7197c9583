"""What binding one query carries along."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from privacy.errors import SqlNotAllowedError
from privacy.schema import Dataset, ValuesDomain
from query_lang.binding.outside_domain import (
    LITERALS_OUTSIDE,
    MOST_LOOKED_FOR,
    MOST_TOLD,
)
from query_lang.binding.sizes import Sizes, Tries
from query_lang.hierarchies.sought_codes import SoughtCodes
from query_lang.plans.column_numbers import shape_of
from query_lang.plans.compiled import QueryWarning
from query_lang.plans.expressions import AverageRef, Expression, FieldRef
from query_lang.syntax import rules
from query_lang.syntax.nodes import CommonTable, Name, Position
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse
from query_lang.syntax.rules import Rule

MAX_RELATIONS = 32
MAX_EXISTS = 10
"""What an engine plans in well under a slot, whatever the tables hold."""
_APART = 10**9  # farther than the slots of any plan


@dataclass(slots=True)
class Environment:
    """The public schema, the request's bounds, and what binding notes on its way.

    Attributes:
        dataset: The public schema.
        table_bounds: Rows of a table that each unit keeps, before filters.
        common_tables: Those that may be named here, by name.
        warnings: What the analyst may not have meant.
        subqueries: Each expression that holds a subquery, by its shape.
        sizes: Of what was bound.
        tries: Of texts of lists on conditions.
        codes: What tells of texts beside columns of codes, by their hierarchy.
        patterns: Of texts of lists on patterns, to say that none matches.
        averages: How each exact average may be computed with, by the slot of its sum.
    """

    dataset: Dataset
    table_bounds: Mapping[str, int]
    common_tables: Mapping[str, CommonTable] = field(default_factory=dict)
    warnings: list[QueryWarning] = field(default_factory=list)
    bounded_tables: dict[str, int] = field(default_factory=dict)
    counted: Counter[str] = field(default_factory=Counter)
    subqueries: dict[Expression, Expression] = field(default_factory=dict)
    sizes: Sizes = field(default_factory=Sizes)
    tries: Tries = field(default_factory=Tries)
    codes: dict[str, SoughtCodes] = field(default_factory=dict)
    patterns: Tries = field(default_factory=Tries)
    averages: dict[int, str] = field(default_factory=dict)
    _slots: "count[int]" = field(default_factory=count)

    def new_slot(self) -> int:
        """Return a slot that no node has made yet."""
        return next(self._slots)

    def new_slots(self, many: int) -> int:
        """Return the first of ``many`` consecutive slots."""
        first = next(self._slots)
        for _ in range(many - 1):
            next(self._slots)
        return first

    def within(self, common_tables: Mapping[str, CommonTable]) -> "Environment":
        """Return this environment with other common tables in reach."""
        return Environment(
            self.dataset,
            self.table_bounds,
            common_tables,
            self.warnings,
            self.bounded_tables,
            self.counted,
            self.subqueries,
            self.sizes,
            self.tries,
            self.codes,
            self.patterns,
            self.averages,
            self._slots,
        )

    def apart(self) -> "Environment":
        """Return one that what is bound again, for its facts alone, leaves no trace in.

        Its slots are numbered apart: no plan has them.
        """
        return Environment(
            self.dataset,
            self.table_bounds,
            self.common_tables,
            bounded_tables=dict(self.bounded_tables),
            counted=self.counted.copy(),
            _slots=count(_APART),
        )

    def first_written(self, expression: Expression) -> Expression:
        """Return the first expression of this shape: written twice, it is one."""
        return self.subqueries.setdefault(shape_of(expression), expression)

    def count_relation(self, position: Position) -> None:
        """Count one table or derived table of the plan.

        Raises:
            SqlNotAllowedError: There are too many; common table expressions count as
                often as they are read.
        """
        self._count("relations", MAX_RELATIONS, rules.RELATION_COUNT, position)

    def count_exists(self, position: Position) -> None:
        """Count one EXISTS of the plan.

        Raises:
            SqlNotAllowedError: There are too many.
        """
        self._count("exists", MAX_EXISTS, rules.EXISTS_COUNT, position)

    def _count(self, what: str, most: int, rule: Rule, position: Position) -> None:
        self.counted[what] += 1
        if self.counted[what] > most:
            raise refuse(rule, position)

    def warn_of_other(self, tree: Tree, value: Expression) -> None:
        """Note where a text is looked into that stands for all that is not declared."""
        domain = value.facts.domain
        if not isinstance(tree, Name) or not isinstance(value, FieldRef):
            return
        if isinstance(domain, ValuesDomain) and domain.other:
            self.warn(
                "other_values",
                f"every value of {tree.name} that is not declared is 'other' here: "
                "LIKE, functions, DISTINCT, groups, windows and comparisons of columns "
                "see that word alone, so that different ones are alike; a "
                "COUNT(DISTINCT) of them is too low",
            )

    def average_refusal(
        self, average: AverageRef, position: Position
    ) -> SqlNotAllowedError:
        """Return the refusal of an exact average that is computed with."""
        quotient = self.averages.get(average.sum_slot)
        said = None if quotient is None else f"as a quotient to six places: {quotient}"
        return refuse(rules.AVERAGE_OPAQUE, position, hint=said)

    def warn_of_unit(self, unit: str, what: str) -> None:
        """Note that a declared key stands for the unit key too."""
        self.warn(
            "unit_key_added",
            f"{what} by {unit} too: a declared key is of one {self.dataset.unit}; "
            "where two share a value, each has its own",
        )

    def tells_outside(self) -> bool | None:
        """Count literals that no row holds; return whether a near value is sought.

        None where so many were told that these are counted alone.
        """
        self.counted[LITERALS_OUTSIDE] += 1
        if self.counted[LITERALS_OUTSIDE] > MOST_TOLD:
            return None
        return self.counted[LITERALS_OUTSIDE] <= MOST_LOOKED_FOR

    def warn(self, code: str, detail: str) -> None:
        """Note a warning once."""
        warning = QueryWarning(code, detail)
        if warning not in self.warnings:
            self.warnings.append(warning)


class Binder(Protocol):
    """What binds the operands of a form."""

    environment: Environment

    def value(self, tree: Tree) -> Expression:
        """Bind an operand as a value."""
        ...
