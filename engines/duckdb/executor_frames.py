"""What a server and its executors say to each other: frames over two pipes.

A frame is its length in eight bytes, then as many bytes. A plan travels as JSON, whose
dates and decimals are marked; vectors come back as plain 64-bit integers. Neither side
can make the other run anything, as a pickle could.
"""

import json
import struct
import sys
from array import array
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from privacy.schema import Scalar
from query_lang.plans.rendered import RenderedPlan, Statement

HEADER: Final = struct.Struct("<Q")
FILLED: Final = b"v"
FAILED: Final = b"f"
_MAKERS: Final[dict[str, Callable[[str], Scalar]]] = {
    "decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}
_WIDTH: Final = array("q").itemsize


class FrameError(Exception):
    """The other side said what it may not say."""


def framed(payload: bytes) -> bytes:
    """Return a payload with its length before it."""
    return HEADER.pack(len(payload)) + payload


def write_plan(snapshot: str, plan: RenderedPlan, seconds: float) -> bytes:
    """Return a request: run this plan, for so many seconds at most."""
    document = {
        "snapshot": snapshot,
        "seconds": seconds,
        "vector_count": plan.vector_count,
        "statements": [
            {
                "sql": statement.sql,
                "parameters": statement.parameters,
                "places": statement.places,
                "vectors": statement.vectors,
                "empty": statement.empty,
            }
            for statement in plan.statements
        ],
    }
    return json.dumps(document, default=_marked).encode()


def read_plan(document: dict[str, object]) -> tuple[str, RenderedPlan, float]:
    """Return the snapshot's id, the plan, and the seconds that it may take."""
    match document:
        case {
            "snapshot": str(snapshot),
            "seconds": float(seconds),
            "vector_count": int(count),
            "statements": list(statements),
        }:
            made = tuple(_statement(statement) for statement in statements)
            return snapshot, RenderedPlan(made, (), count, ()), seconds
        case _:
            raise FrameError


def read_json(payload: bytes) -> dict[str, object]:
    """Return a request's document, with its dates and decimals."""
    document = json.loads(payload, object_hook=_unmarked)
    if not isinstance(document, dict):
        raise FrameError
    return document


def write_vectors(vectors: Sequence[Sequence[int]]) -> bytes:
    """Return a reply: each vector's values, one vector after the other.

    >>> read_vectors(write_vectors([[1, -2], [3]]), [2, 1])
    [(1, -2), (3,)]
    """
    values = array("q")
    for vector in vectors:
        values.extend(vector)
    return FILLED + _little(values).tobytes()


def read_vectors(reply: bytes, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the vectors of a reply.

    Args:
        reply: That starts with ``FILLED``.
        sizes: How many values each vector has.

    Raises:
        FrameError: It holds more or fewer values.
    """
    if reply[:1] != FILLED or len(reply) - 1 != sum(sizes) * _WIDTH:
        raise FrameError
    values = array("q")
    values.frombytes(memoryview(reply)[1:])
    _little(values)
    vectors, start = [], 0
    for size in sizes:
        vectors.append(tuple(values[start : start + size]))
        start += size
    return vectors


def vector_sizes(plan: RenderedPlan) -> list[int]:
    """Return how many values each vector of a plan has.

    Raises:
        FrameError: Its statements do not fill each vector once.
    """
    sizes = {
        vector: len(statement.places)
        for statement in plan.statements
        for vector in statement.vectors
    }
    filled = sum(len(statement.vectors) for statement in plan.statements)
    if filled != len(sizes) or sizes.keys() != set(range(plan.vector_count)):
        raise FrameError
    return [sizes[vector] for vector in range(plan.vector_count)]


def _little(values: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _marked(value: object) -> dict[str, str]:
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    raise FrameError


def _unmarked(found: dict[str, object]) -> object:
    if len(found) == 1:
        ((mark, text),) = found.items()
        if mark in _MAKERS and isinstance(text, str):
            return _MAKERS[mark](text)
    return found


def _statement(document: dict[str, object]) -> Statement:
    match document:
        case {
            "sql": str(sql),
            "parameters": list(parameters),
            "places": list(places),
            "vectors": list(vectors),
            "empty": list(empty),
        }:
            keys = tuple(tuple(place) for place in places)
            given = tuple(parameters), keys, tuple(vectors), tuple(empty)
            return Statement(sql, *given)
        case _:
            raise FrameError
