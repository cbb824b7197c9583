"""The cheapest ways to a number: what is free first, then coarser questions.

All of it follows from the text, the public schema and what the project was shown;
no row is touched. Coarser questions are compiled and priced like any other, within a
number of steps that the text alone decides.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from privacy.errors import CuratorError
from privacy.losses import Loss
from query_lang.advising.other_texts import OtherText
from server.use_cases.identity.access import Grant
from server.use_cases.losses.amounts import priced
from server.use_cases.questions.advising.other_requests import other_requests
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.noise import noise_of
from server.use_cases.questions.plan_replies import (
    ColumnWidth,
    RequestedBounds,
    RequestedOptions,
    Way,
    WayRequest,
)
from server.use_cases.questions.questions import (
    Compiler,
    Question,
    prepare,
    schema_of,
)
from server.use_cases.questions.requests import QuestionRequest, with_loss
from server.use_cases.questions.wishes.prices import BetterKnownError
from server.use_cases.questions.wishes.ranges import LossRange
from server.use_cases.releases.replies import FreeAnswer

MOST_STEPS: Final = 8_000
"""Steps of binding and of normal forms that all coarser questions of one plan may take
together; what would be beyond is not tried."""

_TEXT_STEPS: Final = 500  # to read and render a short text, in those steps
_FEWEST_TRIED: Final = 4  # where fewer could be tried, none is
_GAIN: Final = Fraction(9, 10)
"""A coarser question is told where it costs, or is off by, at most so much of what was
asked."""


class Adviser:
    """Finds ways to the numbers of questions that are planned.

    Args:
        compiler: Of texts.
    """

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler

    def ways(
        self,
        grant: Grant,
        question: Question,
        request: QuestionRequest,
        free: Sequence[FreeAnswer],
        looked_at: LookedAt,
    ) -> list[Way]:
        """Return ways to a question's numbers, the cheapest first.

        Args:
            grant: Of the asker.
            question: As it was priced.
            request: As it came.
            free: What is on offer for nothing.
            looked_at: Counts what coarser questions take.
        """
        found = [_free_way(grant, question, request, offer) for offer in free]
        if question.wish is not None and question.wish.probe is not None:
            loss = question.wish.probe
            charged = question.left_of(loss)
            found.append(_probe(grant, question, request, loss, charged))
        answered = any(way["kind"] in {"answer", "release"} for way in found)
        if not answered and _may_be_tried(question):
            found += self._coarser(grant, request, question.losses, looked_at, question)
        return sorted(found, key=_by_price)

    def instead(
        self,
        grant: Grant,
        losses: LossRange,
        request: QuestionRequest,
        looked_at: LookedAt,
        better: BetterKnownError | None = None,
    ) -> list[Way]:
        """Return what can be asked in the place of what cannot be so accurate.

        Args:
            grant: Of the asker.
            losses: That one query may spend.
            request: As it came.
            looked_at: Counts what coarser questions take.
            better: Says at which loss it would tell how large its numbers are.
        """
        probe = losses.maximum if better is None else better.probe
        question = self.asked_for(grant, losses, request, probe)
        found: list[Way] = []
        if _may_be_tried(question):
            found = self._coarser(grant, request, losses, looked_at, None)
        if better is not None:
            left = max(losses.minimum, probe.minus_floor_zero(better.paid))
            found.append(_probe(grant, question, request, probe, left))
        return sorted(found, key=_by_price)

    def asked_for(
        self, grant: Grant, losses: LossRange, request: QuestionRequest, loss: Loss
    ) -> Question:
        """Return the same question for a loss; its plan is remembered."""
        other = with_loss(request, loss, grant.measure.word)
        return prepare(self._compiler, grant, losses, other)

    def _coarser(
        self,
        grant: Grant,
        request: QuestionRequest,
        losses: LossRange,
        looked_at: LookedAt,
        asked: Question | None,
    ) -> list[Way]:
        schema = schema_of(grant.snapshot, grant.schema)
        found: list[Way] = []
        left = MOST_STEPS
        least = None if asked is None else (asked.event.loss, _widest(asked))
        for kind, other in other_requests(request, schema, asked):
            if left < 0:
                break
            try:
                way = prepare(self._compiler, grant, losses, other, looked_at=looked_at)
            except CuratorError as error:
                left -= _TEXT_STEPS + getattr(error, "steps", 0)
                continue
            left -= _steps(way)
            if least is None or _is_better(way, *least):
                found.append(_coarser_way(grant, way, kind, other))
        return found


def _may_be_tried(question: Question) -> bool:
    """Whether a few others like it take no more than may be tried."""
    return _FEWEST_TRIED * _steps(question) <= MOST_STEPS


def _steps(question: Question) -> int:
    return _TEXT_STEPS + question.bound.steps + question.normal.steps


def _is_better(way: Question, loss: Loss, width: Fraction) -> bool:
    """Whether a coarser question costs clearly less, or is clearly less noisy."""
    cheaper = way.event.loss.nano_epsilon <= _GAIN * loss.nano_epsilon
    return cheaper or _widest(way) <= _GAIN * width


def _widest(question: Question) -> Fraction:
    noise = noise_of(question.compiled, question.event)
    return max((Fraction(each["half_width_95"]) for each in noise), default=Fraction(0))


def _widths(question: Question) -> list[ColumnWidth]:
    """Return the half-width of each count and sum that is a column."""
    return [
        {"column": each["column"], "half_width_95": each["half_width_95"]}
        for each in noise_of(question.compiled, question.event)
        if "part" not in each and "per" not in each
    ]


def _coarser_way(
    grant: Grant, way: Question, other: OtherText, request: QuestionRequest
) -> Way:
    return {
        "kind": other.kind,
        "detail": other.detail,
        **priced(grant.measure, way.event.loss),
        "half_widths": _widths(way),
        "request": _body(grant, request, way.event.loss),
    }


def _free_way(
    grant: Grant, question: Question, request: QuestionRequest, offer: FreeAnswer
) -> Way:
    """Describe what is on offer for nothing."""
    body = _body(grant, request, question.event.loss)
    kind = offer["kind"]
    if kind != "answer":
        body["options"] = {**body.get("options", {}), "prefer": kind}
    return {
        "kind": kind,
        "detail": _OFFERED[kind],
        **priced(grant.measure, Loss(0)),
        "half_widths": _offered_widths(question, offer),
        "request": body,
    }


_OFFERED: Final = {
    "answer": "the stored answer to this question, in these or other words",
    "release": "a published release counts what you ask; its answer tells how exactly",
    "paid": "made of noisy numbers that your project paid for, with wider intervals",
}


def _offered_widths(question: Question, offer: FreeAnswer) -> list[ColumnWidth]:
    if offer["kind"] == "answer":
        paid = Loss.parse(offer.get("rho", offer["epsilon"]))
        return _widths(question.measured_at(paid))
    if offer["kind"] == "release":
        return []
    return [
        {"column": each["column"], "half_width_95": each["greatest"]}
        for each in offer["half_widths"]
    ]


def _probe(
    grant: Grant,
    question: Question,
    request: QuestionRequest,
    loss: Loss,
    charged: Loss,
) -> Way:
    """Describe the same question with little loss, which may make the wish cheaper."""
    probed = question.measured_at(loss)
    return {
        "kind": "probe",
        "detail": "asked first, its noisy numbers say how large cells are; then the "
        "accuracy may cost less",
        **priced(grant.measure, charged),
        "half_widths": _widths(probed),
        "request": _body(grant, request, loss),
    }


def _body(grant: Grant, request: QuestionRequest, loss: Loss) -> WayRequest:
    """Return a body that asks a request for a loss."""
    options: RequestedOptions = {}
    if bounds := _bounds(request):
        options["bounds"] = bounds
    if request.weights:
        options["weights"] = {name: float(weight) for name, weight in request.weights}
    body: WayRequest = {"sql": request.sql, "project": grant.project.name}
    if grant.measure.is_pure:
        body["epsilon"] = str(loss)
    else:
        body["rho"] = str(loss)
    if options:
        body["options"] = options
    return body


def _bounds(request: QuestionRequest) -> RequestedBounds:
    bounds: RequestedBounds = {}
    if request.bounds.tables:
        bounds["tables"] = dict(request.bounds.tables)
    if request.bounds.max_rows_per_unit is not None:
        bounds["max_rows_per_unit"] = request.bounds.max_rows_per_unit
    if request.bounds.max_groups_per_unit is not None:
        bounds["max_groups_per_unit"] = request.bounds.max_groups_per_unit
    return bounds


def _by_price(way: Way) -> tuple[Loss, Fraction]:
    loss = Loss.parse(way.get("rho", way["epsilon"]))
    widths = [Fraction(each["half_width_95"]) for each in way["half_widths"]]
    return loss, max(widths, default=Fraction(0))
