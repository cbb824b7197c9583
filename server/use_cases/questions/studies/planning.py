"""From several requests to one priced study; no data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from privacy.errors import (
    CuratorError,
    InvalidLossError,
    InvalidOptionError,
    QueryError,
)
from privacy.losses import Loss
from server.use_cases.identity.access import Grant
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.questions import Compiler, Question, prepare
from server.use_cases.questions.requests import QuestionRequest, with_loss
from server.use_cases.questions.studies.asked import Asked
from server.use_cases.questions.studies.composed import (
    StudyQuestion,
    blocks_of,
    check_cost,
    identity_of,
    study_question,
)
from server.use_cases.questions.studies.layouts import Gridding
from server.use_cases.questions.studies.parts import Part, Study, Table
from server.use_cases.questions.studies.requests import StudyRequest
from server.use_cases.questions.studies.steps import Steps, of_form, of_text
from server.use_cases.questions.studies.strategies import Strategist
from server.use_cases.questions.wishes.ranges import LossRange

Pricing = Callable[[QuestionRequest], tuple[Grant, Question]]
"""Prices a request as if it were asked alone."""


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A study as one question, and who asks it."""

    grant: Grant
    question: StudyQuestion


def planned_study(
    compiler: Compiler,
    request: StudyRequest,
    losses: LossRange,
    pricing: Pricing,
    looked_at: LookedAt,
) -> PlannedStudy:
    """Return the cheapest study found that brings what is wished for.

    Args:
        compiler: Of texts.
        request: What is asked.
        losses: That one query may spend.
        pricing: Prices each question alone.
        looked_at: Counts what it takes, by public facts, whatever becomes of it.

    Raises:
        CuratorError: Any refusal of a text, its options or its loss.
    """
    total = request.total_loss(losses.measure)
    requests = [_wished(each, total, request, losses) for each in request.questions]
    priced = []
    for n, each in enumerate(requests):
        looked_at.add(cells=of_text(each.sql))
        priced.append(_priced(n, each, pricing))
        looked_at.add(cells=of_form(priced[n][1].normal.steps))
    grant = priced[0][0]
    gridding = Gridding(Steps(looked_at))
    asked = [
        Asked(each, gridding.of(question))
        for each, (_, question) in zip(requests, priced, strict=True)
    ]
    compiling = partial(prepare, compiler, grant, losses, looked_at=looked_at)
    strategist = Strategist(asked, losses, compiling, gridding, looked_at)
    study = _spending(asked, strategist.parts(), total, losses)
    _check_blocks(study)
    question = study_question(grant, study, losses, identity_of(grant, request))
    check_cost(question.compiled, compiler.limits)
    steps = study.answering_steps  # a plan tells half-widths, as answers do
    looked_at.add(cells=steps)
    question = replace(question, answering_steps=steps)
    return PlannedStudy(grant, question)


def _priced(
    number: int, request: QuestionRequest, pricing: Pricing
) -> tuple[Grant, Question]:
    """Price one question; a refusal says which one it is of."""
    try:
        return pricing(request)
    except CuratorError as error:
        named = f"questions[{number}]: "
        if isinstance(error, QueryError):
            error.detail = f"{named}{error.detail}"
        error.args = (f"{named}{error}",)
        raise


def _wished(
    one: QuestionRequest, total: Loss | None, request: StudyRequest, losses: LossRange
) -> QuestionRequest:
    """Return a question with a wish: its own, or an even share of the total."""
    if total is None or one.accuracy or one.epsilon is not None or one.rho is not None:
        return one
    share = Loss(total.nano_epsilon // len(request.questions))
    return with_loss(one, max(share, losses.minimum), losses.measure.word)


def _spending(
    asked: Sequence[Asked],
    parts: tuple[Part, ...],
    total: Loss | None,
    losses: LossRange,
) -> Study:
    """Return the study at a total: all half-widths grow or shrink alike.

    Raises:
        InvalidLossError: A table would spend more or less than one query may.
    """
    least = Loss(sum(part.loss.nano_epsilon for part in parts))
    if total is None:
        return Study(tuple(asked), parts, least)
    scaled = tuple(_scaled(part, total, least) for part in parts)
    study = Study(tuple(asked), scaled, total)
    for table in study.tables:
        if not losses.minimum <= table.loss <= losses.maximum:
            reason = f"a table would spend {table.loss} of it, and {losses}"
            raise InvalidLossError(text=str(total), reason=reason)
    return study


def _scaled(part: Part, total: Loss, least: Loss) -> Part:
    return replace(part, tables=tuple(_at(t, total, least) for t in part.tables))


def _at(table: Table, total: Loss, least: Loss) -> Table:
    """Return a table whose losses are its share of a total, rounded down."""
    whole = least.nano_epsilon
    losses = tuple(
        Loss(loss.nano_epsilon * total.nano_epsilon // whole) for loss in table.losses
    )
    return replace(table, losses=losses)


def _check_blocks(study: Study) -> None:
    """Refuse what would charge a block for a table that cannot touch it.

    Raises:
        InvalidOptionError: Tables touch different blocks of the population.
    """
    if len(blocks_of(study)) > 1:
        message = (
            "the questions of one study touch the same blocks of the population: its "
            "one charge goes to each of them; ask for each block by itself"
        )
        raise InvalidOptionError(message)
