"""Plans and answers of studies, in the shapes of ``replies``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate

from mechanisms.scales.noises import noise_of_measure
from privacy.losses import Loss
from query_lang.plans.compiled import NumberShown
from query_lang.showing.decimals import decimal_text
from server.use_cases.losses.amounts import amount, priced
from server.use_cases.questions.answers import (
    answer_document,
    charge_document,
    columns_of,
    cost_document,
    of_blocks,
    warnings_of,
)
from server.use_cases.questions.noise import noise_of
from server.use_cases.questions.paid.documents import made_document
from server.use_cases.questions.paid.vectors import PaidVectors
from server.use_cases.questions.questions import Question
from server.use_cases.questions.replies import Answer, ChargeShape, Remaining
from server.use_cases.questions.studies.asked import MISS
from server.use_cases.questions.studies.composed import StudyQuestion
from server.use_cases.questions.studies.parts import Part, Study, Table
from server.use_cases.questions.studies.replies import (
    PlannedQuestion,
    StudyAnswer,
    StudyPart,
    StudyPlan,
    StudyTable,
)
from server.use_cases.questions.studies.steps import Steps
from server.use_cases.releases.replies import FreeAnswer, WidthsExpected

Vectors = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class _Made:
    """How one question's numbers are made of a part's tables."""

    taken: Sequence[PaidVectors]
    loss: Loss
    price: Loss
    words: str
    half_widths: list[list[int]]
    vectors: list[list[int]]


def study_document(
    question: StudyQuestion,
    *,
    query_id: str,
    noisy_vectors: Vectors,
    remaining: Remaining,
) -> StudyAnswer:
    """Return a charged study: an answer for each of its questions.

    Args:
        question: The study.
        query_id: Of its charge.
        noisy_vectors: Of all tables, in order.
        remaining: Of the asker.
    """
    study, answers = question.of, dict[int, Answer]()
    by_table = iter(_by_table(study, noisy_vectors))
    for part in study.parts:
        vectors = [next(by_table) for _ in part.tables]
        answers.update(_answers(question, part, vectors, _Asker(query_id, remaining)))
    return {
        "query_id": query_id,
        "snapshot": question.snapshot,
        "answers": [answers[n] for n in range(len(study.asked))],
        "parts": parts_document(study),
        "charge": charge_document(question.event.measure, study.loss, reused=False),
        "remaining": remaining,
    }


def given_again(
    stored: StudyAnswer, query_id: str, remaining: Remaining, charge: ChargeShape
) -> StudyAnswer:
    """Return a stored study as another asking of it is answered.

    What it says of who asked, it says of whoever asks now, in each of its answers: it
    may be another project's (PRIVACY 7).
    """
    answers = list[Answer]()
    for one in stored["answers"]:
        told: Answer = {**one, "query_id": query_id, "remaining": remaining}
        if "paid" in one:
            told["paid"] = {**one["paid"], "queries": [query_id]}
        answers.append(told)
    return {
        **stored,
        "query_id": query_id,
        "answers": answers,
        "charge": charge,
        "remaining": remaining,
    }


def is_as_sure(stored: StudyAnswer, study: Study) -> bool:
    """Whether a stored study measured all that a study would, at no more noise.

    What is known of sizes may have made one question cheaper since, and another dearer.
    """
    paid = {_told(each) for part in stored["parts"] for each in part["tables"]}
    return all(
        any(
            sql == other and len(widths) == len(known) and _none_wider(known, widths)
            for other, known in paid
        )
        for sql, widths in map(_told, map(_table, study.tables))
    )


def _told(table: StudyTable) -> tuple[str, tuple[Decimal, ...]]:
    return table["sql"], tuple(
        Decimal(each["half_width_95"]) for each in table["noise"]
    )


def _none_wider(known: Sequence[Decimal], widths: Sequence[Decimal]) -> bool:
    return all(one <= other for one, other in zip(known, widths, strict=True))


def stored_vectors(study: Study, noisy_vectors: Vectors) -> list[list[int]]:
    """Return all tables' vectors, each table's in the order of its normal form."""
    tables = zip(study.tables, _by_table(study, noisy_vectors), strict=True)
    return [
        vector
        for table, own in tables
        for vector in table.question.normal.normal_vectors(own)
    ]


def _by_table(study: Study, vectors: Vectors) -> list[Vectors]:
    ends = list(accumulate(len(table.losses) for table in study.tables))
    starts = [0, *ends[:-1]]
    return [vectors[start:end] for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class _Asker:
    """What replies say of who asks: the id of the charge, and what is left."""

    query_id: str
    remaining: Remaining


def _answers(
    question: StudyQuestion, part: Part, vectors: Sequence[Vectors], asker: _Asker
) -> dict[int, Answer]:
    study = question.of
    if not part.layouts:
        return {n: _as_drawn(question, part, n, vectors[0], asker) for n in part.wanted}
    found: dict[int, Answer] = {}
    made = _numbers(part, vectors)
    for place, n in enumerate(part.wanted):
        one = study.asked[n].question
        measures = range(len(one.compiled.measures))
        numbers = [made[place, measure] for measure in measures]
        source = PaidVectors(asker.query_id, study.loss, one, one.event, ())
        shown = _Made(
            taken=[source],
            loss=study.loss,
            price=Loss(0),
            words=words_of(part),
            half_widths=[widths for _, widths in numbers],
            vectors=[values for values, _ in numbers],
        )
        found[n] = made_document(
            one,
            shown,
            shown.vectors,
            query_id=asker.query_id,
            remaining=asker.remaining,
        )
    return found


def _numbers(
    part: Part, vectors: Sequence[Vectors]
) -> dict[tuple[int, int], tuple[list[int], list[int]]]:
    """Return the numbers of each question and measure, with their half-widths."""
    found = {}
    widths = _widths(part)
    for layout, fit in part.fits():
        coarse = [vectors[1 + table][measure] for table, measure in layout.coarse]
        cells = fit.cells([vectors[0][layout.measure], *coarse])
        for n, asked in enumerate(layout.wanted):
            place = part.wanted[asked[0]], asked[1]
            found[asked] = fit.numbers(n, cells), widths[place]
    return found


def _widths(part: Part) -> dict[tuple[int, int], list[int]]:
    widths = part.widths(MISS, Steps())
    if widths is None:  # it was priced by them
        raise AssertionError
    return widths


def _as_drawn(
    question: StudyQuestion, part: Part, number: int, vectors: Vectors, asker: _Asker
) -> Answer:
    """Return the answer to the very question that was measured."""
    table = part.tables[0]
    one = _drawn_question(table, question.of.asked[number].question)
    own = one.normal.own_vectors(table.question.normal.normal_vectors(vectors))
    document = answer_document(
        one,
        query_id=asker.query_id,
        noisy_vectors=own,
        remaining=asker.remaining,
    )
    measure = question.event.measure
    document["charge"] = charge_document(measure, Loss(0), reused=True)
    document["paid"] = {
        "kind": "paid",
        "queries": [asker.query_id],
        **priced(measure, question.of.loss),
    }
    return document


def _drawn_question(table: Table, question: Question) -> Question:
    """Return the question that a table is, with its noise, in its own order."""
    places = dict(
        zip(
            question.normal.measure_order(),
            table.question.normal.measure_order(),
            strict=True,
        )
    )
    drawn = table.event
    vectors = tuple(drawn.vectors[places[n]] for n in range(len(places)))
    return replace(question, event=replace(drawn, vectors=vectors))


def words_of(part: Part) -> str:
    """Say how the numbers of a part are made."""
    base = part.tables[0].request.sql
    if len(part.tables) == 1:
        return f"each number adds up noisy cells of one table, measured once: {base}"
    coarse = "; ".join(table.request.sql for table in part.tables[1:])
    return (
        f"each number adds up whole cells that agree best, by least squares, with the "
        f"noisy cells of {base}, and of coarser tables: {coarse}"
    )


# -- plans ----------------------------------------------------------------------------


def study_plan_document(
    question: StudyQuestion,
    *,
    affordable: bool,
    remaining: Remaining,
    offered: "Offered",
    needs_confirmation: bool,
) -> StudyPlan:
    """Return what a study would cost and bring; touches no data."""
    study, measure = question.of, question.event.measure
    return {
        **amount(measure, study.loss),
        "one_by_one": priced(measure, study.one_by_one),
        "affordable": affordable,
        "needs_confirmation": needs_confirmation,
        "remaining": remaining,
        "snapshot": question.snapshot,
        "questions": _all_planned(study, offered.questions),
        "parts": parts_document(study),
        "cost": cost_document(question.compiled.cost),
        "free": list(offered.study),
        **of_blocks(question.compiled.blocks),
    }


@dataclass(frozen=True, slots=True)
class Offered:
    """What is stored: the answer to a study, and those to its questions."""

    study: Sequence[FreeAnswer]
    questions: Sequence[Sequence[FreeAnswer]]


def _all_planned(
    study: Study, free: Sequence[Sequence[FreeAnswer]]
) -> list[PlannedQuestion]:
    """Describe each question, with the half-widths that its part brings."""
    widths = [_widths(part) if part.layouts else {} for part in study.parts]
    return [
        _planned(study, n, free[n], widths[study.part_of(n)])
        for n in range(len(study.asked))
    ]


def _planned(
    study: Study,
    number: int,
    free: Sequence[FreeAnswer],
    made: Mapping[tuple[int, int], list[int]],
) -> PlannedQuestion:
    one, place = study.asked[number].question, study.part_of(number)
    part = study.parts[place]
    noise = []
    if part.layouts:
        widths = {m: each for (n, m), each in made.items() if n == number}
    else:
        one = _drawn_question(part.tables[0], one)
        noise, widths = noise_of(one.compiled, one.event), _widths_drawn(one)
    return {
        "sql": study.asked[number].request.sql,
        "columns": columns_of(one.compiled),
        "cells": one.compiled.row_count,
        "part": place,
        "alone": priced(one.event.measure, study.asked[number].question.event.loss),
        "noise": noise,
        "half_widths": _expected(one, widths),
        "warnings": warnings_of(one.compiled),
        "free": list(free),
    }


def _widths_drawn(question: Question) -> dict[int, list[int]]:
    """Return the half-width of a cell as it is drawn, by measure."""
    kind = noise_of_measure(question.event.measure)
    return {
        n: [kind.half_width(vector.scale, 1 - MISS)]
        for n, vector in enumerate(question.event.vectors)
    }


def _expected(
    question: Question, widths: Mapping[int, Sequence[int]]
) -> list[WidthsExpected]:
    return [
        {
            "column": column.name,
            "least": decimal_text(min(widths[column.shown.vector]), column.scale),
            "greatest": decimal_text(max(widths[column.shown.vector]), column.scale),
        }
        for column in question.compiled.columns
        if isinstance(column.shown, NumberShown)
    ]


def parts_document(study: Study) -> list[StudyPart]:
    """Describe what is measured, and for which questions."""
    return [
        {
            "questions": list(part.wanted),
            "adds_up": bool(part.layouts),
            "tables": [_table(table) for table in part.tables],
        }
        for part in study.parts
    ]


def _table(table: Table) -> StudyTable:
    compiled = table.question.compiled
    return {
        "sql": table.request.sql,
        **priced(table.measure, table.loss),
        "cells": compiled.row_count,
        "noise": noise_of(compiled, table.event),
    }
