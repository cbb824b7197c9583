"""Long source texts, cut down to a digest as soon as they are read.

What no column may keep is not carried through a load: one text of 60 MB, or a thousand
of 1 MB, would fill its memory. Whatever the files hold, a row carries at most
``carried_bytes`` of a column.
"""

import hashlib

from upstream.manifests.declarations import ColumnSpec

CARRIED_BYTES = 1_000
"""Bytes of UTF-8 of a source text that are always carried and hashed as they are."""

_LABEL = "sha256:"
MARK = "\0" + _LABEL
"""How what stands for a longer text begins; a text that really does counts as long."""

_MARK_SQL = f"concat(chr(0), '{_LABEL}')"


def size_bytes(text: str) -> int:
    """Return the bytes of UTF-8 of a text."""
    return len(text.encode())


def carried_bytes(column: ColumnSpec) -> int:
    """Return the most bytes of a source text that a column's rules may need whole."""
    texts = (*column.map, *column.null_values)
    return max(CARRIED_BYTES, column.length_bytes, *map(size_bytes, texts), 0)


def carried_text(raw: str | None, most_bytes: int) -> str | None:
    r"""Return a source text, or what stands for it where it is longer.

    >>> carried_text("ab", 2), carried_text("abc", 2)[:11]
    ('ab', '\x00sha256:3:b')
    """
    if raw is None or size_bytes(raw) <= most_bytes:
        return raw
    return f"{MARK}{size_bytes(raw)}:{hashlib.sha256(raw.encode()).hexdigest()}"


def carried_sql(raw: str, most_bytes: int) -> str:
    """Return the DuckDB expression of ``carried_text``."""
    digest = f"concat({_MARK_SQL}, strlen({raw}), ':', sha256({raw}))"
    return f"CASE WHEN strlen({raw}) > {most_bytes} THEN {digest} ELSE {raw} END"


def is_long(text: str, most_bytes: int) -> bool:
    """Whether a text, or the one that it stands for, has more than so many bytes."""
    return text.startswith(MARK) or size_bytes(text) > most_bytes


def is_long_sql(text: str, most_bytes: int) -> str:
    """Return the DuckDB condition of ``is_long``."""
    return f"(starts_with({text}, {_MARK_SQL}) OR strlen({text}) > {most_bytes})"
