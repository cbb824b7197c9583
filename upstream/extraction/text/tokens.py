"""Words, numbers and signs of a text, each with its offsets."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]

_TOKEN = re.compile(r"[^\W\d_]+|\d+|_|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text, in order: runs of letters, runs of digits, single signs.

    A letter beside a digit begins a new token, so that a span may end between them;
    white space belongs to none.

    Attributes:
        text: The text.
        words: What each token says.
        starts: Offset of each one's first character, in code points.
        ends: Offset behind each one's last.
    """

    text: str
    words: tuple[str, ...]
    starts: Offsets
    ends: Offsets

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.words)


def tokenize(text: str) -> Tokens:
    """Return the tokens of a text.

    >>> tokens = tokenize("SH-02-22222, 6/22/01")
    >>> tokens.words
    ('SH', '-', '02', '-', '22222', ',', '6', '/', '22', '/', '01')
    >>> tokens.starts.tolist()[:3]
    [0, 2, 3]
    """
    found = [match.span() for match in _TOKEN.finditer(text)]
    bounds = np.array(found, dtype=np.int64).reshape(-1, 2)
    words = tuple(text[start:end] for start, end in found)
    return Tokens(text, words, bounds[:, 0], bounds[:, 1])
