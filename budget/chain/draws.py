"""Questions whose noise was drawn and whose answer could not be stored.

They are noted in the anchor's file, behind its records: whoever restores the data does
not restore them with it. The room of each note was written before, and is written over
in place, so that a full disk takes it too. A process that does not have the answer any
more fails a charge that is noted, since a second draw could be asked for by what the
first one was. Proof: docs/proofs/ledger.md, claim 5.
"""

import os
from collections.abc import Collection
from typing import Final

NOTE_BYTES: Final = 64
"""Of one note: a question's id, padded with zeros. It lies within one sector."""
MOST_NOTES: Final = 1_024
"""More than all processes of one ledger keep (``KeptAnswers``)."""
_SHORT = "a note was written short"
_FULL = "no more questions can be noted"


class DrawNotes:
    """The notes in an open file, from an offset on.

    Args:
        descriptor: Of the file.
        offset: Of the first note, in bytes.
    """

    def __init__(self, descriptor: int, offset: int) -> None:
        self._descriptor = descriptor
        self._offset = offset

    def reserve(self) -> None:
        """Write the room of all notes where the file ends before it, and sync it.

        Raises:
            OSError: There is no room.
        """
        end = self._offset + MOST_NOTES * NOTE_BYTES
        size = os.fstat(self._descriptor).st_size
        if size < end:
            self._put(bytes(end - size), size)
            os.fsync(self._descriptor)

    def noted(self) -> frozenset[str]:
        """Return the ids of all questions that are noted."""
        return frozenset(query_id for query_id in self._read() if query_id)

    def note(self, query_id: str) -> None:
        """Note a question, durably.

        Raises:
            OSError: It could not be made durable, or there are too many.
        """
        notes = self._read()
        if query_id in notes:
            os.fsync(self._descriptor)
            return
        words = query_id.encode()
        if "" not in notes or not 0 < len(words) <= NOTE_BYTES:
            raise OSError(_FULL)
        place = self._offset + notes.index("") * NOTE_BYTES
        self._put(words.ljust(NOTE_BYTES, b"\0"), place)
        os.fsync(self._descriptor)

    def forget(self, query_ids: Collection[str]) -> None:
        """Delete the notes of some questions.

        Raises:
            OSError: They cannot be written.
        """
        for place, query_id in enumerate(self._read()):
            if query_id in query_ids:
                self._put(bytes(NOTE_BYTES), self._offset + place * NOTE_BYTES)

    def _read(self) -> list[str]:
        """Return the ids, place by place; empty where there is no note."""
        raw = os.pread(self._descriptor, MOST_NOTES * NOTE_BYTES, self._offset)
        return [
            raw[start : start + NOTE_BYTES].rstrip(b"\0").decode("ascii", "replace")
            for start in range(0, len(raw), NOTE_BYTES)
        ]

    def _put(self, content: bytes, place: int) -> None:
        if os.pwrite(self._descriptor, content, place) != len(content):
            raise OSError(_SHORT)
