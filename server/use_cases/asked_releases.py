"""Questions to published releases: free, of public or granted numbers alone.

No budget is looked at and nothing is charged or written down: an answer is a function
of the text and of what was published.
"""

from threading import BoundedSemaphore
from typing import Final

from privacy.schema_json import scalar_to_json
from release.questions.answering import CubeAnswer
from server.use_cases.access import Caller
from server.use_cases.answers import Document, encode
from server.use_cases.opened_releases import Kept, PublicationRow, ReleaseRoom
from server.use_cases.release_shelf import ReleaseShelf
from server.use_cases.services import Services, today

ANSWERS: Final = 1_024
"""Answers that are kept: nothing that they are made of ever changes."""

AT_ONCE: Final = 2
_KEPT_BYTES: Final = 65_536


class ReleaseDesk:
    """Where releases are asked."""

    def __init__(self, services: Services, room: ReleaseRoom) -> None:
        self._services = services
        self._shelf = ReleaseShelf(services)
        self._room = room
        self._answers: Kept[bytes] = Kept(ANSWERS)
        self._working = BoundedSemaphore(AT_ONCE)

    def ask(self, caller: Caller, release_id: str, sql: str, confidence: str) -> bytes:
        """Answer a question.

        Args:
            caller: Who asks.
            release_id: Of the release.
            sql: One SELECT from the release's name.
            confidence: Of each interval by itself, a decimal text.

        Raises:
            NotFoundError: There is no such release, or it is not the caller's.
            QueryError: The text is refused, with rule, place and hint.
        """
        row = self._row(caller, release_id)
        key = f"{release_id}\0{confidence}\0{sql}"
        return self._answers.get(key, lambda: self._answer(row, sql, confidence))

    def _row(self, caller: Caller, release_id: str) -> PublicationRow:
        """Return a release that the caller may read now; a refusal is not kept."""
        return self._services.catalogue.get(
            ("release", caller, release_id, today()),
            lambda _: self._shelf.row(caller, release_id),
        )

    def _answer(self, row: PublicationRow, sql: str, confidence: str) -> bytes:
        tree = self._services.parser(sql)
        with self._working:
            answer = self._room.asked(row).ask(tree, confidence)
        return encode(answer_document(str(row.id), str(row.snapshot), answer))


def answer_document(release: str, snapshot: str, answer: CubeAnswer) -> Document:
    """Return an answer in the shapes of CONTRACT 5."""
    return {
        "release": release,
        "snapshot": snapshot,
        "columns": columns_of(answer),
        "rows": rows_of(answer),
        "intervals": intervals_of(answer),
        "half_widths": [
            {"column": name, "confidence": answer.confidence, "rows": list(widths)}
            for name, widths in answer.half_widths.items()
        ],
        "price": "0",
        "derivation": answer.derivation,
        "warnings": [
            {"code": warning.code, "detail": warning.detail}
            for warning in answer.warnings
        ],
    }


def columns_of(answer: CubeAnswer) -> list[Document]:
    """Describe an answer's columns."""
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "type": column.type.value,
            "unit": column.unit,
        }
        for column in answer.columns
    ]


def rows_of(answer: CubeAnswer) -> list[list[object]]:
    """Return the rows in JSON's types."""
    return [
        [None if value is None else scalar_to_json(value) for value in row]
        for row in answer.rows
    ]


def intervals_of(answer: CubeAnswer) -> list[Document]:
    """Describe each measure's intervals, a pair of texts a row."""
    return [
        {
            "column": each.column,
            "confidence": answer.confidence,
            "rows": [None if ends is None else list(ends) for ends in each.rows],
        }
        for each in answer.intervals
    ]
