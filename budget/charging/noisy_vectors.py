"""A paid answer, stored as the document that is sent and, after it, its noisy vectors.

The document shows what was asked for: perhaps few of the cells, an average for its sum
and count. All that was measured was paid for, and answers the same question shown
otherwise. So the vectors are stored behind the document, on a line of their own, under
the same digest in the chain; no document has a line break in it. Answers that were
stored before have none.
"""

_BREAK = b"\n"


def with_vectors(document: bytes, vectors: bytes) -> bytes:
    """Return the bytes that are stored; without vectors the document itself.

    Raises:
        ValueError: There is a line break in one of them.
    """
    if not vectors:
        return document
    if _BREAK in document or _BREAK in vectors:
        message = "a document or its vectors hold a line break"
        raise ValueError(message)
    return document + _BREAK + vectors


def document_of(stored: bytes) -> bytes:
    """Return the document that was sent."""
    return stored.partition(_BREAK)[0]


def vectors_of(stored: bytes) -> bytes | None:
    """Return the vectors behind it, None where there are none."""
    return stored.partition(_BREAK)[2] or None
