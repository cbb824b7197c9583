"""A study as one question: one charge, one execution, one text to ask it again by."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import attrgetter
from typing import Final, get_args

from budget.ledger import PaidQuestion
from privacy.errors import CuratorError
from privacy.events import PriceEvent
from privacy.losses import Loss
from privacy.measures import Measure
from query_lang.plans.compiled import CompiledQuery
from query_lang.plans.compiled import Measure as PlanMeasure
from query_lang.plans.costs import CostLimits, CostPart, PlanCost
from query_lang.plans.rendered import RenderedPlan, Statement
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse
from query_lang.syntax.rules import TOO_COSTLY
from server.use_cases.identity.access import Grant
from server.use_cases.questions.paid.readings import STEPS_OF_A_TEXT
from server.use_cases.questions.paid.vectors import PaidVectors
from server.use_cases.questions.questions import (
    Compiler,
    Question,
    prepare,
    question_text,
    request_of,
)
from server.use_cases.questions.requests import (
    Accuracy,
    QuestionRequest,
    with_loss,
)
from server.use_cases.questions.studies.asked import Asked
from server.use_cases.questions.studies.layouts import (
    Gridded,
    KnownRows,
    layouts_of,
)
from server.use_cases.questions.studies.parts import Part, Study, Table
from server.use_cases.questions.studies.requests import StudyRequest
from server.use_cases.questions.studies.steps import Steps
from server.use_cases.questions.wishes.ranges import LossRange

_STEPS_PER_NUMBER: Final = 20_000
"""Of the server, to make one number of a study of a table's cells, and its interval."""
_STEPS_PER_CELL: Final = 100_000
"""Likewise, to bring one cell of a base table together with its coarser ones."""


@dataclass(frozen=True, slots=True)
class StudyQuestion(Question):
    """Several questions as one that is charged, executed and recovered like any.

    Its ``compiled`` runs all tables, and shows nothing by itself.

    Attributes:
        study: What is measured, and for what.
        answering_steps: What making its answers of noisy numbers takes.
    """

    study: Study | None = None
    answering_steps: float = 0.0

    @property
    def of(self) -> Study:
        """Return the study."""
        if self.study is None:
            raise AssertionError
        return self.study


def study_question(
    grant: Grant, study: Study, losses: LossRange, identity: str
) -> StudyQuestion:
    """Return a study as one question.

    Args:
        grant: Of the asker.
        study: What is measured, and for what.
        losses: That one query may spend.
        identity: Equal for studies that ask the same.
    """
    first = study.asked[0].question
    event = event_of(study, losses.measure)
    return StudyQuestion(
        bound=first.bound,
        compiled=_compiled(study),
        event=event,
        losses=losses,
        snapshot=grant.snapshot,
        unit=first.unit,
        normal=first.normal,
        identity=identity,
        former=identity,
        text=_text(grant, study),
        price=study.loss,
        study=study,
    )


def event_of(study: Study, measure: Measure) -> PriceEvent:
    """Return all noise of a study, a vector after the other.

    Neighbouring relation: add or remove all rows of one unit. Losses of independent
    vectors add (docs/proofs/studies.md).
    """
    vectors = tuple(v for table in study.tables for v in table.event.vectors)
    return PriceEvent(study.loss, vectors, measure)


def identity_of(grant: Grant, request: StudyRequest) -> str:
    """Return what is equal for studies that ask the same of one snapshot."""
    asked = [
        [
            q.sql,
            str(q.epsilon),
            str(q.rho),
            _accuracy_text(q.accuracy),
            repr(q.bounds),
            *q.weights,
        ]
        for q in request.questions
    ]
    parts = {"study": asked, "total": request.total, "snapshot": grant.snapshot}
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _accuracy_text(accuracy: Accuracy | None) -> str:
    """Return it as it was written down before accuracies had rows."""
    return repr(accuracy).replace(", rows=None", "")


