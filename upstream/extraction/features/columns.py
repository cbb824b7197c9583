"""What is known of tokens, as columns: attributes by name, and which token has each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NONE = -1
"""A token that has no attribute of a column."""

Indexes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Column:
    """At most one attribute for each token.

    Attributes:
        names: The attributes that occur.
        at: For each token, which of them it has, or ``NONE``.
        value: How much of it each token has; None: 1 for all.
    """

    names: tuple[str, ...]
    at: Indexes
    value: npt.NDArray[np.float64] | None = None


def column(attributes: Sequence[str | None]) -> Column:
    """Return the column of these attributes, one for each token.

    >>> column(["a", None, "a"])
    Column(names=('a',), at=array([ 0, -1,  0]), value=None)
    """
    numbers: dict[str, int] = {}
    at = [
        NONE if name is None else numbers.setdefault(name, len(numbers))
        for name in attributes
    ]
    return Column(tuple(numbers), np.array(at, dtype=np.int64))


def shifted(moved: Column, distance: int) -> Column:
    """Return what the token ``distance`` further on has, under names that say so.

    >>> shifted(column(["a", "b"]), 1)
    Column(names=('1|a', '1|b'), at=array([ 1, -1]), value=None)
    """
    at = np.full_like(moved.at, NONE)
    if distance > 0:
        at[:-distance] = moved.at[distance:]
    else:
        at[-distance:] = moved.at[:distance]
    return Column(tuple(f"{distance}|{name}" for name in moved.names), at)


def beside(columns: Iterable[Column], distance: int) -> list[Column]:
    """Return the columns of the tokens ``distance`` further on."""
    return [shifted(each, distance) for each in columns if len(each.at) > abs(distance)]
