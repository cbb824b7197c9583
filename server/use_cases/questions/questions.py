"""From a request to a priced question: compiled, accounted, identified; no data."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from sqlalchemy import Connection, select

from budget.ledger import Refinement
from mechanisms.scales.pricing import price
from privacy.contributions import ContributionBounds
from privacy.errors import InvalidLossError, QueryError
from privacy.events import PriceEvent
from privacy.losses import Loss
from privacy.measures import Measure
from privacy.schema import Dataset
from privacy.schema_json import dataset_from_json
from query_lang.binding.bind import ResolvedQuery, bind_query, check_bounds
from query_lang.compile import compile_bound
from query_lang.normalising.questions import NormalQuestion, normal_question
from query_lang.plans.compiled import CompiledQuery
from query_lang.plans.costs import PAID, UNLIMITED, CostLimits
from query_lang.rendering.dialect import Target
from query_lang.rewriting.mending import mended
from query_lang.syntax.nodes import Query
from query_lang.syntax.refusals import refuse, refusing_depth
from query_lang.syntax.rules import TOO_COSTLY
from server.persistence import tables
from server.use_cases.identity.access import Grant
from server.use_cases.losses.measures import measure_in
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.requests import Accuracy, QuestionRequest, loss_of
from server.use_cases.questions.wishes.prices import (
    KnownNumbers,
    Wish,
    priced_wish,
)
from server.use_cases.questions.wishes.ranges import LossRange, vectors_of
from server.use_cases.questions.wishes.refusals import is_searched
from server.use_cases.services.services import Parser

_CACHED_PLANS = 2_048
UNHELD_SIZES: Final = (
    "this dataset was loaded by an earlier version, which did not hold its rows to the "
    "declared sizes"
)
"""Why questions and releases are refused until a dataset is loaded again."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its price; everything here is public but for who asks it."""

    bound: ResolvedQuery
    compiled: CompiledQuery
    event: PriceEvent
    losses: LossRange
    snapshot: str
    unit: str
    normal: NormalQuestion
    identity: str  # same question, same identity (CONTRACT 5)
    former: str  # the same before questions had a normal form: one text alone
    text: str  # enough to ask it again: JSON
    wish: Wish | None = None  # how an accuracy was priced
    price: Loss | None = None  # less than its noise is worth, where some was paid
    refines: Refinement | None = None  # whose noise it goes on from

    @property
    def charged(self) -> Loss:
        """Return what asking it costs."""
        return self.event.loss if self.price is None else self.price

    def left_of(self, loss: Loss) -> Loss:
        """Return what another loss would cost after what was paid before."""
        paid = self.event.loss.minus_floor_zero(self.charged)
        return max(self.losses.minimum, loss.minus_floor_zero(paid))

    def priced_at(self, loss: Loss) -> PriceEvent | None:
        """Return the same question's noise at another loss.

        None where one query may not spend it, or its noise would pass every bound.
        """
        try:
            return self._event(self.losses.check(loss))
        except InvalidLossError:
            return None

    def measured_at(self, loss: Loss) -> "Question":
        """Return the same question as another one that paid ``loss`` for it.

        It was paid: what one query may spend now does not matter.

        Raises:
            InvalidLossError: Its noise would pass every bound.
        """
        return replace(self, event=self._event(loss))

    def _event(self, loss: Loss) -> PriceEvent:
        return _event(self.compiled, loss, self.losses.measure)


class Compiler:
    """Compiles texts against snapshots, and remembers the plans.

    Args:
        parser: Reads texts.
        target: Which engine runs the plans, and what one may cost.
    """

    def __init__(self, parser: Parser, target: Target) -> None:
        self._parser = parser
        self._target = target
        self._compile = lru_cache(_CACHED_PLANS)(self._compile_uncached)

    @property
    def limits(self) -> CostLimits:
        """Return what one plan may cost the engine."""
        return self._target.limits

    def compile(
        self, sql: str, schema: "Schema", request: QuestionRequest
    ) -> "Compiled":
        """Return the plan of ``sql``, and all that follows; cached by all of these."""
        options = request.bounds, request.weights
        try:
            return self._compile(sql, schema, *options)
        except QueryError as refused:
            error = refused

            taken = error.steps

            def compiles(text: str) -> Compiled:
                nonlocal taken
                error.tried += 1
                try:
                    found = self._compile(text, schema, *options)
                except QueryError as other:
                    taken += other.steps
                    raise
                taken += found.bound.steps
                return found

            error.rewritten = mended(sql, error, compiles)
            error.steps = taken
            raise

    def _compile_uncached(
        self,
        sql: str,
        schema: "Schema",
        bounds: ContributionBounds,
        weights: tuple[tuple[str, Fraction], ...],
    ) -> "Compiled":
        tree, limits = self._parser(sql), self._target.limits
        if limits not in {UNLIMITED, PAID} and not schema.dataset.sizes_are_held:
            raise refuse(
                TOO_COSTLY,
                tree.select.position,
                detail=f"{UNHELD_SIZES}: nothing bounds what a question may cost",
                hint="ask the custodian to load the dataset again: nothing else helps",
            )
        dataset = schema.dataset
        with refusing_depth(tree.select.position):
            bound = bind_query(tree, dataset, bounds, limits.answer_numbers)
            try:
                return self._compiled(bound, tree, dataset, dict(weights))
            except QueryError as error:
                error.steps = bound.steps
                raise

    def _compiled(
        self,
        bound: ResolvedQuery,
        tree: Query,
        dataset: Dataset,
        weights: Mapping[str, Fraction],
    ) -> "Compiled":
        compiled = compile_bound(bound, tree, dataset, self._target, weights)
        shares = [measure.weight for measure in compiled.measures]
        return Compiled(bound, compiled, normal_question(bound.plan, shares))