def blocks_of(study: Study) -> set[tuple[str, ...]]:
    """Return which blocks each question and table can touch: one where they agree."""
    asked = [one.question.compiled for one in study.asked]
    measured = [table.question.compiled for table in study.tables]
    return {tuple(sorted(each.blocks)) for each in (*asked, *measured)}


# -- what is run ----------------------------------------------------------------------


def _compiled(study: Study) -> CompiledQuery:
    """Return all tables as one plan, without columns of its own.

    A vector counts as many values as it has, so that what it costs is that of all.
    """
    tables = [table.question.compiled for table in study.tables]
    asked = [one.question.compiled for one in study.asked]
    made = sum(len(q.rendered.cells) * len(q.measures) for q in asked)
    cells = sum(len(t.rendered.cells) * len(t.measures) for t in tables)
    return CompiledQuery(
        columns=(),
        measures=tuple(_whole(measure, t) for t in tables for measure in t.measures),
        rendered=_rendered([t.rendered for t in tables]),
        canonical="",
        derivation="",
        warnings=(),
        cost=_cost([t.cost for t in tables]),
        key_bytes=sum(q.key_bytes for q in asked),
        showing_steps=sum(q.showing_steps for q in asked)
        + _STEPS_PER_NUMBER * made
        + _STEPS_PER_CELL * cells,
        blocks=tables[0].blocks if tables else (),
    )


def _whole(measure: PlanMeasure, compiled: CompiledQuery) -> PlanMeasure:
    return replace(measure, size=measure.size * len(compiled.rendered.cells))


def _rendered(plans: Sequence[RenderedPlan]) -> RenderedPlan:
    statements: list[Statement] = []
    before = 0
    for plan in plans:
        statements += [_moved(each, before) for each in plan.statements]
        before += plan.vector_count
    return RenderedPlan(
        statements=tuple(statements),
        cells=((),),
        vector_count=before,
        tables=tuple(dict.fromkeys(name for plan in plans for name in plan.tables)),
        scans=sum(plan.scans for plan in plans),
    )


def _moved(statement: Statement, by: int) -> Statement:
    return replace(statement, vectors=tuple(n + by for n in statement.vectors))


def _cost(costs: Sequence[PlanCost]) -> PlanCost:
    """Return what all plans cost together, as if they ran at the same time."""
    parts: tuple[CostPart, ...] = get_args(CostPart)
    return PlanCost(**{p: sum(map(attrgetter(p), costs)) for p in parts})


def check_cost(compiled: CompiledQuery, limits: CostLimits) -> None:
    """Refuse a study that costs more than one question may.

    Raises:
        SqlNotAllowedError: Rule ``too_costly``.
    """
    passed = next(limits.passed(compiled.cost), None)
    if passed is None and compiled.showing_steps <= limits.showing_steps:
        return
    raise refuse(
        TOO_COSTLY,
        Position(1, 1),
        detail="all questions of the study together cost more than one may",
        hint="divide the study in two, or ask its largest question alone",
    )


# -- what is written down -------------------------------------------------------------


def _text(grant: Grant, study: Study) -> str:
    """Write a study down so that it can be executed again after a crash."""
    asked = [
        _written(grant, one.request, one.question.event.loss) for one in study.asked
    ]
    told = {
        "dataset": grant.dataset,
        "project": grant.project.name,
        "snapshot": grant.snapshot,
        "sql": ";\n".join(one.request.sql for one in study.asked),
        grant.measure.word: str(study.loss),
        "study": {
            "questions": asked,
            "parts": [_written_part(grant, part) for part in study.parts],
        },
    }
    return json.dumps(told, sort_keys=True, ensure_ascii=False)


def _written(grant: Grant, request: QuestionRequest, loss: Loss) -> object:
    return json.loads(question_text(grant, request, loss))


