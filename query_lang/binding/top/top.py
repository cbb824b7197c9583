"""The top of a query: what binds its columns, HAVING and ORDER BY."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from math import prod

from privacy.errors import QueryError
from privacy.schema import Scalar
from query_lang.binding.bounds import Bounds
from query_lang.binding.expressions import UNNAMED, ExpressionBinder
from query_lang.binding.having import HavingBinder
from query_lang.binding.names import output_names
from query_lang.binding.queries import item_at
from query_lang.binding.results.answer_windows import (
    MAX_WINDOW_ROWS,
    AnswerWindowBinder,
)
from query_lang.binding.results.computed import ComputedBinder, is_computed
from query_lang.binding.results.dependent_keys import Beside, Trying
from query_lang.binding.results.reachable_cells import reachable_cells
from query_lang.binding.results.totals import TotalsBinder
from query_lang.binding.scalars.narrowing import Conditions
from query_lang.binding.top.keys import KeyBinder
from query_lang.binding.top.long_form import LongForm
from query_lang.binding.top.measures import MeasureBinder
from query_lang.binding.top.slots import Slots
from query_lang.plans.compiled import (
    DependentShown,
    KeyShown,
    NamedTotal,
    NoisyCondition,
    OrderTerm,
    Presentation,
    Shown,
    WindowShown,
    row_count,
    windows_in,
)
from query_lang.plans.expressions import AverageRef, Call, Constant, Facts
from query_lang.plans.literals import LITERALS
from query_lang.plans.nodes import Item, Key, MeasureKind, Node, PlanColumn, SumMeasure
from query_lang.rewriting.trees import has_window
from query_lang.showing.chosen_rows import is_chosen_by_noise
from query_lang.syntax import rules
from query_lang.syntax.logic import All
from query_lang.syntax.nodes import (
    AggregateCall,
    CountRows,
    Name,
    NumberLiteral,
    Position,
    Select,
    SelectItem,
    WindowCall,
)
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

_EMPTY_GROUPS = (
    "AVG and MIN of groups are over every group that there can be: one without rows is "
    "0 here (and noise), and no group in SQL"
)
_EMPTY_CELLS = (
    "cells in which WHERE can leave no row come back, with noise alone; LIMIT, also of "
    "a large number, leaves them out"
)
_EMPTY_ROWS = (
    "windows step over every group that there can be: one without rows is a row of 0 "
    "here (and noise), and none in SQL, so moving averages and LAG meet it"
)
_NO_KEYS = frozenset(
    rule.name
    for rule in (rules.NOT_GROUPED, rules.UNIT_KEY_OPAQUE, rules.AMBIGUOUS_NAME)
)
"""Why a column cannot be what rows are ordered by."""

_STEPPING = frozenset({"avg", "min", "lag", "lead", "first_value", "last_value"})
_UNMATCHED = (
    "rows in the text are groups in SQL where WHERE keeps them, also without a match; "
    "LIMIT, QUALIFY and windows leave out those in which ON can leave no row: list "
    "fewer rows instead of WHERE"
)


@dataclass(frozen=True, slots=True)
class Top:
    """What the top of a plan needs.

    Attributes:
        items: Keys and arguments to compute below the measures.
        keys: In the order of GROUP BY.
        key_positions: Where GROUP BY names each.
        measures: The distinct vectors.
        columns: In the order of SELECT.
        presentation: HAVING, ORDER BY, LIMIT.
        measure_positions: Where the text first asks for each vector.
    """

    items: tuple[Item, ...]
    keys: tuple[Key, ...]
    key_positions: tuple[Position, ...]
    measures: tuple[MeasureKind, ...]
    columns: tuple[PlanColumn, ...]
    presentation: Presentation
    measure_positions: tuple[Position, ...] = ()


_OVER_ALL = (
    "the rows of all groups, beside each of them: SELECT ward, COUNT(*), SUM(COUNT(*)) "
    "OVER () ... GROUP BY ward; COUNT(*) OVER () would count the groups, which are "
    "declared"
)


def _is_over_all(tree: object) -> bool:
    """Whether a window is all rows: ``COUNT(*) OVER ()``."""
    return isinstance(tree, WindowCall) and not (tree.partition_by or tree.order_by)


class TopBinder:
    """Binds the SELECT at the top over the rows of its FROM and WHERE.

    Args:
        rows: Binds expressions over them.
        tree: The SELECT.
        node: What makes the rows.
        conditions: That hold for every row.
        beside: What is known of the rows.
    """

    def __init__(
        self,
        rows: ExpressionBinder,
        tree: Select,
        node: Node,
        conditions: Conditions,
        beside: Beside,
    ) -> None:
        self.rows = rows
        self.tree = tree
        self.facts: dict[Shown, Facts] = {}
        self.names: dict[str, Shown] = {}
        self.in_having = False
        self.ordered: set[str] = set()  # keys whose order was looked at
        self.has_windows = has_window((tree.items, tree.order_by))
        slots = Slots(rows.environment)
        trying = Trying(count=rows.environment.sizes.add_tried)
        self.grouping = KeyBinder(
            rows, tree, slots, self.facts, conditions, beside, trying
        )
        self.measuring = MeasureBinder(
            rows,
            tree,
            node.owner,
            node.rows_per_unit,
            slots,
            self.facts,
            Bounds(conditions),
            LongForm(node),
            self._computed_binder,
        )

    def bind(self) -> Top:
        """Return keys, measures, columns and what is done to noisy values.

        Raises:
            QueryError: A key, output or condition breaks a rule of the language.
        """
        tree = self.tree
        if tree.distinct:
            raise refuse(rules.DISTINCT, tree.position)
        self.grouping.bind()
        self._check_items()
        names = output_names(tree.items)
        columns = [
            self._column(name, item)
            for name, item in zip(names, tree.items, strict=True)
        ]
        if not self.measuring.measures:
            hint = f"add COUNT(*) or COUNT(DISTINCT {self.rows.scope.unit_name()})"
            raise refuse(rules.AGGREGATE_NEEDED, tree.position, hint=hint)
        if not tree.hides_keys:
            self.grouping.check_all_selected(columns)
        self._warn_of_empty_cells(columns)
        presentation = Presentation(
            self._having(),
            tuple(self._order_terms()),
            tree.limit,
            None if tree.kept is None else self._having_binder().bind(tree.kept),
            self.grouping.sets,
        )
        return Top(
            items=tuple(self.grouping.slots.computed()),
            keys=tuple(self.grouping.named(columns)),
            key_positions=tuple(self.grouping.places),
            measures=tuple(self.measuring.measures),
            columns=tuple(columns),
            presentation=presentation,
            measure_positions=tuple(self.measuring.places),
        )

    def _warn_of_empty_cells(self, columns: Sequence[PlanColumn]) -> None:
        """Say where cells come back that WHERE leaves empty, or count as groups."""
        windows = [each for c in columns for each in windows_in(c.shown)]
        if self.tree.hides_keys and self._reads_empty_groups(windows):
            self.rows.environment.warn("empty_cells", _EMPTY_GROUPS)
        elif _step_over_groups(windows) and not self._is_whole():
            self.rows.environment.warn("empty_cells", _EMPTY_ROWS)
        narrower = {
            index
            for index, key in enumerate(self.grouping.keys.values())
            if key.reached != key.values
        }
        if narrower - self._staying() and not self._chooses_rows():
            self.rows.environment.warn("empty_cells", _EMPTY_CELLS)
        is_unsure = bool(self.tree.unmatched) and not self._staying()
        if narrower and is_unsure and self._chooses_rows():
            self.rows.environment.warn("empty_cells", _UNMATCHED)

    def _staying(self) -> AbstractSet[int]:
        """Return the keys, by number, that have all their values in SQL, too.

        A row in the text is a group there, whether or not ON leaves a row that it
        meets; which of them WHERE keeps is not told from what ON leaves.
        """
        return frozenset() if self.tree.is_thinned else self.grouping.staying

    def _reads_empty_groups(self, windows: Sequence[WindowShown]) -> bool:
        """Whether a group without rows, whose numbers are 0, changes what is shown."""
        sums = [
            kind for kind in self.measuring.measures if isinstance(kind, SumMeasure)
        ]
        telling = {"avg", "min"} | (
            {"max"} if any(s.lower < 0 for s in sums) else set()
        )
        return any(window.name in telling for window in windows)

    def _is_whole(self) -> bool:
        """Whether each group is one in SQL, too: rows in the text are."""
        return set(range(len(self.grouping.keys))) <= self._staying()

    def _having(self) -> NoisyCondition | None:
        """Return HAVING; with LIMIT, QUALIFY or windows, of the rows WHERE leaves."""
        said = self.tree.having
        found = [] if said is None else [self._condition(said)]
        if self._chooses_rows():
            found += reachable_cells(
                self.grouping.keys.values(),
                with_totals=bool(self.grouping.sets),
                staying=self._staying(),
            )
        return All(tuple(found)) if len(found) > 1 else next(iter(found), None)

    def _chooses_rows(self) -> bool:
        """Whether one row's presence changes another, or which rows are shown."""
        chosen = self.tree.limit is not None or self.tree.kept is not None
        return chosen or self.has_windows

    def _check_items(self) -> None:
        for item in self.tree.items:
            if isinstance(item.expression, LITERALS):
                raise refuse(rules.LITERAL_SELECTED, item.position)
            windowed = isinstance(item.expression, WindowCall)
            if windowed and not is_computed(item.expression):
                hint = _OVER_ALL if _is_over_all(item.expression) else None
                raise refuse(rules.WINDOW_PLACE, item.position, hint=hint)

    def _column(self, name: str, item: SelectItem) -> PlanColumn:
        tree = item.expression
        if isinstance(tree, AggregateCall | CountRows):
            shown = self._aggregate(tree)
            function: str = "count" if isinstance(tree, CountRows) else tree.name
        elif is_computed(tree):
            shown, function = self._computed(tree), "computed"
        else:
            shown = self._of_totals(tree) or self._selected(tree, item.alias)
            function = ""
        if item.alias is not None or not isinstance(shown, KeyShown):
            self.names.setdefault(name, shown)
        return PlanColumn(name, shown, self.facts[shown], function)

    def _aggregate(self, tree: AggregateCall | CountRows) -> Shown:
        """Return what shows an aggregate; of a value that its group tells, that value.

        As the population of a region, of which any row of the region tells it.
        """
        told = None
        if isinstance(tree, AggregateCall) and self.grouping.beside.lookups:
            told = self._told_by_group(tree)
        return self.measuring.measure(tree) if told is None else told

    def _told_by_group(self, tree: AggregateCall) -> Shown | None:
        if tree.name not in {"min", "max", "avg"} or tree.order_by or tree.distinct:
            return None
        (value,) = tree.arguments
        return self.grouping.looked_up(value, is_average=tree.name == "avg")

    def _selected(self, tree: Tree, alias: str | None = None) -> Shown:
        """Return the key that an item is, or a column that a listed table has of it."""
        looked_up = self.grouping.looked_up(tree)
        return self.grouping.key(tree, alias) if looked_up is None else looked_up

    def _of_totals(self, tree: Tree) -> Shown | None:
        """Return what stands beside totals alone: GROUPING, and their names."""
        if self.grouping.sets and self.grouping.is_key(tree):
            return None
        warn = self.rows.environment.warn
        return TotalsBinder(
            self.grouping.sets, self.grouping.key, self.facts, warn
        ).bind(tree)

    def _computed(self, tree: Tree) -> Shown:
        return self._computed_binder().bind(tree)

    def _computed_binder(self) -> ComputedBinder:
        warn = self.rows.environment.warn
        return ComputedBinder(
            self._shown, self.facts, self.measuring.least, warn, self._window
        )

    def _window(self, tree: WindowCall) -> Shown:
        operand = self._computed_binder().bind
        windows = AnswerWindowBinder(
            self._shown, operand, self.facts, self._rows_of, self._warn_of_order
        )
        return windows.bind(tree)

    def _rows_of(self, tree: WindowCall) -> NoisyCondition | None:
        """Return HAVING, which says which rows a window is over: by keys alone.

        Raises:
            SqlNotAllowedError: There are no groups, too many, or noise chooses rows.
        """
        if not self.grouping.keys or self.in_having:
            raise refuse(rules.WINDOW_PLACE, tree.position)
        sizes = [len(key.values) for key in self.grouping.keys.values()]
        if (row_count(self.grouping.sets, sizes) or prod(sizes)) > MAX_WINDOW_ROWS:
            raise refuse(rules.ANSWER_WINDOW_SIZE, tree.position)
        having = self._having()
        if having is not None and is_chosen_by_noise(Presentation(having)):
            raise refuse(rules.ANSWER_WINDOW_ROWS, tree.position)
        return having

    def _condition(self, tree: Tree) -> NoisyCondition:
        self.in_having = True
        found = self._having_binder().bind(tree)
        self.in_having = False
        return found

    def _having_binder(self) -> HavingBinder:
        return HavingBinder(self._shown, self.facts, self.grouping.boolean_key)

    def _shown(self, tree: Tree) -> Shown:
        """Return the key or aggregate that an expression of HAVING or ORDER BY is."""
        if isinstance(tree, AggregateCall | CountRows):
            return self._aggregate(tree)
        if isinstance(tree, Name) and not self.rows.scope.has_column(tree):
            aliased = self.names.get(tree.name)
            if aliased is not None:
                return aliased
        if is_computed(tree):
            return self._computed(tree)
        if isinstance(tree, WindowCall):
            raise refuse(rules.WINDOW_PLACE, tree.position)
        return self._of_totals(tree) or self._operand_key(tree)

    def _operand_key(self, tree: Tree) -> Shown:
        bound = self.rows.operand(tree)
        known = {*self.grouping.keys, *self.grouping.dependent}
        if isinstance(bound, Call) and bound not in known:
            follows = self.grouping.follows(bound)
            if follows is not None:
                return follows
        if isinstance(bound, Call | Constant) and bound not in known:
            raise refuse(rules.HAVING_FORM, tree.position)
        if isinstance(bound, AverageRef):
            raise self.rows.environment.average_refusal(bound, tree.position)
        return self._selected(tree)

    def _order_terms(self) -> list[OrderTerm]:
        terms: list[OrderTerm] = []
        for item in self.tree.order_by:
            tree = item.expression
            if isinstance(tree, NumberLiteral):
                tree = item_at(tree, self.tree, "ORDER BY").expression
            shown = self._ordered_by(tree)
            self._warn_of_order(shown)
            self._warn_of_name(tree, shown)
            terms.append(OrderTerm(shown, item.descending, bool(item.nulls_first)))
        return terms

    def _ordered_by(self, tree: Tree) -> Shown:
        """Return what an expression of ORDER BY is.

        A name alone is a column, or else an alias: also where the column is no key.
        """
        try:
            return self._shown(tree)
        except QueryError as error:
            if not isinstance(tree, Name) or tree.qualifier is not None:
                raise
            aliased = self.names.get(tree.name)
            if aliased is None or error.rule not in _NO_KEYS:
                raise
            return aliased

    def _warn_of_name(self, tree: Tree, shown: Shown) -> None:
        """Say where a name of ORDER BY is a column, and in SQL what is selected."""
        if not isinstance(tree, Name) or tree.qualifier is not None:
            return
        if self.names.get(tree.name, shown) != shown:
            self.rows.environment.warn(
                "column_before_alias",
                f"ORDER BY {tree.name} is the column, not what is selected AS "
                f"{tree.name}, which other systems take: write its place, ORDER BY 1",
            )

    def _warn_of_order(self, shown: Shown) -> None:
        """Say where a key is ordered as it is declared, not by its values."""
        found = self._listed_as(shown)
        if found is None or found[0] in self.ordered or self.tree.hides_keys:
            return
        name, listed = found
        self.ordered.add(name)
        values = [v for v in listed if v is not None]
        if values != sorted(values):
            first = ", ".join(str(value) for value in values[:4])
            self.rows.environment.warn(
                "declared_order",
                f"ORDER BY {name} follows the declared list: {first}"
                f"{', ...' * (len(values) > 4)}",  # noqa: PLR2004 - enough to see it
            )

    def _listed_as(self, shown: Shown) -> tuple[str, tuple[Scalar | None, ...]] | None:
        """Return the name and the list that a key is ordered by; None of others."""
        if isinstance(shown, KeyShown):
            key = list(self.grouping.keys.values())[shown.index]
            return key.name, key.values
        if isinstance(shown, NamedTotal):
            listed = self._texts_of(shown)
        elif isinstance(shown, DependentShown):
            listed = shown.listed
        else:
            return None
        named = (name for name, each in self.names.items() if each == shown)
        return next(named, UNNAMED), listed

    def _texts_of(self, shown: NamedTotal) -> tuple[Scalar | None, ...]:
        """Return a key's values as text, and the word of its totals, as they come."""
        key = list(self.grouping.keys.values())[shown.index]
        null = shown.word if shown.of_null else None
        texts = tuple(null if value is None else str(value) for value in key.values)
        of_sets = (
            texts if shown.index in each else (shown.word,)
            for each in self.grouping.sets
        )
        return tuple(dict.fromkeys(chain.from_iterable(of_sets)))


def _step_over_groups(windows: Sequence[WindowShown]) -> bool:
    """Whether a window reads so many rows away, or how many rows there are."""
    return any(
        one.name in _STEPPING
        or (one.is_by_rows and any(end not in {None, 0} for end in one.frame))
        for one in windows
        if one.operand is not None
    )
