"""Requests for less than one asks: coarser texts, and fewer rows of each unit."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Final

from privacy.wording import counted
from query_lang.advising.other_texts import OtherText, other_texts
from query_lang.syntax.tokens import lex
from server.use_cases.questions.questions import Question, Schema
from server.use_cases.questions.requests import QuestionRequest

_SHARES: Final = (Fraction(1, 2), Fraction(1, 4))  # of the rows or groups of one unit


def other_requests(
    request: QuestionRequest, schema: Schema, asked: Question | None
) -> Iterator[tuple[OtherText, QuestionRequest]]:
    """Return what may be asked instead, each with what is other about it."""
    dataset = schema.dataset
    column = _unit_column(request.sql, schema)
    if column is None:
        return
    for other in other_texts(request.sql, dataset.unit, column):
        yield other, replace(request, sql=other.sql)
    for share in _SHARES:
        rows = request.bounds.max_rows_per_unit or _declared_rows(request.sql, schema)
        if (fewer := ceil(rows * share)) < rows:
            most = counted(fewer, "row")
            detail = f"counts at most {most} of each {dataset.unit}"
            bounds = replace(request.bounds, max_rows_per_unit=fewer)
            other = OtherText("rows", request.sql, detail)
            yield other, replace(request, bounds=bounds)
    for share in _SHARES:
        groups = 1 if asked is None else _groups(asked)
        if (fewer := ceil(groups * share)) < groups:
            most = counted(fewer, "group")
            detail = f"counts each {dataset.unit} in at most {most}"
            bounds = replace(request.bounds, max_groups_per_unit=fewer)
            other = OtherText("groups", request.sql, detail)
            yield other, replace(request, bounds=bounds)


def _words(sql: str) -> frozenset[str]:
    return frozenset(token.text.lower() for token in lex(sql))


def _unit_column(sql: str, schema: Schema) -> str | None:
    """Return the unit column of the first private table that a text names."""
    words = _words(sql)
    return next(
        (
            table.unit_column
            for table in schema.dataset.tables.values()
            if table.unit_column is not None and table.name in words
        ),
        None,
    )


def _declared_rows(sql: str, schema: Schema) -> int:
    """Return the most rows that one unit may have in a table that a text names."""
    words = _words(sql)
    return max(
        (
            table.max_rows_per_unit or 1
            for table in schema.dataset.tables.values()
            if table.name in words
        ),
        default=1,
    )


def _groups(asked: Question) -> int:
    """Return in how many groups one unit may be counted, by the dearest measure."""
    sensitivities = [measure.sensitivity for measure in asked.compiled.measures]
    return max((ceil(each.l1 / each.linf) for each in sensitivities), default=1)
