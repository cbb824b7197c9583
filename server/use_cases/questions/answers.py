"""The bodies of answers and plans, in the shapes of CONTRACT 5."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from budget.charging.splices import Piece
from privacy.losses import Loss
from privacy.measures import Measure
from privacy.schema_json import scalar_to_json
from query_lang.plans.compiled import CompiledQuery
from query_lang.plans.costs import PlanCost
from query_lang.showing.chosen_rows import shown_confidence
from query_lang.showing.presentation import present
from release.contract.answers import ReleaseAnswer
from server.use_cases.losses.amounts import amount, priced
from server.use_cases.questions.noise import (
    NINETY_FIVE_PERCENT,
    expected_errors_of_plan,
    half_widths_of_totals,
    intervals_of_answer,
    noise_of,
    totals_of_plan,
)
from server.use_cases.questions.plan_replies import (
    AnyWay,
    Attainable,
    Cost,
    Plan,
    PlannedBlocks,
    PlannedTotals,
    PricedWish,
    RefiningPlan,
    SetOfTotals,
)
from server.use_cases.questions.questions import Question
from server.use_cases.questions.replies import (
    Answer,
    ChargeShape,
    Remaining,
    WidthsOfRows,
)
from server.use_cases.releases.answers import (
    release_columns,
    release_half_widths,
    release_intervals,
    release_rows,
)
from server.use_cases.releases.replies import (
    CellValue,
    FreeAnswer,
    HalfWidths,
    OutputColumn,
    PaidTaken,
    RelatedRelease,
    ReleaseTaken,
    WarningShape,
)
from server.use_cases.services.documents import encode

_QUERY_ID: Final = re.compile(rb'\{"query_id": "[^"\\]*"')
_CHARGE: Final = b', "charge": {"epsilon": "'
_DERIVATION: Final = b', "derivation": "'


def columns_of(compiled: CompiledQuery) -> list[OutputColumn]:
    """Describe the output columns."""
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "type": column.type.value,
            "unit": column.unit,
        }
        for column in compiled.columns
    ]


def rows_of(
    compiled: CompiledQuery, noisy_vectors: Sequence[Sequence[int]]
) -> list[list[CellValue]]:
    """Return the rows in JSON's types: days in ISO, decimals as text."""
    return [
        [None if value is None else scalar_to_json(value) for value in row]
        for row in present(compiled, noisy_vectors)
    ]


def answer_document(
    question: Question,
    *,
    query_id: str,
    noisy_vectors: Sequence[Sequence[int]],
    remaining: Remaining,
) -> Answer:
    """Return a charged answer."""
    compiled = question.compiled
    confidence = shown_confidence(compiled, noisy_vectors, NINETY_FIVE_PERCENT)
    return {
        "query_id": query_id,
        "snapshot": question.snapshot,
        "columns": columns_of(compiled),
        "rows": rows_of(compiled, noisy_vectors),
        "noise": noise_of(compiled, question.event, confidence),
        "intervals": intervals_of_answer(question, noisy_vectors, confidence),
        **_of_rows(half_widths_of_totals(question, noisy_vectors, confidence)),
        "charge": charge_document(
            question.event.measure, question.event.loss, reused=False
        ),
        "remaining": remaining,
        "derivation": compiled.derivation,
        "warnings": warnings_of(compiled),
    }


def _of_rows(widths: list[HalfWidths]) -> WidthsOfRows:
    return {"half_widths": widths} if widths else {}


def free_pieces(
    stored: bytes,
    question: Question,
    *,
    query_id: str,
    remaining: Remaining,
) -> list[Piece]:
    """Return a stored answer to another asker, in pieces: the same noise, for nothing.

    Rows and noise are ranges of the stored bytes, which are not parsed for it: they may
    be megabytes. Warnings speak of the asker's own text. No text holds what is looked
    for, since a quotation mark within one follows a backslash.

    Raises:
        ValueError: They are no answer that ``answer_document`` made.
    """
    head = _QUERY_ID.match(stored)
    shown = stored.rfind(_CHARGE)
    own = stored.rfind(_DERIVATION)
    if head is None or not head.end() < shown < own:
        message = "no stored answer"
        raise ValueError(message)
    paid = {
        "charge": charge_document(question.event.measure, Loss(0), reused=True),
        "remaining": remaining,
    }
    words = encode(
        {
            "derivation": question.compiled.derivation,
            "warnings": warnings_of(question.compiled),
        }
    )
    ending = b", " + words[1:]
    return [
        encode({"query_id": query_id})[:-1],
        (head.end(), shown),
        b", " + encode(paid)[1:-1],
        (own, len(stored)) if stored[own:] == ending else ending,
    ]


def shown_again(
    question: Question,
    *,
    query_id: str,
    noisy_vectors: Sequence[Sequence[int]],
    remaining: Remaining,
) -> Answer:
    """Return a stored answer's vectors as another text shows them, for nothing.

    Args:
        question: As its asker put it, at the loss that the stored answer paid.
        query_id: Of the asker.
        noisy_vectors: The stored ones, in the question's order.
        remaining: Of the asker.
    """
    document = answer_document(
        question, query_id=query_id, noisy_vectors=noisy_vectors, remaining=remaining
    )
    document["charge"] = charge_document(question.event.measure, Loss(0), reused=True)
    return document


