"""Pairs of neighbouring words and shapes, as attributes of a token."""

from collections.abc import Iterator
from typing import NamedTuple

from upstream.extraction.features.words import shape

BEFORE, BEHIND = "<", ">"
"""What stands before the first token, and behind the last."""


class PairKind(NamedTuple):
    """A kind of pairs: which two of three neighbours, and whether their shapes.

    Attributes:
        name: What its attributes begin with, before ``=``.
        first: How far off the first of the two is: -1, 0 or 1.
        second: How far off the second is.
        is_of_shapes: Whether shapes are meant, and not words in lower case.
    """

    name: str
    first: int
    second: int
    is_of_shapes: bool


PAIRS = (
    PairKind("W-W", -1, 0, is_of_shapes=False),
    PairKind("WW+", 0, 1, is_of_shapes=False),
    PairKind("W-+", -1, 1, is_of_shapes=False),
    PairKind("S-S", -1, 0, is_of_shapes=True),
    PairKind("SS+", 0, 1, is_of_shapes=True),
)


def pair_attributes(words: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield, for each kind, the attribute of each token.

    >>> list(pair_attributes(("Ann", "Lee")))[0]
    ['W-W=< ann', 'W-W=ann lee']
    """
    count = len(words)
    lower = (BEFORE, *(word.lower() for word in words), BEHIND)
    shapes = (BEFORE, *(shape(word) for word in words), BEHIND)
    for kind in PAIRS:
        said = shapes if kind.is_of_shapes else lower
        first, second = said[1 + kind.first :], said[1 + kind.second :]
        both = zip(first[:count], second[:count], strict=True)
        yield [f"{kind.name}={one} {other}" for one, other in both]
