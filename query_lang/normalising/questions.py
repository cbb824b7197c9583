"""A bound question to its normal form: what is measured of which rows in which cells.

Names, the order of keys and measures, HAVING, ORDER BY and LIMIT are no part of it:
they are shown of the same noisy vectors. Proof: docs/proofs/normal_form.md.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod

from privacy.events import VectorSensitivity
from query_lang.normalising.cases import is_zero
from query_lang.normalising.conditions import Conditions, chain, is_null_constant
from query_lang.normalising.relations import UNIT, Relation, RelationReader
from query_lang.normalising.steps import MOST_STEPS, TooManyStepsError, counted_steps
from query_lang.normalising.terms import Term, digest_of, scalar_parameter, truth
from query_lang.normalising.value_sets import Parameter
from query_lang.plans.canonical import canonical_text
from query_lang.plans.nodes import (
    Aggregate,
    CountDistinctMeasure,
    CountRowsMeasure,
    CountUnitsMeasure,
    CountValuesMeasure,
    HistogramMeasure,
    Key,
    MeasureKind,
    SumMeasure,
)
from query_lang.plans.sensitivity import measure_sensitivity

VERSION = 2
"""Of the form: a stored answer is found by the form that it was stored under."""


@dataclass(frozen=True, slots=True)
class NormalKey:
    """A group key: what it is, and its cells.

    Attributes:
        term: Digest of the key's value.
        values: Its cells as parameters, in the order of the question.
        order: Positions of the cells, in the order of the normal form.
    """

    term: str
    values: tuple[Parameter, ...]
    order: tuple[int, ...]

    @property
    def parameter(self) -> Parameter:
        """Return the key in JSON, whatever order its cells were declared in."""
        return [self.term, digest_of([self.values[place] for place in self.order])]


@dataclass(frozen=True, slots=True)
class NormalMeasure:
    """A measured vector: what it counts or adds up, of which rows.

    Attributes:
        kind: In JSON, without rows and noise: equal for what may be added up.
        rows: Digest of the condition on the rows of the sources.
        moved: How far one unit moves the vector, in steps of its grid, as text: L1, and
            L2 squared where that does not follow from it.
        share: Of the loss, as text.
        size: How many values a cell has.
        written: Which function it was written as. Of measures that are one, as COUNT(*)
            and COUNT(x) are where x is never NULL, each text shows the same one.
    """

    kind: Parameter
    rows: str
    moved: str
    share: str
    size: int
    written: str

    def place(self) -> tuple[str, str]:
        """Return what measures are ordered by."""
        return _sort_key(self.parameter), self.written

    @property
    def parameter(self) -> Parameter:
        """Return the measure in JSON."""
        return [self.kind, self.rows, self.moved, self.share]


@dataclass(frozen=True, slots=True)
class NormalQuestion:
    """A question whose text is equal for questions that are always answered alike.

    Attributes:
        sources: Digest of what rows are of.
        keys: In the question's order.
        measures: In the question's order.
        steps: That it took to find.
    """

    sources: str
    keys: tuple[NormalKey, ...]
    measures: tuple[NormalMeasure, ...]
    steps: int = field(default=MOST_STEPS, compare=False)

    @property
    def text(self) -> str:
        """Return compact JSON; the snapshot is the caller's to add."""
        document = {
            "form": VERSION,
            "sources": self.sources,
            "keys": [self.keys[place].parameter for place in self._key_order()],
            "measures": [
                self.measures[place].parameter for place in self.measure_order()
            ],
        }
        return json.dumps(document, separators=(",", ":"), ensure_ascii=True)

    def measure_order(self) -> list[int]:
        """Return the measures' positions in the order of the normal form."""
        places = range(len(self.measures))
        return sorted(places, key=lambda n: self.measures[n].place())

    def _key_order(self) -> list[int]:
        places = range(len(self.keys))
        return sorted(places, key=lambda n: _sort_key(self.keys[n].parameter))

    def cell_order(self) -> list[int]:
        """Return the question's cells in the order of the normal form."""
        keys, order = self.keys, self._key_order()
        steps = [
            prod(len(key.values) for key in keys[n + 1 :]) for n in range(len(keys))
        ]
        return [
            sum(steps[n] * place for n, place in zip(order, places, strict=True))
            for places in product(*(keys[n].order for n in order))
        ]

    def normal_vectors(self, vectors: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the question's vectors in the order of the normal form."""
        cells = self.cell_order()
        return [
            [
                vectors[n][cell * self.measures[n].size + step]
                for cell in cells
                for step in range(self.measures[n].size)
            ]
            for n in self.measure_order()
        ]

    def own_vectors(self, normal: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return vectors of the normal form in the question's order.

        Raises:
            ValueError: They are not of this question.
        """
        cells, found = self.cell_order(), [[0]] * len(self.measures)
        for n, vector in zip(self.measure_order(), normal, strict=True):
            size = self.measures[n].size
            own = [0] * (len(cells) * size)
            values = iter(vector)
            for cell in cells:
                for step in range(size):
                    own[cell * size + step] = next(values)
            found[n] = own
        return found


_sort_key = json.JSONEncoder(separators=(",", ":")).encode  # made once, not a value


def normal_question(plan: Aggregate, weights: Sequence[Fraction]) -> NormalQuestion:
    """Return the normal form of a plan.

    Args:
        plan: As it is measured.
        weights: Of its measures; their shares of the loss are part of the question.

    Returns:
        Where it takes too many steps, a form that the same plan alone has.
    """
    try:
        with counted_steps() as left:
            found = _read(plan, weights)
        return replace(found, steps=MOST_STEPS - left[0])
    except TooManyStepsError:
        return _as_written(plan, weights)


def _as_written(plan: Aggregate, weights: Sequence[Fraction]) -> NormalQuestion:
    whole = sum(weights, start=Fraction(0))
    return NormalQuestion(
        sources=digest_of(["as written", canonical_text(plan, weights)]),
        keys=tuple(
            _ordered(digest_of(["key", place]), key)
            for place, key in enumerate(plan.keys)
        ),
        measures=tuple(
            _made(
                plan, measure, Counted(["as written", place], truth(holds=True)), share
            )
            for place, (measure, share) in enumerate(
                zip(plan.measures, (w / whole for w in weights), strict=True)
            )
        ),
    )


def _read(plan: Aggregate, weights: Sequence[Fraction]) -> NormalQuestion:
    relations = RelationReader()
    rows = relations.read(plan.child)
    whole = sum(weights, start=Fraction(0))
    return NormalQuestion(
        sources=digest_of(rows.sources),
        keys=tuple(_key(key, rows) for key in plan.keys),
        measures=tuple(
            _measure(plan, measure, relations, rows, weight / whole)
            for measure, weight in zip(plan.measures, weights, strict=True)
        ),
    )


def _key(key: Key, rows: Relation) -> NormalKey:
    return _ordered(rows.columns[key.slot].key, key)


def _ordered(term: str, key: Key) -> NormalKey:
    values = tuple(scalar_parameter(value) for value in key.values)
    order = sorted(range(len(values)), key=lambda place: _sort_key(values[place]))
    return NormalKey(term, values, tuple(order))


def _measure(
    plan: Aggregate,
    measure: MeasureKind,
    relations: RelationReader,
    rows: Relation,
    share: Fraction,
) -> NormalMeasure:
    return _made(plan, measure, counted(plan, measure, relations, rows), share)


def _made(
    plan: Aggregate, measure: MeasureKind, found: "Counted", share: Fraction
) -> NormalMeasure:
    moved = _moved(measure, measure_sensitivity(plan, measure))
    size = measure.bins.count if isinstance(measure, HistogramMeasure) else 1
    written = type(measure).__name__
    return NormalMeasure(found.kind, found.rows.key, moved, str(share), size, written)


def _moved(measure: MeasureKind, found: VectorSensitivity) -> str:
    """Write down what noise of either kind is calibrated to (PRIVACY 6).

    Of all measures but COUNT(DISTINCT column) L1 says what L2 is.
    """
    if not isinstance(measure, CountDistinctMeasure):
        return str(found.l1)
    return f"{found.l1}, squared {found.l2_squared}"


@dataclass(frozen=True, slots=True)
class Counted:
    """What a measure takes of a row, and which rows it takes.

    Attributes:
        kind: In JSON: equal for what may be added up.
        rows: The condition on the rows of the sources, WHERE in it.
    """

    kind: Parameter
    rows: Term


def counted(
    plan: Aggregate, measure: MeasureKind, relations: RelationReader, rows: Relation
) -> Counted:
    """Return what a measure of a plan counts or adds up.

    Args:
        plan: As it is measured.
        measure: Of it.
        relations: Which read the rows.
        rows: Of the plan's child.
    """
    kind, held = _counted(plan, measure, rows, relations.conditions)
    return Counted(kind, relations.kept(rows, held).condition)


def _counted(  # noqa: PLR0911 - an arm a form
    plan: Aggregate, measure: MeasureKind, rows: Relation, conditions: Conditions
) -> tuple[Parameter, Term]:
    """Return what a measure takes of a row, and for which rows it takes any."""
    if isinstance(measure, CountRowsMeasure):
        return ["count"], chain("and", ())
    value = rows.columns[measure.slot]
    known = conditions.holding(conditions.negated(conditions.is_null(value)))
    match measure:
        case CountValuesMeasure():
            return ["count"], known
        case CountUnitsMeasure():
            if plan.child.rows_per_unit == 1 and value.key == UNIT.key:
                return ["count"], known
            return ["count_units", value.key], known
        case CountDistinctMeasure():
            return ["count_distinct", value.key], known
        case SumMeasure():
            return _added(value, measure.scale, conditions)
        case HistogramMeasure(_, bins):
            ends = [bins.lower, bins.upper, bins.count, bins.one_per_value]
            return ["histogram", value.key, *ends], known


def _added(value: Term, scale: int, conditions: Conditions) -> tuple[Parameter, Term]:
    """Return what a sum adds up and for which rows: NULL and 0 add nothing."""
    held: list[Term] = []
    while (found := _one_summand(value, conditions)) is not None:
        value, condition = found
        held.append(condition)
    held.append(conditions.negated(conditions.is_null(value)))
    condition = conditions.holding(chain("and", held))
    if scale == 0 and value.head == "constant" and value.value == 1:
        return ["count"], condition
    return ["sum", value.key, scale], condition


def _one_summand(value: Term, conditions: Conditions) -> tuple[Term, Term] | None:  # noqa: PLR0911 - an arm a form
    """Return the one value that a CASE or COALESCE adds, and when; None if several."""
    if value.head == "coalesce" and is_zero(value.parts[-1]):
        first, *others = value.parts
        return None if len(others) > 1 else (first, chain("and", ()))
    if value.head != "case":
        return None
    *pairs, otherwise = value.parts
    branches = list(zip(pairs[::2], pairs[1::2], strict=True))
    adding = [(then, when) for when, then in branches if not _adds_nothing(then)]
    if not _adds_nothing(otherwise):
        if adding or len(branches) > 1:
            return None
        return otherwise, conditions.negated(conditions.is_true(branches[0][0]))
    operands = {when.parts[0].key for when, _ in branches if when.head == "within"}
    apart = len(operands) == 1 and all(when.head == "within" for when, _ in branches)
    return adding[0] if len(adding) == 1 and (apart or len(branches) == 1) else None


def _adds_nothing(one: Term) -> bool:
    return is_null_constant(one) or is_zero(one)
