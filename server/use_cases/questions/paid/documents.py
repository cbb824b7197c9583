"""Answers that are made of paid ones, in the shapes of CONTRACT 5."""

from collections.abc import Sequence
from typing import Protocol

from privacy.losses import Loss
from query_lang.plans.compiled import NumberShown, OutputColumn
from query_lang.showing.decimals import decimal_text
from query_lang.showing.presentation import chosen_cells
from server.use_cases.losses.amounts import priced
from server.use_cases.questions.answers import (
    answer_document,
    charge_document,
    columns_of,
    rows_of,
    warnings_of,
)
from server.use_cases.questions.paid.derived import Derived
from server.use_cases.questions.paid.finer_draws import Finer
from server.use_cases.questions.paid.refining import Earlier
from server.use_cases.questions.paid.vectors import PaidVectors
from server.use_cases.questions.questions import Question
from server.use_cases.questions.replies import (
    Answer,
    Remaining,
)
from server.use_cases.questions.requests import Accuracy
from server.use_cases.questions.wishes.demands import keeps_to
from server.use_cases.releases.replies import (
    HalfWidths,
    Intervals,
    PaidOffer,
    PaidTaken,
    WidthsExpected,
)

_CONFIDENCE = "0.95"


def suffices(question: Question, derived: Derived, wish: Accuracy | None) -> bool:
    """Whether paid numbers keep to the accuracy that is wished for."""
    if wish is None or question.wish is None or wish.rows is not None:
        return False  # of averages nothing is made of other paid answers
    measures = question.compiled.measures
    return keeps_to(wish, question.wish, measures, derived.widths)


def offered(
    question: Question, derived: Derived, wish: Accuracy | None = None
) -> PaidOffer:
    """Describe what a plan offers, with the least and greatest half-width."""
    taken = paid_taken(question, derived)
    return {
        **taken,
        "id": taken["queries"][0],
        "half_widths": [
            _expected(column, vector, derived) for column, vector in _numbers(question)
        ],
        "suffices": suffices(question, derived, wish),
    }


def paid_taken(question: Question, made: "Made | Earlier | Finer") -> PaidTaken:
    """Name the paid questions of an answer, and what they cost together."""
    queries = (
        [made.query_id]
        if isinstance(made, Finer)
        else [paid.query_id for paid in made.taken]
    )
    return {
        "kind": "paid",
        "queries": queries,
        **priced(question.event.measure, made.loss),
    }


def finer_document(
    question: Question,
    finer: Finer,
    *,
    query_id: str,
    noisy_vectors: Sequence[Sequence[int]],
    remaining: Remaining,
) -> Answer:
    """Return an answer that went on from a paid one: its noise is that of both."""
    document = answer_document(
        question, query_id=query_id, noisy_vectors=noisy_vectors, remaining=remaining
    )
    measure = question.event.measure
    document["charge"] = charge_document(measure, question.charged, reused=False)
    document["paid"] = paid_taken(question, finer)
    document["derivation"] += (
        f"\nThe project had paid epsilon {finer.loss} for these numbers "
        f"({finer.query_id}); the noise is that of epsilon {question.event.loss}, "
        "drawn so that both answers together tell as much as this one alone."
    )
    return document


class Made(Protocol):
    """How numbers are made of paid ones."""

    @property
    def half_widths(self) -> Sequence[Sequence[int]]:
        """Of each measure, of each cell, in grid steps, at 95 %."""

    @property
    def taken(self) -> Sequence[PaidVectors]:
        """The paid questions that are used."""

    @property
    def loss(self) -> Loss:
        """What was paid for them."""

    @property
    def price(self) -> Loss:
        """What is paid for more precision; 0 for nothing."""

    @property
    def words(self) -> str:
        """How the numbers are made of them."""


def made_document(
    question: Question,
    made: Made,
    vectors: Sequence[Sequence[int]],
    *,
    query_id: str,
    remaining: Remaining,
) -> Answer:
    """Return an answer that paid ones gave, or gave the most of.

    Args:
        question: As it was asked.
        made: How its numbers are made.
        vectors: The noisy numbers, on the question's grids.
        query_id: Of the asker.
        remaining: Of the asker.
    """
    cells = chosen_cells(question.compiled, vectors)
    shown = list(_numbers(question))
    return {
        "query_id": query_id,
        "snapshot": question.snapshot,
        "columns": columns_of(question.compiled),
        "rows": rows_of(question.compiled, vectors),
        "noise": [],
        "intervals": [
            _intervals(
                column,
                vectors[n],
                made.half_widths[n],
                cells,
                never_negative=question.compiled.measures[n].never_negative,
            )
            for column, n in shown
        ],
        "half_widths": [
            _widths(column, made.half_widths[n], cells) for column, n in shown
        ],
        "paid": paid_taken(question, made),
        "charge": charge_document(
            question.event.measure, made.price, reused=made.price == Loss(0)
        ),
        "remaining": remaining,
        "derivation": made.words,
        "warnings": warnings_of(question.compiled),
    }


def _numbers(question: Question) -> list[tuple[OutputColumn, int]]:
    """Return the columns that show a vector, each with its position."""
    return [
        (column, column.shown.vector)
        for column in question.compiled.columns
        if isinstance(column.shown, NumberShown)
    ]


def _expected(column: OutputColumn, vector: int, derived: Derived) -> WidthsExpected:
    widths = derived.half_widths[vector]
    return {
        "column": column.name,
        "least": decimal_text(min(widths), column.scale),
        "greatest": decimal_text(max(widths), column.scale),
    }


def _intervals(
    column: OutputColumn,
    numbers: Sequence[int],
    widths: Sequence[int],
    cells: Sequence[int],
    *,
    never_negative: bool,
) -> Intervals:
    """Return each cell's interval; a count's holds nothing below 0 (PRIVACY 7)."""

    def end(number: int) -> str:
        possible = max(number, 0) if never_negative else number
        return decimal_text(possible, column.scale)

    return {
        "column": column.name,
        "confidence": _CONFIDENCE,
        "rows": [
            [end(numbers[cell] - widths[cell]), end(numbers[cell] + widths[cell])]
            for cell in cells
        ],
    }


def _widths(
    column: OutputColumn, widths: Sequence[int], cells: Sequence[int]
) -> HalfWidths:
    return {
        "column": column.name,
        "confidence": _CONFIDENCE,
        "rows": [decimal_text(widths[cell], column.scale) for cell in cells],
    }
