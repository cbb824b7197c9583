"""A private table of what was found in a collection, with each value's origin."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from server.persistence.text_tables import text_origin
from server.use_cases.extraction.pipelines.files import (
    Column,
    DateRule,
    Pipeline,
    Rows,
)
from server.use_cases.extraction.store.slices import Row
from server.use_cases.extraction.store.texts import Collection, StoredDocument
from server.use_cases.extraction.work import TextParts
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.extraction.models.union import Risk, union
from upstream.extraction.normalising.outcomes import Normalised
from upstream.extraction.terms.terms import TermModel
from upstream.extraction.text.spans import Span

_ORIGINS = 1_000  # that are held at once
_ASKED_ABOUT = 0.05  # of dates that are impossible: a wrong order makes half of them


@dataclass(frozen=True, slots=True)
class Found:
    """A collection, and the models that went over it, by their ids."""

    collection: Collection
    models: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Made:
    """A value of a row.

    Attributes:
        value: The value, if there is one.
        span: What it was made of; None: a field, or nothing.
        doubt: What is to be counted: why there is no value, or why it is unsure.
    """

    value: str | None
    span: Span | None
    doubt: str | None = None


class TableMaker:
    """Makes a table's file of a collection and what models found in it."""

    def __init__(
        self, parts: TextParts, context: JobContext, pipeline: Pipeline, found: Found
    ) -> None:
        self._parts = parts
        self._context = context
        self._slices = parts.slices(context)
        self._found = found
        self._spans = _Spans(parts, pipeline, found)
        self._rows = pipeline.table.rows
        self._columns = [pipeline.table.unit, *pipeline.table.columns]
        self._read = {one.name: one.rule.normaliser() for one in self._columns}
        self._held: list[Row] = []
        self._filled: set[str] = set()
        self._present = Counter(
            {one.name: 0 for one in self._columns if one.rule.kind == "present"}
        )
        self._without: dict[str, Counter[str]] = {
            one.name: Counter() for one in self._columns
        }

    def make(self, path: Path) -> Document:
        """Write the table and the origins of its values; return what was counted.

        Raises:
            CommandRefusedError: It has no row, or no row is anybody's.
        """
        self._forget()
        row = 0
        path.touch(mode=0o600)
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow([one.name for one in self._columns])
            for document, made in self._made():
                row += 1
                table.writerow([one.value for one in made])
                self._remember(row, document, made)
                self._context.progress("make the table", row, None)
            self._remember_all()
        collection = self._found.collection
        if self._parts.collection(collection.population, collection.name) != collection:
            message = "the collection was deleted meanwhile: nothing was loaded"
            raise CommandRefusedError(message)
        counted = self._without.items()
        without = {name: dict(counts) for name, counts in counted if counts}
        empty = [one.name for one in self._columns if one.name not in self._filled]
        self._require_rows(row, empty)
        warnings = [
            f"{name} has no value in any row: {_listed(self._without[name])}"
            for name in empty
        ]
        warnings += self._doubts(row)
        return {
            "rows": row,
            "present": dict(self._present),
            "without_value": without,
            "warnings": warnings,
        }

    def _doubts(self, rows: int) -> Iterator[str]:
        """Yield what of the table is probably not meant, in sentences."""
        unit = self._columns[0]
        nobodys = self._without[unit.name]
        if count := nobodys.total():
            yield (
                f"{count} of {rows} rows have no value for the unit column {unit.name} "
                f"({_listed(nobodys)}): they are dropped"
            )
        for column in self._columns:
            counts = self._without[column.name]
            dates, wrong = rows - counts["missing"], counts["impossible"]
            if isinstance(column.rule, DateRule) and wrong > _ASKED_ABOUT * dates:
                order = column.rule.order or "none is written"
                yield (
                    f"{column.name}: {wrong} of {dates} dates are impossible: is its "
                    f"order right ({order})?"
                )

    def _require_rows(self, rows: int, empty: Sequence[str]) -> None:
        """Refuse to load nothing: it would be asked as if it were somebody."""
        unit = self._columns[0]
        if rows == 0:
            of_what = (
                f"span of the type {self._rows.span!r}"
                if isinstance(self._rows, Rows)
                else "document"
            )
            message = f"the table has no row: the collection has no {of_what}"
            raise CommandRefusedError(message)
        if unit.name in empty:
            message = (
                f"no row has a value for the unit column {unit.name}: of "
                f"{rows} fields {unit.field!r}, {_listed(self._without[unit.name])}"
            )
            raise CommandRefusedError(message)

    def _made(self) -> Iterator[tuple[int, list[_Made]]]:
        for page in self._parts.pages(self._found.collection.id):
            found = self._spans.of(range(page[0].number, page[-1].number + 1))
            for one in page:
                for made in self._rows_of(one, found.get(one.number, ())):
                    yield one.number, made

    def _rows_of(
        self, one: StoredDocument, spans: tuple[Span, ...]
    ) -> Iterator[list[_Made]]:
        """Yield the row of a document, or the row of each span of a type.

        Of other types all its rows say the same, which is looked for once: a note may
        have very many of both.
        """
        if not isinstance(self._rows, Rows):
            yield [self._value(column, one, spans) for column in self._columns]
            return
        kind = self._rows.span
        own = [span for span in spans if span.label == kind]
        if not own:
            return
        others = tuple(span for span in spans if span.label != kind)
        shared = {
            column.name: self._value(column, one, others)
            for column in self._columns
            if column.span != kind
        }
        for span in own:
            yield [
                shared.get(column.name) or self._value(column, one, (span,))
                for column in self._columns
            ]

    def _value(
        self, column: Column, one: StoredDocument, spans: tuple[Span, ...]
    ) -> _Made:
        if column.field is not None:
            text = one.document.fields.get(column.field, "")
            return _told(self._read_text(column, text))
        fitting = self._fitting(column, one.document.text, spans)
        if column.rule.kind == "present":
            return _Made("true", fitting[0]) if fitting else _Made("false", None)
        first: Normalised | None = None
        for span in fitting:
            said = one.document.text[span.start : span.end]
            if column.rule.kind == "meaning":
                said = self._spans.meaning(span, said)
            read = self._read[column.name](said)
            if read.value is not None:
                return _Made(read.value, span)
            first = first or read
        return _told(first)

    def _fitting(
        self, column: Column, text: str, spans: tuple[Span, ...]
    ) -> list[Span]:
        """Return the spans that a column may be made of, the one to take first."""
        least, meanings = float(column.least_score), set(column.meanings)
        fitting = [
            span
            for span in spans
            if span.label == column.span
            and span.score >= least
            and column.takes_denied(is_denied=span.is_denied)
            and (
                not meanings
                or self._spans.meaning(span, text[span.start : span.end]) in meanings
            )
        ]
        if column.take == "last":
            fitting.reverse()
        elif column.take == "surest":
            fitting.sort(key=lambda span: -span.score)
        return fitting

    def _read_text(self, column: Column, text: str) -> Normalised | None:
        return self._read[column.name](text) if text.strip() else None

    def _forget(self) -> None:
        """Delete the origins that an earlier attempt wrote."""
        self._slices.delete(text_origin, text_origin.c.job == self._context.job_id)

    def _remember(self, row: int, document: int, made: list[_Made]) -> None:
        for column, one in zip(self._columns, made, strict=True):
            if one.doubt is not None:
                self._without[column.name][one.doubt] += 1
            if one.value is None:
                continue
            self._filled.add(column.name)
            if column.rule.kind == "present":
                self._present[column.name] += one.value == "true"
            self._held.append(
                {
                    "job": self._context.job_id,
                    "row": row,
                    "column": column.name,
                    "collection": self._found.collection.id,
                    "document": document,
                    "finder": "" if one.span is None else one.span.source,
                    "start": None if one.span is None else one.span.start,
                    "end": None if one.span is None else one.span.end,
                }
            )
        if len(self._held) >= _ORIGINS:
            self._remember_all()

    def _remember_all(self) -> None:
        self._slices.insert(text_origin, self._held)
        self._held = []


