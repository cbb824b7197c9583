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
    unit, words = schema.dataset.unit, {t.text.lower() for t in lex(request.sql)}
    named = [table for name, table in schema.dataset.tables.items() if name in words]
    private = [table for table in named if table.unit_column is not None]
    if not private:
        return
    for other in other_texts(request.sql, unit, str(private[0].unit_column)):
        yield other, replace(request, sql=other.sql)
    declared = max(table.max_rows_per_unit or 1 for table in private)
    for fewer in _fewer(request.bounds.max_rows_per_unit or declared):
        detail = f"counts at most {counted(fewer, 'row')} of each {unit}"
        bounds = replace(request.bounds, max_rows_per_unit=fewer)
        other = OtherText("rows", request.sql, detail)
        yield other, replace(request, bounds=bounds)
    for fewer in _fewer(1 if asked is None else _groups(asked)):
        detail = f"counts each {unit} in at most {counted(fewer, 'group')}"
        bounds = replace(request.bounds, max_groups_per_unit=fewer)
        other = OtherText("groups", request.sql, detail)
        yield other, replace(request, bounds=bounds)


def _fewer(most: int) -> Iterator[int]:
    """Yield a half and a quarter of a bound, where that is less."""
    found = dict.fromkeys(ceil(most * share) for share in _SHARES)
    yield from (fewer for fewer in found if fewer < most)


def _groups(asked: Question) -> int:
    """Return in how many groups one unit may be counted, by the dearest measure."""
    sensitivities = [measure.sensitivity for measure in asked.compiled.measures]
    return max((ceil(each.l1 / each.linf) for each in sensitivities), default=1)
