"""Which published tables would have answered what was asked; texts alone are read.

For custodians who think of a release. Every question of the last days is compiled
against the active snapshot, at a loss that a release might spend; no row, no answer and
no noisy number is looked at.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import Connection, select
from typing_extensions import TypedDict

from budget.reading.statements import ChargeLine, read_charges
from mechanisms.scales.noises import noise_of_measure
from privacy.errors import CuratorError
from privacy.losses import Loss
from query_lang.advising.clauses import outermost
from query_lang.advising.union_texts import union_text
from query_lang.plans.compiled import KeyShown
from query_lang.plans.costs import PAID
from query_lang.rendering.dialect import Target
from query_lang.showing.decimals import decimal_text
from server.persistence import tables
from server.use_cases.identity.access import Grant, snapshot_grant
from server.use_cases.questions.questions import Compiler, prepare, request_of
from server.use_cases.questions.requests import QuestionRequest, with_loss
from server.use_cases.questions.studies.asked import MISS, Asked
from server.use_cases.questions.studies.layouts import (
    Gridded,
    KnownRows,
    MeasureLayout,
    layouts_of,
)
from server.use_cases.questions.studies.least_squares import Fit
from server.use_cases.questions.studies.steps import Steps
from server.use_cases.questions.wishes.ranges import LossRange
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.services import Services

MOST_QUESTIONS: Final = 200
"""Different questions that are looked at, those asked most often first."""
_MOST_GROWN: Final = 20  # questions to which the keys of others are added
_MOST_CELLS: Final = 300_000  # looked for in tables: a command may take a while


class AnsweredQuestion(TypedDict):
    """A question that a table would have answered."""

    sql: str
    """Its text, as somebody asked it."""
    asked: int
    """How often it was asked."""
    half_width: str | None
    """At 95 %, of its widest number; null where there are too many kinds of them."""


class AdvisedTable(TypedDict):
    """A table that would have answered questions, were it published."""

    sql: str
    """Its text."""
    keys: list[str]
    """Its keys: what the dimensions of a cube would be."""
    cells: int
    """How many it has."""
    asked: int
    """How often its questions were asked."""
    further: int
    """Of these, those that no table before it answers."""
    paid: str
    """What its questions were charged, by all projects together."""
    questions: list[AnsweredQuestion]
    """Its questions, those asked most often first."""


class Advice(TypedDict):
    """Tables that would have answered what was asked of a dataset."""

    dataset: str
    """Which dataset."""
    since: str
    """The day from which questions are looked at."""
    loss: str
    """That each table would spend, in what the population counts."""
    asked: int
    """How often something was asked since then."""
    different: int
    """How many different texts that were."""
    read: int
    """How many of these compile now, and count or add up cells."""
    tables: list[AdvisedTable]
    """The one that answers most first, then those that answer most of the rest."""


@dataclass(frozen=True, slots=True)
class _Past:
    """A question that was asked: how often, and what was paid for it."""

    asked: Asked
    times: int
    paid: int  # nano-units


@dataclass(frozen=True, slots=True)
class _Tried:
    """A table, and the questions that follow from it, by place."""

    request: QuestionRequest
    gridded: Gridded
    layouts: Mapping[int, Sequence[MeasureLayout]]


class ReleaseAdviser:
    """Reads what was asked, and finds tables that would have answered it."""

    def __init__(self, services: Services) -> None:
        self._services = services
        target = Target(services.dialect, PAID)
        self._compiler = Compiler(services.parser, target)
        self._rows = KnownRows(Steps(), _MOST_CELLS)

    def advise(self, dataset: str, loss: Loss, *, days: int, most: int) -> Advice:
        """Return the tables that would have answered most of what was asked.

        Args:
            dataset: Whose questions.
            loss: That each table would spend.
            days: How far to look back.
            most: So many tables.

        Raises:
            NotFoundError: There is no such dataset.
        """
        since = (datetime.now(UTC) - timedelta(days=days)).date().isoformat()
        with self._services.databases.reader.connect() as connection:
            lines = list(_lines(connection, dataset, since))
            grants = _grants(connection, dataset, lines)
        texts = Counter(text for line in lines for text in _texts(line))
        past = list(self._past(lines, texts, grants, loss))
        chosen = _chosen(list(self._tried(past, grants, loss)), past, most)
        return {
            "dataset": dataset,
            "since": since,
            "loss": str(loss),
            "asked": texts.total(),
            "different": len(texts),
            "read": len(past),
            "tables": [_table(table, past, further) for table, further in chosen],
        }

    def _past(
        self,
        lines: Sequence[ChargeLine],
        texts: "Counter[str]",
        grants: Mapping[str, Grant],
        loss: Loss,
    ) -> Iterator[_Past]:
        """Yield the questions that count or add up cells, most often asked first."""
        projects = {text: line.project for line in lines for text in _texts(line)}
        paid = Counter[str]()
        for line in lines:
            several = list(_texts(line))
            for text in several:
                paid[text] += line.loss.nano_epsilon // len(several)
        for text, times in texts.most_common(MOST_QUESTIONS):
            asked = self._asked(grants[projects[text]], request_of(text), loss)
            if asked is not None and asked.adds_up:
                yield _Past(asked, times, paid[text])

    def _asked(
        self, grant: Grant, request: QuestionRequest, loss: Loss
    ) -> Asked | None:
        request = with_loss(request, loss, grant.measure.word)
        losses = LossRange(loss, loss, grant.measure)
        try:
            question = prepare(self._compiler, grant, losses, request)
        except CuratorError:
            return None  # the dataset has changed since
        return Asked(request, Gridded.of(question))

    # -- tables -----------------------------------------------------------------

    def _tried(
        self, past: Sequence[_Past], grants: Mapping[str, Grant], loss: Loss
    ) -> Iterator[_Tried]:
        """Yield tables with the questions that follow from each."""
        grant = next(iter(grants.values()), None)
        seen: set[str] = set()
        unlike = {(one.sql, one.bounds): one for one in _requests(past)}
        for request in unlike.values():
            table = None if grant is None else self._asked(grant, request, loss)
            if table is None or table.question.identity in seen:
                continue
            seen.add(table.question.identity)
            layouts = {
                n: found
                for n, one in enumerate(past)
                if (found := self._follows(table, one.asked)) is not None
            }
            yield _Tried(table.request, table.gridded, layouts)

    def _follows(self, table: Asked, asked: Asked) -> list[MeasureLayout] | None:
        """Return how a question follows from a table; None where it does not."""
        if not asked.gridded.whats <= table.gridded.whats:
            return None
        return layouts_of(table.gridded, (), (asked.gridded,), self._rows)


def _lines(connection: Connection, dataset: str, since: str) -> Iterator[ChargeLine]:
    """Yield what was asked of a dataset, charged or free, since a day."""
    population = connection.execute(
        select(tables.dataset.c.population).where(tables.dataset.c.name == dataset)
    ).scalar()
    if population is None:
        raise NotFoundError
    for line in read_charges(connection, population=population):
        is_asked = line.dataset == dataset and line.project  # releases have no project
        if is_asked and line.time >= since and any(_texts(line)):
            yield line


def _grants(
    connection: Connection, dataset: str, lines: Iterable[ChargeLine]
) -> dict[str, Grant]:
    """Return the grant of each project that asked, on the active snapshot."""
    snapshot = connection.execute(
        select(tables.dataset.c.active_snapshot).where(tables.dataset.c.name == dataset)
    ).scalar_one()
    projects = {line.project for line in lines}
    return {
        name: snapshot_grant(connection, project=name, snapshot=snapshot)
        for name in sorted(projects)
    }


def _texts(line: ChargeLine) -> Iterator[str]:
    """Yield the questions of a charge as JSON without what differs by chance."""
    told = json.loads(line.request_json)
    if "study" in told:
        several = told["study"]["questions"]
    else:
        several = [told] if "sql" in told else []
    for one in several:
        same = {**one, "project": "", "snapshot": ""}
        for name in ("epsilon", "rho", "refines", "total", "goes_on_from"):
            same.pop(name, None)
        yield json.dumps(same, sort_keys=True)


def _requests(past: Sequence[_Past]) -> Iterator[QuestionRequest]:
    """Yield tables to try: the questions, and unions that grow by one question."""
    requests = [one.asked.request for one in past]
    yield from requests
    for start, first in enumerate(requests[:_MOST_GROWN]):
        grown = first
        for other in requests[start + 1 :]:
            if other.bounds != first.bounds:
                continue
            sql = union_text(grown.sql, other.sql)
            if sql is not None:
                grown = replace(grown, sql=sql, weights=())
                yield grown


def _chosen(
    tried: Sequence[_Tried], past: Sequence[_Past], most: int
) -> Iterator[tuple[_Tried, int]]:
    """Yield the table that answers most of what those before it do not.

    Of several that answer as much, the one with fewer cells.
    """
    left = {n: one.times for n, one in enumerate(past)}
    for _ in range(most):
        gains = [(sum(left.get(n, 0) for n in one.layouts), one) for one in tried]
        gain, best = max(
            gains,
            key=lambda each: (each[0], -each[1].gridded.question.compiled.row_count),
            default=(0, None),
        )
        if best is None or gain == 0:
            return
        yield best, gain
        left = {n: times for n, times in left.items() if n not in best.layouts}


def _table(table: _Tried, past: Sequence[_Past], further: int) -> AdvisedTable:
    answered = sorted(table.layouts, key=lambda n: -past[n].times)
    text = outermost(table.request.sql)
    columns = table.gridded.question.compiled.columns
    items = () if text is None else text.items
    keys = [
        item
        for item, column in zip(items, columns, strict=False)
        if isinstance(column.shown, KeyShown)
    ]
    return {
        "sql": table.request.sql,
        "keys": [table.request.sql[item.start : item.end] for item in keys],
        "cells": table.gridded.question.compiled.row_count,
        "asked": sum(past[n].times for n in answered),
        "further": further,
        "paid": str(Loss(sum(past[n].paid for n in answered))),
        "questions": [
            {
                "sql": past[n].asked.request.sql,
                "asked": past[n].times,
                "half_width": _half_width(table, table.layouts[n]),
            }
            for n in answered
        ],
    }


def _half_width(table: _Tried, layouts: Sequence[MeasureLayout]) -> str | None:
    """Return the widest 95 % half-width of a question, made of a table."""
    question, found = table.gridded.question, []
    noise = noise_of_measure(question.event.measure)
    for one in layouts:
        if not one.wanted:
            continue
        scale = question.event.vectors[one.measure].scale
        widths = Fit(one.layout, noise, (scale,)).widths(0, MISS)
        if widths is None:
            return None
        measure = question.compiled.measures[one.measure]
        found.append((max(widths), measure.scale))
    widest = max(found, key=lambda each: each[0] / 10 ** each[1])
    return decimal_text(*widest)
