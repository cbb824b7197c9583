"""Questions to published releases: free, of public or granted numbers alone.

No budget is looked at and nothing is charged or written down: an answer is a function
of the text and of what was published.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Final

from release.contract.answers import ReleaseAnswer
from release.contract.ids import is_release_id
from release.cubes.questions.evaluating.keeping import Keeper
from server.use_cases.identity.access import Caller
from server.use_cases.releases import replies
from server.use_cases.releases.answers import (
    release_columns,
    release_half_widths,
    release_intervals,
    release_rows,
    release_undecided,
)
from server.use_cases.releases.catalogue import ReleaseCatalogue
from server.use_cases.releases.opened import OpenReleases, is_cube
from server.use_cases.releases.times import PublicationRow
from server.use_cases.releases.trees import WantedBranch, branch_document
from server.use_cases.services.documents import encode
from server.use_cases.services.errors import BusyError
from server.use_cases.services.services import Services, today

KEPT_BYTES: Final = 32 * 2**20
"""Of answers that are kept, their questions counted: nothing that they are made of ever
changes."""

KEPT_EACH_BYTES: Final = 65_536
AT_ONCE: Final = 2
WAITING: Final = 8
"""Questions that are answered or wait; the threads of paid questions are not theirs.

Each takes a bounded number of steps, so who has a place is answered, however long those
before take: by no clock is anybody turned away.
"""

_BUSY: Final = "too many questions to releases are under way"


class ReleaseQueryService:
    """Answers questions to published releases."""

    def __init__(self, services: Services, open_releases: OpenReleases) -> None:
        self._services = services
        self._catalogue = ReleaseCatalogue(services)
        self._open_releases = open_releases
        self._answers: Keeper[str, bytes] = Keeper(KEPT_BYTES, KEPT_EACH_BYTES)
        self._working = BoundedSemaphore(AT_ONCE)
        self._waiting = BoundedSemaphore(WAITING)

    def ask(self, caller: Caller, named: str, sql: str, confidence: str) -> bytes:
        """Answer a question.

        Args:
            caller: Who asks.
            named: The release, by its id or its name.
            sql: One SELECT from the release's name.
            confidence: Of each interval by itself, a decimal text.

        Raises:
            NotFoundError: There is no such release, or it is not the caller's.
            QueryError: The text is refused, with rule, place and hint.
            BusyError: All places are taken.
        """
        row = self._row(caller, named)
        key = f"{row.id}\0{confidence}\0{sql}"
        kept = self._answers.get(key)
        if kept is not None:
            return kept
        body = self._answer(row, sql, confidence)
        self._answers.put(key, body, len(key.encode()) + len(body))
        return body

    def branch(
        self, caller: Caller, named: str, wanted: WantedBranch
    ) -> replies.TreeBranch:
        """Return a branch of a published tree.

        Raises:
            NotFoundError: There is no such release, or it is not the caller's, or it
                holds no sequences.
            InvalidOptionError: The branch names what the release does not declare.
            BusyError: All places are taken.
        """
        row = self._row(caller, named)
        with self._place():
            return branch_document(self._open_releases.sequences(row), wanted)

    def _row(self, caller: Caller, named: str) -> PublicationRow:
        """Return a release that the caller may read now; a refusal is not kept.

        Nor is what a name means: it may be another release's by the next question.
        """
        if not is_release_id(named):
            return self._catalogue.row(caller, named)
        return self._services.catalogue.get(
            ("release", caller, named, today()),
            lambda _: self._catalogue.row(caller, named),
        )

    def _answer(self, row: PublicationRow, sql: str, confidence: str) -> bytes:
        whole = is_cube(row)
        tree = self._services.parser(sql, sequences=not whole)
        with self._place():
            opened = (
                self._open_releases.asked(row)
                if whole
                else self._open_releases.sequences(row)
            )
            answer = opened.ask(tree, confidence)
        return encode(answer_document(str(row.id), str(row.snapshot), answer))

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Hold one of the places where questions are answered."""
        if not self._waiting.acquire(blocking=False):
            raise BusyError(_BUSY)
        try:
            with self._working:
                yield
        finally:
            self._waiting.release()


def answer_document(
    release: str, snapshot: str, answer: ReleaseAnswer
) -> replies.ReleaseAnswer:
    """Return an answer in the shapes of CONTRACT 5."""
    undecided = release_undecided(answer)
    more: replies.Undecidedness = {"undecided": undecided} if undecided else {}
    return {
        "release": release,
        "snapshot": snapshot,
        "columns": release_columns(answer),
        "rows": release_rows(answer),
        "intervals": release_intervals(answer),
        "half_widths": release_half_widths(answer),
        **more,
        "price": "0",
        "derivation": answer.derivation,
        "warnings": [
            {"code": warning.code, "detail": warning.detail}
            for warning in answer.warnings
        ],
    }
