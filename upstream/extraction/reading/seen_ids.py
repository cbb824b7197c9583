"""Which ids a source's documents had so far, on disk: a second one is set aside."""

import sqlite3
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Self

from upstream.extraction.reading.outcomes import Position

_DIGEST_BYTES = 16  # two of 2**32 ids are alike with probability 2**-65
_UNSAVED = 1000  # ids after which a file is written to


class SeenIds:
    """Remembers each id by its digest, and at which position it stood.

    A reading that stopped and goes on meets the ids behind its saved position again:
    at the same position an id is no duplicate.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open the file of a job, or a temporary one.

        Args:
            path: Keeps the ids from one reading to the next that goes on; without it
                they are forgotten.
        """
        self._connection = sqlite3.connect("" if path is None else path)
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS seen "
            "(id BLOB PRIMARY KEY, position BLOB NOT NULL) WITHOUT ROWID"
        )
        self._unsaved = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Save and close."""
        self.close()

    def is_new(self, document_id: str, position: Position) -> bool:
        """Whether no document at another position had an id; remember it."""
        where = (position.file, position.record, position.part)
        row = (_digest(document_id), _digest(repr(where)))
        done = self._connection.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", row)
        if not done.rowcount:
            held = self._connection.execute(
                "SELECT position FROM seen WHERE id = ?", row[:1]
            ).fetchone()
            return bool(held[0] == row[1])
        self._unsaved += 1
        if self._unsaved >= _UNSAVED:
            self.save()
        return True

    def save(self) -> None:
        """Write what is remembered to the file."""
        self._connection.commit()
        self._unsaved = 0

    def close(self) -> None:
        """Save and close the file."""
        self.save()
        self._connection.close()


def _digest(text: str) -> bytes:
    raw = text.encode("utf-8", errors="surrogatepass")
    return blake2b(raw, digest_size=_DIGEST_BYTES).digest()
