"""Sequences: each unit's rows in an order, as symbols of a public alphabet.

FROM and WHERE, the symbol and the split are bound by the rules of the language, so that
stability, constancy and domains come from there (docs/proofs/sequences.md).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from privacy.contributions import NO_BOUNDS, ContributionBounds
from privacy.errors import CuratorError, InvalidOptionError, QueryError
from privacy.schema import ColumnType, Dataset, Scalar
from query_lang.binding.bind import bounded, check_bounds
from query_lang.binding.environment import Environment
from query_lang.binding.expressions import ExpressionBinder
from query_lang.binding.queries import QueryBinder
from query_lang.confining.touched import touched_blocks
from query_lang.costs.checks import CostCheck
from query_lang.costs.sequences import sequence_costs
from query_lang.plans.canonical import canonical_json
from query_lang.plans.compiled import QueryWarning
from query_lang.plans.costs import PlanCost
from query_lang.plans.dimensions import CubeDimension
from query_lang.plans.expressions import Expression, FieldRef, Function, truth_of
from query_lang.plans.nodes import (
    BoundContributions,
    Compute,
    Filter,
    Item,
    Node,
    Order,
)
from query_lang.plans.sequences import UnitSequences
from query_lang.plans.stability import check_rows
from query_lang.reading.source_texts import read_source
from query_lang.rendering.dialect import Target
from query_lang.showing.derivation import derive_rows
from query_lang.specs.axes import (
    Axis,
    AxisRefusedError,
    ResolvedAxis,
    bind_axis,
    column_tree,
)
from query_lang.specs.cubes import dimension_of
from query_lang.specs.periods import Periods, PeriodsRefusedError, bind_periods
from query_lang.syntax.nodes import Position

MAX_LENGTH: Final = 1_000
MAX_SYMBOLS: Final = 50_000
_ORDERS = frozenset({ColumnType.INTEGER, ColumnType.DATE, ColumnType.TIMESTAMP})


class SequencesRefusedError(CuratorError):
    """Sequences cannot be made so; ``place`` is the key of the request at fault."""

    code = "refused"

    def __init__(self, message: str, place: str) -> None:
        self.place = place
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class SequenceRequest:
    """What sequences are made of, in the words of the language.

    Attributes:
        source: The text of FROM.
        order: A column of numbers, dates or timestamps; qualified where needed.
        symbols: What a row stands for, or what becomes of the rows of a period.
        max_length: h: no symbol of a unit beyond is looked at.
        split: A dimension that is constant within each unit, or None.
        where: The text of WHERE, or None.
        bounds: Lower contribution bounds than the declared ones.
    """

    source: str
    order: str
    symbols: Axis | Periods
    max_length: int
    split: Axis | None = None
    where: str | None = None
    bounds: ContributionBounds = NO_BOUNDS


@dataclass(frozen=True, slots=True)
class SequenceStatement:
    """One SQL text whose rows hold a group's code, a sequence, and a count of units.

    Attributes:
        sql: Identifiers of the catalogue only; every literal a ``?``.
        parameters: Values of the ``?``, in order.
        symbols: How many there are; one character of a row's text each.
        max_length: The most symbols of a sequence.
    """

    sql: str
    parameters: tuple[Scalar, ...]
    symbols: int
    max_length: int


@dataclass(frozen=True, slots=True)
class SequencePlan:
    """Sequences ready to be priced and counted.

    Attributes:
        statement: What the engine runs.
        alphabet: The symbols.
        max_length: The most symbols of a unit.
        split: What each unit has one value of, or None.
        canonical: Text that is equal for equal plans.
        derivation: Why one unit moves one sequence, in words.
        warnings: What the custodian may not have meant.
        cost: What counting them takes at most.
        blocks: Whose units they can touch; empty where the population has none.

    Neighbouring relation: add or remove all rows of one unit: the count of one
    sequence moves by 1. Proof: docs/proofs/sequences.md.
    """

    statement: SequenceStatement
    alphabet: CubeDimension
    max_length: int
    split: CubeDimension | None
    canonical: str
    derivation: str
    warnings: tuple[QueryWarning, ...]
    cost: PlanCost
    blocks: tuple[str, ...] = ()

    @property
    def l1_sensitivity(self) -> int:
        """How far one unit moves the counts of all sequences; of one level, too."""
        return 1


@dataclass(frozen=True, slots=True)
class ResolvedSequences:
    """Sequences as a plan of the language.

    Attributes:
        plan: Each unit's symbols.
        alphabet: The symbols.
        split: What each unit has one value of, or None.
        position: Where the text begins.
        derivation: Why one unit moves one sequence, in words.
        warnings: What the custodian may not have meant.
    """

    plan: UnitSequences
    alphabet: CubeDimension
    split: CubeDimension | None
    position: Position
    derivation: str
    warnings: tuple[QueryWarning, ...]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Bound FROM, WHERE and bounds, and the order of what is left."""

    node: Node
    order: Expression
    rows: ExpressionBinder
    position: Position