@dataclass(frozen=True, slots=True)
class Compiled:
    """What follows of a text: its plan, how it is run, and its normal form."""

    bound: ResolvedQuery
    query: CompiledQuery
    normal: NormalQuestion


class Schema:
    """A snapshot's public schema, hashed by its snapshot's id."""

    def __init__(self, snapshot: str, dataset: Dataset) -> None:
        self.snapshot = snapshot
        self.dataset = dataset

    def __eq__(self, other: object) -> bool:
        """Snapshots never change, so one id is one schema."""
        return isinstance(other, Schema) and other.snapshot == self.snapshot

    def __hash__(self) -> int:
        """Hash by the snapshot's id."""
        return hash(self.snapshot)


@lru_cache(256)
def schema_of(snapshot: str, schema: str) -> Schema:
    """Return the public schema that a stored snapshot declares."""
    return Schema(snapshot, dataset_from_json(json.loads(schema)))


def loss_range(connection: Connection, population: str) -> LossRange:
    """Return the losses that one query of this population may spend."""
    row = connection.execute(
        select(
            tables.population.c.epsilon_min_nano,
            tables.population.c.epsilon_max_nano,
            tables.population.c.declaration,
        ).where(tables.population.c.name == population)
    ).one()
    return LossRange(
        Loss(row.epsilon_min_nano),
        Loss(row.epsilon_max_nano),
        measure_in(json.loads(row.declaration)),
    )


@dataclass(frozen=True, slots=True)
class Past:
    """What a question's project was shown before, and paid for.

    Attributes:
        known: Finds noisy numbers of it, each wrong with at most a given chance.
        paid: Returns what was paid, as far as that makes more precision cheaper.
    """

    known: Callable[["Question", Fraction], KnownNumbers | None]
    paid: Callable[["Question"], Loss] = lambda _: Loss(0)


_CELLS_OF_A_PRICE: Final = 100
"""Of each measure, where an accuracy is of averages or of a share of the cells: its
price is searched in sixty steps."""

NO_PAST: Final = Past(lambda _, __: None)


def prepare(  # noqa: PLR0913 - what it needs, and what counts it
    compiler: Compiler,
    grant: Grant,
    losses: LossRange,
    request: QuestionRequest,
    past: Past = NO_PAST,
    *,
    looked_at: LookedAt | None = None,
) -> Question:
    """Compile and price a request: options, then SQL, then losses.

    Args:
        compiler: Of texts.
        grant: Of the asker.
        losses: That one query may spend.
        request: What is asked.
        past: What an accuracy may be priced by.
        looked_at: Counts what the text takes, also where it is refused or remembered.

    Raises:
        CuratorError: Any refusal of the text, its options or its loss.
    """
    looked_at = LookedAt() if looked_at is None else looked_at
    schema = schema_of(grant.snapshot, grant.schema)
    check_bounds(request.bounds, schema.dataset)
    try:
        found = compiler.compile(request.sql, schema, request)
    except QueryError as error:
        looked_at.add_steps(error.steps)
        raise
    looked_at.add_steps(found.bound.steps)

    def priced(loss: Loss, wish: Wish | None = None) -> Question:
        return Question(
            bound=found.bound,
            compiled=found.query,
            event=_event(found.query, loss, losses.measure),
            losses=losses,
            snapshot=grant.snapshot,
            unit=schema.dataset.unit,
            normal=found.normal,
            identity=_identity(found.normal.text, grant.snapshot),
            former=_identity(found.query.canonical, grant.snapshot),
            text=question_text(grant, request, loss),
            wish=wish,
        )

    if request.accuracy is None:
        return priced(losses.check(_asked(request, losses)))
    if is_searched(found.query, request.accuracy):
        looked_at.add(cells=_CELLS_OF_A_PRICE * len(found.query.measures))
    at_all = priced(losses.maximum)
    wish = priced_wish(
        found.query,
        losses,
        request.accuracy,
        lambda miss: past.known(at_all, miss),
        lambda: past.paid(at_all),
    )
    return priced(wish.loss, wish)