def _written_part(grant: Grant, part: Part) -> object:
    return {
        "wanted": list(part.wanted),
        "as_drawn": not part.layouts,
        "tables": [
            {
                "question": _written(grant, table.request, table.loss),
                "losses": [str(loss) for loss in table.losses],
                "identity": table.question.identity,
            }
            for table in part.tables
        ],
    }


def is_study(text: str) -> bool:
    """Whether a charge's text is a study's."""
    return "study" in json.loads(text)


def study_of_charge(compiler: Compiler, grant: Grant, text: str) -> StudyQuestion:
    """Return a charged study as it was written down, priced as then.

    Args:
        compiler: Of texts.
        grant: That names the snapshot which it asked.
        text: Of the charge.

    Raises:
        CuratorError: A text would be refused now.
    """
    told = json.loads(text)
    loss = Loss.parse(told[grant.measure.word])
    asked = tuple(
        Asked(*_read(compiler, grant, each)) for each in told["study"]["questions"]
    )
    parts = tuple(
        _read_part(compiler, grant, asked, each) for each in told["study"]["parts"]
    )
    losses = LossRange(loss, loss, grant.measure)
    study = Study(asked, parts, loss)
    return study_question(
        grant, study, losses, hashlib.sha256(text.encode()).hexdigest()
    )


def paid_tables(
    compiler: Compiler, grant: Grant, paid: PaidQuestion
) -> tuple[list[PaidVectors], int]:
    """Return the tables that a study paid for, and the steps of their forms.

    Nothing, and no steps, of what is no study. Tables whose form is another one now are
    left out: what is stored of them is in an order that is not known.
    """
    if not is_study(paid.request):
        return [], 0
    found, before, steps = list[PaidVectors](), 0, STEPS_OF_A_TEXT
    for part in json.loads(paid.request)["study"]["parts"]:
        for told in part["tables"]:
            try:
                table = _read_table(compiler, grant, told)
            except CuratorError:
                table = None
            if table is not None:
                taken = table.question.normal.steps + table.question.bound.steps
                steps += STEPS_OF_A_TEXT + 2 * taken
            if table is not None and table.question.identity == told["identity"]:
                found.append(_paid_table(paid, table, before))
            before += len(told["losses"])
    return found, steps


def _paid_table(paid: PaidQuestion, table: Table, before: int) -> PaidVectors:
    grids, event = table.gridded.grids, table.event
    return PaidVectors(paid.query_id, paid.loss, table.question, event, grids, before)


def _read(
    compiler: Compiler, grant: Grant, told: object
) -> tuple[QuestionRequest, Gridded]:
    request = request_of(json.dumps(told))
    loss = request.loss(grant.measure)
    if loss is None:  # what was charged has one
        raise AssertionError
    request = with_loss(request, loss, grant.measure.word)
    losses = LossRange(loss, loss, grant.measure)
    return request, Gridded.of(prepare(compiler, grant, losses, request))


def _read_part(
    compiler: Compiler, grant: Grant, asked: Sequence[Asked], told: "dict[str, object]"
) -> Part:
    tables = tuple(_read_table(compiler, grant, each) for each in _list(told["tables"]))
    wanted = tuple(int(str(n)) for n in _list(told["wanted"]))
    if told["as_drawn"]:
        return Part(tables, wanted, ())
    base, *coarse = [table.gridded for table in tables]
    answered = [asked[n].gridded for n in wanted]
    layouts = layouts_of(base, coarse, answered, KnownRows(Steps(), inf))
    if layouts is None:  # it followed when it was charged
        message = "a study's questions do not follow from its tables"
        raise LookupError(message)
    return Part(tables, wanted, tuple(layouts))


def _read_table(compiler: Compiler, grant: Grant, told: object) -> Table:
    if not isinstance(told, dict):
        raise TypeError
    losses = tuple(Loss.parse(str(loss)) for loss in told["losses"])
    return Table(*_read(compiler, grant, told["question"]), losses)


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError
    return value
