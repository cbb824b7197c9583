"""Bodies that are longer than a slice: their row holds the first part of them.

The further parts are rows of ``text_part``. A body is closed whole before it is cut, so
that a part that was changed, lost or put elsewhere is found when it is opened.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, select

from server.persistence.text_tables import text_part
from server.use_cases.extraction.store.slices import Row, Slices
from server.use_cases.services.text_cipher import TextKeyError

PART_BYTES: Final = 65_536
_CUT, _COUNT_BYTES = b"\2", 4  # beside the ways in which a body is closed


def cut(owner: str, number: int, body: bytes) -> tuple[bytes, list[Row]]:
    """Return what a row holds of a body, and the rows of its further parts.

    Args:
        owner: A collection's id, or a model's.
        number: The document's; of a model 0.
        body: As it was closed.
    """
    if len(body) <= PART_BYTES:
        return body, []
    starts = range(PART_BYTES, len(body), PART_BYTES)
    rows: list[Row] = [
        {
            "owner": owner,
            "number": number,
            "part": part,
            "body": body[start : start + PART_BYTES],
        }
        for part, start in enumerate(starts, 1)
    ]
    return _CUT + len(rows).to_bytes(_COUNT_BYTES) + body[:PART_BYTES], rows


def joined(
    connection: Connection, owner: str, heads: Mapping[int, bytes]
) -> dict[int, bytes]:
    """Return bodies as they were closed, by their numbers.

    Raises:
        TextKeyError: A part is missing.
    """
    numbers = [number for number, head in heads.items() if head[:1] == _CUT]
    parts = _parts(connection, owner, numbers)
    return {
        number: _whole(head, parts[number]) if number in parts else head
        for number, head in heads.items()
    }


def _parts(
    connection: Connection, owner: str, numbers: Iterable[int]
) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for number in numbers:
        rows = connection.execute(
            select(text_part.c.body)
            .where(text_part.c.owner == owner, text_part.c.number == number)
            .order_by(text_part.c.part)
        )
        found[number] = list(rows.scalars())
    return found


def _whole(head: bytes, further: list[bytes]) -> bytes:
    start = len(_CUT) + _COUNT_BYTES
    if int.from_bytes(head[len(_CUT) : start]) != len(further):
        message = "a part of a text or model is missing: restore a backup"
        raise TextKeyError(message)
    return b"".join((head[start:], *further))


def delete_parts(slices: Slices, owner: str, *, after: int = -1) -> None:
    """Delete the further parts of what an owner has behind a number."""
    theirs = text_part.c.owner == owner, text_part.c.number > after
    slices.delete(text_part, *theirs)