def check_most(question: Question, wish: Accuracy | None) -> None:
    """Refuse a question that costs more than its asker allows.

    Raises:
        InvalidLossError: What was paid for it before makes it cheaper no more.
    """
    if wish is None or wish.at_most is None:
        return
    if question.charged > loss_of(wish.at_most):
        raise InvalidLossError(
            text=str(wish.at_most),
            reason=f"this accuracy costs {question.charged} more, with what was paid "
            "for the question before: the most that you allow is less",
        )


def question_of_charge(compiler: Compiler, grant: Grant, text: str) -> Question:
    """Return a charged question as ``question_text`` wrote it down, priced as then.

    One that went on from another is returned at what both cost.

    Args:
        compiler: Of texts.
        grant: That names the snapshot which it asked.
        text: Of the charge.

    Raises:
        CuratorError: It would be refused now.
    """
    request = request_of(text)
    finer = finer_than(text)
    if finer is not None:
        request = replace(request, epsilon=str(finer[1]))
    loss = request.loss(grant.measure)
    if loss is None:  # a charge has one
        raise AssertionError
    return prepare(compiler, grant, LossRange(loss, loss, grant.measure), request)


def _asked(request: QuestionRequest, losses: LossRange) -> Loss:
    try:
        asked = request.loss(losses.measure)
    except InvalidLossError as error:
        raise InvalidLossError(
            text=error.text, reason=f"{error.reason}; {losses}"
        ) from None
    if asked is None:  # the form check saw exactly one of the two
        raise AssertionError
    return asked


def _event(compiled: CompiledQuery, loss: Loss, measure: Measure) -> PriceEvent:
    return price(*vectors_of(compiled), loss, measure)


def _identity(form: str, snapshot: str) -> str:
    """Return what is equal for equal questions: plan, bounds, weights, snapshot."""
    parts = {"plan": form, "snapshot": snapshot}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _bounds_json(bounds: ContributionBounds) -> Mapping[str, object]:
    return {
        "tables": dict(bounds.tables),
        "max_rows_per_unit": bounds.max_rows_per_unit,
        "max_groups_per_unit": bounds.max_groups_per_unit,
    }


def refined_text(text: str, price: Loss, word: str, queries: Sequence[str]) -> str:
    """Write down that a charge adds to what paid queries brought."""
    told = {**json.loads(text), word: str(price), "refines": list(queries)}
    return json.dumps(told, sort_keys=True, ensure_ascii=False)


def finer_text(text: str, price: Loss, total: Loss, query_id: str) -> str:
    """Write down that a charge goes on from a paid query, and to which epsilon."""
    told = {"epsilon": str(price), "total": str(total), "goes_on_from": query_id}
    written = {**json.loads(text), **told}
    return json.dumps(written, sort_keys=True, ensure_ascii=False)


def finer_than(text: str) -> tuple[str, Loss] | None:
    """Return which paid query a charge goes on from, and to which epsilon."""
    told = json.loads(text)
    if "goes_on_from" not in told:
        return None
    return told["goes_on_from"], Loss.parse(told["total"])


def refined_by(text: str) -> list[str]:
    """Return the paid queries that a charge adds to; none for most."""
    return list(json.loads(text).get("refines", []))


def question_text(grant: Grant, request: QuestionRequest, loss: Loss) -> str:
    """Write down a question so that it can be executed again after a crash."""
    return json.dumps(
        {
            "dataset": grant.dataset,
            "project": grant.project.name,
            "snapshot": grant.snapshot,
            "sql": request.sql,
            grant.measure.word: str(loss),
            "weights": {name: str(weight) for name, weight in request.weights},
            "bounds": _bounds_json(request.bounds),
        },
        sort_keys=True,
        ensure_ascii=False,
    )


def request_of(text: str) -> QuestionRequest:
    """Read a question back that ``question_text`` wrote."""
    stored = json.loads(text)
    bounds = stored["bounds"]
    return QuestionRequest(
        sql=stored["sql"],
        epsilon=stored.get("epsilon"),
        rho=stored.get("rho"),
        accuracy=None,
        project=stored["project"],
        reuse="never",
        weights=tuple(
            sorted((name, Fraction(w)) for name, w in stored["weights"].items())
        ),
        bounds=ContributionBounds(
            tables=tuple(sorted(bounds["tables"].items())),
            max_rows_per_unit=bounds["max_rows_per_unit"],
            max_groups_per_unit=bounds["max_groups_per_unit"],
        ),
    )