def released_document(
    question: Question,
    answer: ReleaseAnswer,
    *,
    query_id: str,
    release: ReleaseTaken,
    remaining: Remaining,
) -> Answer:
    """Return an answer that a published release gave, for nothing."""
    return {
        "query_id": query_id,
        "snapshot": question.snapshot,
        "columns": release_columns(answer),
        "rows": release_rows(answer),
        "noise": [],
        "intervals": release_intervals(answer),
        "half_widths": release_half_widths(answer),
        "release": release,
        "charge": charge_document(question.event.measure, Loss(0), reused=True),
        "remaining": remaining,
        "derivation": answer.derivation,
        "warnings": [{"code": w.code, "detail": w.detail} for w in answer.warnings],
    }


def cost_document(cost: PlanCost) -> Cost:
    """Return what executing takes at most, of one unit and at the declared sizes."""
    return {
        "steps": cost.steps,
        "memory_bytes": cost.memory_bytes,
        "unit_steps": cost.unit_steps,
        "unit_memory_bytes": cost.unit_memory_bytes,
        "startup_steps": cost.startup_steps,
        "startup_memory_bytes": cost.startup_memory_bytes,
    }


@dataclass(frozen=True, slots=True)
class Offered:
    """What a plan tells beside the question as it was put."""

    free: Sequence[FreeAnswer] = ()
    related: Sequence[RelatedRelease] = ()
    ways: Sequence[AnyWay] = ()
    needs_confirmation: bool = False
    refines: PaidTaken | None = None


NOTHING_OFFERED: Final = Offered()


def plan_document(
    question: Question,
    *,
    affordable: bool,
    remaining: Remaining,
    offered: Offered = NOTHING_OFFERED,
) -> Plan:
    """Return what asking would cost and bring; touches no data.

    Where it is not affordable, ``attainable`` says what the rest would bring, as far
    as the limits tell that the asker may see.
    """
    return {
        **amount(question.event.measure, question.charged),
        "affordable": affordable,
        "needs_confirmation": offered.needs_confirmation,
        "remaining": remaining,
        "snapshot": question.snapshot,
        "cells": question.compiled.row_count,
        "columns": columns_of(question.compiled),
        "noise": noise_of(question.compiled, question.event),
        "expected": expected_errors_of_plan(question.compiled, question.event),
        **_of_sets(totals_of_plan(question.compiled, question.event)),
        "attainable": None if affordable else attainable_document(question, remaining),
        "cost": cost_document(question.compiled.cost),
        "derivation": question.compiled.derivation,
        "warnings": warnings_of(question.compiled),
        "free": list(offered.free),
        "related": list(offered.related),
        "ways": list(offered.ways),
        **_priced_by(question),
        **_refines(offered.refines),
        **of_blocks(question.compiled.blocks),
    }


def _refines(taken: PaidTaken | None) -> RefiningPlan:
    return {} if taken is None else {"refines": taken}


def of_blocks(blocks: Sequence[str]) -> PlannedBlocks:
    """Return what plans say of blocks: nothing where the population has none."""
    return {"blocks": list(blocks)} if blocks else {}


def _of_sets(totals: list[SetOfTotals]) -> PlannedTotals:
    return {"totals": totals} if totals else {}


def _priced_by(question: Question) -> PricedWish:
    """Say what an accuracy was priced by, and whether a probe would pay."""
    wish = question.wish
    if wish is None:
        return {}
    known, best = wish.known, wish.at_best
    return {
        "priced_by": {
            "facts": "public" if known is None else known.facts,
            "queries": [] if known is None else list(known.queries),
            "probe": None if wish.probe is None else str(wish.probe),
            "at_best": None if best is None else str(question.left_of(best)),
        }
    }


def attainable_document(question: Question, remaining: Remaining) -> Attainable | None:
    """Return the noise of a question that spends all that its asker sees left.

    A function of the question and of limits that are shown beside it. None where no
    such limit is passed, or where the rest is less than one query may spend.
    """
    shown = (remaining["project"], remaining["principal"])
    left = [Loss.parse(text) for text in shown if text is not None]
    least = min(left, default=question.event.loss)
    if least >= question.event.loss or question.price is not None:
        return None
    event = question.priced_at(least)
    if event is None:
        return None
    return {
        **priced(event.measure, least),
        "noise": noise_of(question.compiled, event),
    }


def charge_document(measure: Measure, loss: Loss, *, reused: bool) -> ChargeShape:
    """Describe what was paid."""
    return {**amount(measure, loss), "reused": reused}


def warnings_of(compiled: CompiledQuery) -> list[WarningShape]:
    """Describe the warnings of a text."""
    return [{"code": w.code, "detail": w.detail} for w in compiled.warnings]
