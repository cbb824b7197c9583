"""What is known of tokens, as columns: attributes by name, and which token has each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Indexes = npt.NDArray[np.int64]
NEAR = (-1, 1)
"""How far off are the tokens whose columns say something of a token, where near."""


@dataclass(frozen=True, slots=True)
class Column:
    """At most one attribute for each token.

    Attributes:
        kind: What it tells; a document has at most one column of a kind.
        names: The attributes that occur.
        at: Which of them each of ``tokens`` has.
        tokens: The tokens that have one, in order; None: all.
        value: How much of it each of ``tokens`` has; None: 1 for all.
        is_near: Whether the tokens beside have it, too, under names that say so.
    """

    kind: str
    names: tuple[str, ...]
    at: Indexes
    tokens: Indexes | None = None
    value: npt.NDArray[np.float64] | None = None
    is_near: bool = False

    def said(self) -> Iterator[tuple[int, str, float]]:
        """Yield each token that has an attribute, the attribute, and how much of it.

        >>> list(sparse_column("IN", [None, "a"]).said())
        [(1, 'a', 1.0)]
        """
        tokens = range(len(self.at)) if self.tokens is None else self.tokens.tolist()
        values = [1.0] * len(self.at) if self.value is None else self.value.tolist()
        for token, number, value in zip(tokens, self.at.tolist(), values, strict=True):
            yield token, self.names[number], value


def numbered(names: Sequence[str]) -> tuple[tuple[str, ...], Indexes]:
    """Return the names that occur, and which of them stands at each place.

    >>> numbered(["a", "b", "a"])
    (('a', 'b'), array([0, 1, 0]))
    """
    numbers: dict[str, int] = {}
    at = [numbers.setdefault(name, len(numbers)) for name in names]
    return tuple(numbers), np.array(at, dtype=np.int64)


def sparse_column(kind: str, attributes: Sequence[str | None]) -> Column:
    """Return the column of these attributes, one for each token or None."""
    tokens = [at for at, name in enumerate(attributes) if name is not None]
    names, at = numbered([name for name in attributes if name is not None])
    return Column(kind, names, at, np.array(tokens, dtype=np.int64))
