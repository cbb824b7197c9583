"""A private table of what was found in a collection, with each value's origin."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from server.persistence.text_tables import text_origin
from server.use_cases.extraction.pipelines.files import (
    DateRule,
    Rows,
    Table,
)
from server.use_cases.extraction.pipelines.found_spans import FoundSpans
from server.use_cases.extraction.pipelines.values import Made, Values
from server.use_cases.extraction.store.slices import Row
from server.use_cases.extraction.store.texts import StoredDocument
from server.use_cases.extraction.work import TextParts
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from upstream.extraction.text.spans import Span

_ORIGINS = 1_000  # that are held at once
_ASKED_ABOUT = 0.05  # of dates that are impossible: a wrong order makes half of them


class TableMaker:
    """Makes a table's file of a collection and what models found in it."""

    def __init__(
        self,
        parts: TextParts,
        context: JobContext,
        table: Table,
        spans: FoundSpans,
        pages: Iterator[list[StoredDocument]] | None = None,
    ) -> None:
        """Make nothing yet.

        Args:
            parts: The stores.
            context: Of the job.
            table: What the table is made of.
            spans: A collection's.
            pages: Its documents, where they have fields that are not stored.
        """
        self._parts = parts
        self._context = context
        self._slices = parts.slices(context)
        self._spans = spans
        self._pages = pages
        self._rows = table.rows
        self._columns = [table.unit, *table.columns]
        self._values = Values(self._columns, self._spans.meaning)
        self._held: list[Row] = []
        self._filled: set[str] = set()
        self._present = Counter(
            {one.name: 0 for one in self._columns if one.rule.kind == "present"}
        )
        self._without: dict[str, Counter[str]] = {
            one.name: Counter() for one in self._columns
        }
        self._passed: dict[str, Counter[str]] = {
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
        collection = self._spans.collection
        if self._parts.collection(collection.population, collection.name) != collection:
            message = "the collection was deleted meanwhile: nothing was loaded"
            raise CommandRefusedError(message)
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
            "without_value": _counted(self._without),
            "passed_over": _counted(self._passed),
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

    def _made(self) -> Iterator[tuple[int, list[Made]]]:
        for page in self._pages or self._parts.pages(self._spans.collection.id):
            found = self._spans.of(range(page[0].number, page[-1].number + 1))
            for one in page:
                for made in self._rows_of(one, found.get(one.number, ())):
                    yield one.number, made

    def _rows_of(
        self, one: StoredDocument, spans: tuple[Span, ...]
    ) -> Iterator[list[Made]]:
        """Yield the row of a document, or the row of each span of a type.

        Of other types all its rows say the same, which is looked for once: a note may
        have very many of both.
        """
        if not isinstance(self._rows, Rows):
            yield [self._values.value(column, one, spans) for column in self._columns]
            return
        kind = self._rows.span
        own = [span for span in spans if span.label == kind]
        if not own:
            return
        others = tuple(span for span in spans if span.label != kind)
        shared = {
            column.name: self._values.value(column, one, others)
            for column in self._columns
            if column.span != kind
        }
        for span in own:
            yield [
                shared.get(column.name) or self._values.value(column, one, (span,))
                for column in self._columns
            ]

    def _forget(self) -> None:
        """Delete the origins that an earlier attempt wrote."""
        self._slices.delete(text_origin, text_origin.c.job == self._context.job_id)

    def _remember(self, row: int, document: int, made: list[Made]) -> None:
        for column, one in zip(self._columns, made, strict=True):
            if one.doubt is not None:
                self._without[column.name][one.doubt] += 1
            if one.passed is not None:
                self._passed[column.name][one.passed] += 1
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
                    "collection": self._spans.collection.id,
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


def _counted(each: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {name: dict(counts) for name, counts in each.items() if counts}


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items())