def _told(said: Normalised | None) -> _Made:
    """Return what was read as a value; None: there was nothing to read."""
    if said is None:
        return _Made(None, None, "missing")
    return _Made(said.value, None, None if said.doubt is None else str(said.doubt))


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())


class _Spans:
    """The spans of documents, of one model or of several together."""

    def __init__(self, parts: TextParts, pipeline: Pipeline, found: Found) -> None:
        self._parts = parts
        self._found = found
        self._terms = [one for one in map(self._opened, found.models) if one]
        health = {kind: Risk.HEALTH for one in self._terms for kind in one.types}
        told = {kind: Risk[risk.upper()] for kind, risk in pipeline.risks.items()}
        self._risks = {**health, **told}

    def _opened(self, model: str) -> TermModel | None:
        """Return a model of terms, and None for one of another kind."""
        opened = self._parts.opened(model)
        return opened if isinstance(opened, TermModel) else None

    def of(self, numbers: range) -> dict[int, tuple[Span, ...]]:
        """Return spans, by the numbers of their documents.

        What several models found is one set: whatever one of them found is kept.
        """
        by_model = [self._by(model, numbers) for model in self._found.models]
        if len(by_model) == 1:
            return by_model[0]
        return {
            number: union((found.get(number, ()) for found in by_model), self._risks)
            for number in numbers
        }

    def _by(self, model: str, numbers: range) -> dict[int, tuple[Span, ...]]:
        """Return a model's spans; the model is their source."""
        with self._parts.databases.reader.connect() as connection:
            found = self._parts.spans.spans(
                connection, self._found.collection.id, model, numbers
            )
        return {
            number: tuple(replace(span, source=model) for span in spans)
            for number, spans in found.items()
        }

    def meaning(self, span: Span, said: str) -> str:
        """Return what a span stands for: the words themselves, in lower case, if none.

        Args:
            span: The span.
            said: Its text.
        """
        for terms in self._terms:
            meaning = terms.meaning(span.label, said)
            if meaning is not None:
                return meaning
        return " ".join(said.lower().split())