def bind_sequences(request: SequenceRequest, dataset: Dataset) -> ResolvedSequences:
    """Bind sequences against a public schema; touches no data.

    Raises:
        QueryError: FROM or WHERE breaks a rule of the language.
        SequencesRefusedError: Order, symbol, periods, split or length do not fit.
        InvalidOptionError: A bound does not fit.
    """
    if not 1 <= request.max_length <= MAX_LENGTH:
        message = f"a sequence has 1 to {MAX_LENGTH} symbols"
        raise SequencesRefusedError(message, "max_length")
    if request.bounds.max_groups_per_unit is not None:
        message = "bounds.max_groups_per_unit has no meaning: a unit has one sequence"
        raise InvalidOptionError(message)
    bound = _rows(request, dataset)
    split = _split(request, bound, dataset.unit)
    axis, made = _made(request, bound, split)
    alphabet = dimension_of(axis)
    if len(alphabet.values) > MAX_SYMBOLS:
        message = f"an alphabet has at most {MAX_SYMBOLS} symbols: take a coarser level"
        raise SequencesRefusedError(message, _symbols_key(request))
    own = None if split is None else dimension_of(split)
    return ResolvedSequences(
        plan=made,
        alphabet=alphabet,
        split=own,
        position=bound.position,
        derivation="\n".join(_derived(request, bound, own, dataset.unit)),
        warnings=(
            *bound.rows.environment.warnings,
            *_bound_warnings(bound.node, bound.rows.environment),
        ),
    )


def compile_sequences(
    request: SequenceRequest,
    dataset: Dataset,
    target: Target,
) -> SequencePlan:
    """Compile sequences against a public schema; touches no data.

    Args:
        request: What is counted.
        dataset: The public schema.
        target: Which engine will count them, and what that may cost.

    Raises:
        QueryError: As ``bind_sequences``; or counting them passes the limits.
        SequencesRefusedError: As ``bind_sequences``.
        InvalidOptionError: As ``bind_sequences``.
    """
    bound = bind_sequences(request, dataset)
    plan, dimensions = bound.plan, (bound.alphabet, bound.split)
    text = target.dialect.sequences(
        plan, dimensions, dataset.hierarchies, bound.position
    )
    cost = CostCheck(target.limits, dataset).check(
        lambda tables: sequence_costs(plan, dimensions, dataset, text.sql, tables),
        bound.position,
    )
    symbols = len(bound.alphabet.values)
    return SequencePlan(
        statement=SequenceStatement(
            text.sql, text.parameters, symbols, request.max_length
        ),
        alphabet=bound.alphabet,
        max_length=request.max_length,
        split=bound.split,
        canonical=canonical_json(plan),
        derivation=bound.derivation,
        warnings=bound.warnings,
        cost=cost,
        blocks=touched_blocks(plan.child, dataset),
    )


def _symbols_key(request: SequenceRequest) -> str:
    return "symbol" if isinstance(request.symbols, Axis) else "periods"


def _rows(request: SequenceRequest, dataset: Dataset) -> _Rows:
    """Bind FROM and WHERE; leave out rows without a place in the order, then bound."""
    tree = read_source(request.source, request.where)
    environment = Environment(dataset, check_bounds(request.bounds, dataset))
    queries = QueryBinder()
    node, scope = queries.filtered(tree.select, environment)
    check_rows(node.rows_per_unit, tree.select.position)
    rows = ExpressionBinder(scope, environment, queries)
    order = _order(request.order, rows)
    if order.facts.nullable:
        missing = truth_of(Function.IS_NULL, (order,))
        node = Filter(node, truth_of(Function.NOT, (missing,)))
    node = bounded(node, (), request.bounds)
    return _Rows(node, order, rows, tree.select.position)


