"""Spans as rows: what was found in a collection, and by whom."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from server.persistence.text_tables import text_finding, text_span
from server.use_cases.extraction.store.slices import Guard, Slices
from server.use_cases.extraction.store.texts import UNFINISHED, WHOLE
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.services import now_text
from upstream.extraction.text.spans import Span


@dataclass(frozen=True, slots=True)
class Finding:
    """A finder's spans in a collection: whose, and which job looks for them."""

    collection: str
    finder: str
    job: str
    actor: str


class FindingLostError(CommandRefusedError):
    """A finding was deleted, or is another job's now."""


def finding_guard(collection: str, finder: str, job: str) -> Guard:
    """Return what lets a job write or delete spans while the finding is its own."""
    table = text_finding
    held = (
        select(table.c.job)
        .where(
            table.c.collection == collection,
            table.c.finder == finder,
            table.c.job == job,
        )
        .with_for_update()
    )

    def guard(connection: Connection) -> None:
        if connection.execute(held).first() is None:
            message = "the collection was deleted meanwhile: nothing more was stored"
            raise FindingLostError(message)

    return guard


class SpanStore:
    """The tables of spans; what writes is given its transaction, or slices of many."""

    def begin_finding(self, connection: Connection, new: Finding) -> None:
        """Make a finding that nobody sees yet; once for its job.

        Raises:
            CommandRefusedError: The finder went over the collection already.
        """
        table = text_finding
        held = connection.execute(
            select(table.c.job).where(
                table.c.collection == new.collection, table.c.finder == new.finder
            )
        ).scalar_one_or_none()
        if held == new.job:
            return
        if held is not None:
            message = f"{new.finder} went over this collection already ({held})"
            raise CommandRefusedError(message)
        connection.execute(
            insert(table).values(
                collection=new.collection,
                finder=new.finder,
                job=new.job,
                state=UNFINISHED,
                created=now_text(),
                created_by=new.actor,
            )
        )

    def insert_spans(
        self,
        slices: Slices,
        collection: str,
        finder: str,
        found: Mapping[int, Sequence[Span]],
    ) -> None:
        """Write the spans of documents, by the documents' numbers."""
        rows = (
            {
                "collection": collection,
                "finder": finder,
                "document": document,
                "number": number,
                "start": span.start,
                "end": span.end,
                "label": span.label,
                "score": span.score,
                "source": span.source,
                "denied": span.is_denied,
            }
            for document, spans in found.items()
            for number, span in enumerate(spans)
        )
        slices.insert(text_span, rows)

    def delete_behind(
        self, slices: Slices, collection: str, finder: str, after: int = 0
    ) -> None:
        """Delete a finder's spans in the documents behind a number."""
        slices.delete(
            text_span,
            text_span.c.collection == collection,
            text_span.c.finder == finder,
            text_span.c.document > after,
        )

    def finish_finding(
        self, connection: Connection, collection: str, finder: str, job: str
    ) -> None:
        """Let the spans be seen that a job found by a finder.

        Raises:
            FindingLostError: The collection was deleted meanwhile.
        """
        finding_guard(collection, finder, job)(connection)
        connection.execute(
            update(text_finding)
            .where(
                text_finding.c.collection == collection,
                text_finding.c.finder == finder,
            )
            .values(state=WHOLE)
        )

    def finders(self, connection: Connection, collection: str) -> dict[str, int]:
        """Return who went over a collection, and how many spans each found."""
        rows = connection.execute(
            select(text_finding.c.finder, func.count(text_span.c.number))
            .join(
                text_span,
                (text_span.c.collection == text_finding.c.collection)
                & (text_span.c.finder == text_finding.c.finder),
                isouter=True,
            )
            .where(
                text_finding.c.collection == collection,
                text_finding.c.state == WHOLE,
            )
            .group_by(text_finding.c.finder)
            .order_by(text_finding.c.finder)
        ).all()
        return {finder: count for finder, count in rows}  # noqa: C416 - rows are typed

    def labels(
        self, connection: Connection, collection: str, finder: str
    ) -> dict[str, int]:
        """Return how many spans of each type a finder found."""
        rows = connection.execute(
            select(text_span.c.label, func.count())
            .where(text_span.c.collection == collection, text_span.c.finder == finder)
            .group_by(text_span.c.label)
            .order_by(text_span.c.label)
        ).all()
        return {label: count for label, count in rows}  # noqa: C416 - as above

    def spans(
        self, connection: Connection, collection: str, finder: str, numbers: range
    ) -> dict[int, tuple[Span, ...]]:
        """Return the spans of documents in order, by the documents' numbers.

        Args:
            connection: Of the transaction that reads.
            collection: Whose documents.
            finder: Who found them.
            numbers: Of the documents; one without spans is not in what is returned.
        """
        table = text_span
        rows = connection.execute(
            select(table)
            .where(
                table.c.collection == collection,
                table.c.finder == finder,
                table.c.document >= numbers.start,
                table.c.document < numbers.stop,
            )
            .order_by(table.c.document, table.c.number)
        ).all()
        found: dict[int, list[Span]] = {}
        for row in rows:
            span = Span(
                row.start, row.end, row.label, row.score, row.source, row.denied
            )
            found.setdefault(row.document, []).append(span)
        return {document: tuple(spans) for document, spans in found.items()}

    def delete_of(self, slices: Slices, job: str) -> None:
        """Delete what a job found and did not finish.

        Others may delete it too, and another job then find the same: nothing is
        deleted once the finding is not this job's.
        """
        table = text_finding
        with slices.reader() as connection:
            findings = connection.execute(
                select(table.c.collection, table.c.finder).where(
                    table.c.job == job, table.c.state == UNFINISHED
                )
            ).all()
        for collection, finder in findings:
            own = slices.guarded(finding_guard(collection, finder, job))
            theirs = table.c.collection == collection, table.c.finder == finder
            with suppress(FindingLostError):
                self.delete_behind(own, collection, finder)
                slices.delete(table, *theirs, table.c.job == job)

    def findings_of(self, connection: Connection, prefix: str) -> list[Finding]:
        """Return the findings of finders whose names begin so."""
        table = text_finding
        rows = connection.execute(
            select(table).where(table.c.finder.startswith(prefix, autoescape=True))
        )
        return [
            Finding(row.collection, row.finder, row.job, row.created_by) for row in rows
        ]

    def delete_finding(self, slices: Slices, finding: Finding) -> None:
        """Delete a finder's spans in a collection, and that it went over it."""
        table = text_finding
        self.delete_behind(slices, finding.collection, finding.finder)
        theirs = table.c.collection == finding.collection
        slices.delete(table, theirs, table.c.finder == finding.finder)

    def unfinished_jobs(self, connection: Connection) -> set[str]:
        """Return the jobs that look for spans, or did, and did not finish."""
        return set(
            connection.execute(
                select(text_finding.c.job).where(text_finding.c.state == UNFINISHED)
            ).scalars()
        )