def _order(column: str, rows: ExpressionBinder) -> Expression:
    try:
        order = rows.value(column_tree(column))
    except QueryError as error:  # its own line and column are of our text
        message = f"{error.detail}: {error.hint}"
        raise SequencesRefusedError(message, "order") from None
    except ValueError as error:
        raise SequencesRefusedError(str(error), "order") from None
    if order.facts.type not in _ORDERS:
        message = f"{column} is no date, timestamp or whole number: it orders nothing"
        raise SequencesRefusedError(message, "order")
    return order


def _axis(axis: Axis, place: str, rows: ExpressionBinder) -> ResolvedAxis:
    try:
        return bind_axis(axis, 0, rows)
    except AxisRefusedError as error:
        raise SequencesRefusedError(str(error), place) from None


def _split(request: SequenceRequest, bound: _Rows, unit: str) -> ResolvedAxis | None:
    if request.split is None:
        return None
    axis = _axis(request.split, "split", bound.rows)
    if not axis.expression.facts.constant and bound.node.rows_per_unit > 1:
        message = (
            f"{axis.name} may vary within one {unit}: a split is constant within each, "
            "as columns of a table with one row a unit are, and those that are "
            "declared constant_in_unit"
        )
        raise SequencesRefusedError(message, "split")
    return axis


def _made(
    request: SequenceRequest, bound: _Rows, split: ResolvedAxis | None
) -> tuple[ResolvedAxis, UnitSequences]:
    """Return the alphabet, and each unit's symbols as a plan."""
    if isinstance(request.symbols, Periods):
        return _of_periods(request.symbols, request.max_length, bound, split)
    axis = _axis(request.symbols, "symbol", bound.rows)
    environment = bound.rows.environment
    symbol, items = _slot(axis.expression, environment)
    group = None
    if split is not None:
        group, more = _slot(split.expression, environment)
        items += more
    node = Compute(bound.node, items) if items else bound.node
    order = Order(bound.order, descending=False, nulls_first=False)
    made = UnitSequences(node, symbol, order, None, group, request.max_length)
    return axis, made


def _slot(value: Expression, environment: Environment) -> tuple[int, tuple[Item, ...]]:
    """Return the slot of a value, and what makes it where nothing has."""
    if isinstance(value, FieldRef):
        return value.slot, ()
    slot = environment.new_slot()
    return slot, ((slot, value),)


def _of_periods(
    periods: Periods, max_length: int, bound: _Rows, split: ResolvedAxis | None
) -> tuple[ResolvedAxis, UnitSequences]:
    group = None if split is None else split.expression
    try:
        made = bind_periods(periods, (bound.node, bound.order, group), bound.rows)
    except PeriodsRefusedError as error:
        raise SequencesRefusedError(str(error), "periods") from None
    order = Order(made.place, descending=False, nulls_first=False)
    slot = made.place.slot
    sequences = UnitSequences(
        made.node, made.symbol, order, slot, made.group, max_length
    )
    return made.axis, sequences


def _derived(
    request: SequenceRequest, bound: _Rows, split: CubeDimension | None, unit: str
) -> Iterator[str]:
    yield from derive_rows(bound.node, unit)
    what = "rows" if isinstance(request.symbols, Axis) else "periods"
    yield (
        f"One {unit}'s {what}, ordered by {request.order} (ties by row hash), make one "
        f"sequence, of which the first {request.max_length:,} symbols are looked at; "
        f"without a row a {unit} has none."
    )
    yield (
        f"So one {unit} moves the count of one sequence by 1: at each length it passes "
        "through one node, and each level of a tree has sensitivity L1 1."
    )
    if split is not None:
        yield (
            f"{split.name} is constant within one {unit}: each is in one of the "
            f"{len(split.values):,} trees, and all of them cost the price of one."
        )


def _bound_warnings(node: Node, environment: Environment) -> list[QueryWarning]:
    """Say that rows may be left out, by public facts only."""
    parts = []
    if isinstance(node, BoundContributions):
        parts.append(f"rows beyond {node.max_rows}")
    for name, most in environment.bounded_tables.items():
        parts.append(f"rows of {name} beyond {most}")
    if not parts:
        return []
    detail = (
        f"the bounds asked for leave out {', '.join(parts)} of each "
        f"{environment.dataset.unit} before its sequence is made (which ones is fixed "
        "by row hash, not by the order)"
    )
    return [QueryWarning("rows_bounded", detail)]
