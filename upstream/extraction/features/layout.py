"""Where in a document a token stands: white space, lines, and fields such as ``Name:``.

The global features of DAST (Liu et al. 2017, module 1.1), for notes with headers.
"""

import re
from bisect import bisect_right
from collections import defaultdict

import numpy as np

from upstream.extraction.features.columns import (
    Column,
    Indexes,
    numbered,
    sparse_column,
)
from upstream.extraction.text.tokens import Tokens

_FIRST_LINES, _LAST_LINES = 25, 4
_LONGEST_KEY = 3  # tokens of a field's name that are looked at
_GAPS = ("", "_", "N")  # no white space, some, a line break
_LONGEST = 8  # tokens of a segment that are told apart
_DIVIDERS = frozenset(",.;:()[]")
_SIGNS_IN_KEYS = frozenset("/.ºª°-")


def _up_to(name: str, last: int) -> tuple[str, ...]:
    return tuple(f"{name}{number}" for number in range(last + 1))


_LEFT, _RIGHT = (tuple(f"{side}={gap}" for gap in _GAPS) for side in ("LEFT", "RIGHT"))
_LINES, _LINES_LEFT = _up_to("LINE", _FIRST_LINES), _up_to("LINE-", _LAST_LINES)
_SINCE, _SEGMENT_LENGTHS = _up_to("SINCE", _LONGEST), _up_to("SEGLEN", _LONGEST)
_COUNT = ("COUNT",)


def lines_of(tokens: Tokens) -> Indexes:
    """Return the line of each token, from 0."""
    breaks = [match.start() for match in re.finditer("\n", tokens.text)]
    return np.searchsorted(np.array(breaks, dtype=np.int64), tokens.starts)


def layout_columns(tokens: Tokens, line: Indexes) -> list[Column]:
    """Return what stands around each token, and how far its line is from either end.

    Of this and the others here: there is a token, and ``line`` are ``lines_of`` them.
    """
    count = int(line[-1]) + 1
    gaps = _gaps(tokens, line)
    from_end = np.minimum(count - 1 - line, _LAST_LINES)
    return [
        Column("LEFT", _LEFT, gaps[:-1]),
        Column("RIGHT", _RIGHT, gaps[1:]),
        Column("LINE", _LINES, np.minimum(line, _FIRST_LINES)),
        Column("LINE-", _LINES_LEFT, from_end),
    ]


def _gaps(tokens: Tokens, line: Indexes) -> Indexes:
    """Return the kind of gap before the first token, between them, and at the end."""
    between = (tokens.starts[1:] > tokens.ends[:-1]).astype(np.int64)
    between[line[1:] > line[:-1]] = _GAPS.index("N")
    edge = np.full(1, _GAPS.index("N"), dtype=np.int64)
    return np.concatenate([edge, between, edge])


def field_columns(tokens: Tokens, line: Indexes) -> list[Column]:
    """Return which field's value each token is in, and in which other it stands, too.

    A field is named by up to three tokens before a colon, and ends with its line. What
    stands in a field somewhere, as a name does in a header, is likely the same thing
    where it is repeated.
    """
    keys, at = _fields(tokens, line)
    elsewhere: dict[str, set[str]] = defaultdict(set)
    named = np.flatnonzero(at > 0)
    for number, field in zip(named.tolist(), at[named].tolist(), strict=True):
        word = tokens.words[number]
        if len(word) > 1 and (word[0].isupper() or word.isdigit()):
            elsewhere[word].add(keys[field])
    others = [
        None if found is None else _other(found, keys[field])
        for found, field in zip(
            map(elsewhere.get, tokens.words), at.tolist(), strict=True
        )
    ]
    fields = Column("FIELD", tuple(f"FIELD={key}" for key in keys), at)
    return [fields, sparse_column("ALSO", others)]


def _other(found: set[str], field: str) -> str | None:
    others = found - {field}
    return f"ALSO={min(others)}" if others else None


def _fields(tokens: Tokens, line: Indexes) -> tuple[list[str], Indexes]:
    """Return the fields' names, of no field first, and which one each token is in."""
    begins = np.flatnonzero(np.diff(line, prepend=-1)).tolist()
    colons = [at for at, word in enumerate(tokens.words) if word == ":"]
    names: dict[str, int] = {"": 0}
    changes = dict.fromkeys(begins, 0)
    for colon in colons:
        first = begins[bisect_right(begins, colon) - 1]
        key = _key(tokens.words[max(first, colon - _LONGEST_KEY) : colon])
        changes[colon] = names.setdefault(key, len(names))
    places = sorted(changes)
    lengths = np.diff([*places, len(tokens)])
    at = np.repeat(np.array([changes[place] for place in places], np.int64), lengths)
    return list(names), at


def _key(words: tuple[str, ...]) -> str:
    key: list[str] = []
    for word in reversed(words):
        if not word.isalpha() and word not in _SIGNS_IN_KEYS:
            break
        key.append(word.lower())
    return " ".join(reversed(key))


def segment_columns(tokens: Tokens, line: Indexes) -> list[Column]:
    """Return what a token's segment begins with, how far on it is, and what follows.

    A segment is what stands between commas, full stops, brackets and line breaks, as
    the parts of an address do.
    """
    breaks = np.array([word in _DIVIDERS for word in tokens.words])
    begins = np.diff(line, prepend=-1) > 0
    begins[1:] |= breaks[:-1]
    number = np.cumsum(begins) - 1
    firsts = np.flatnonzero(begins)
    lengths = np.diff([*firsts.tolist(), len(tokens)])
    opening = [tokens.words[at].lower() for at in firsts.tolist()]
    has_digit = np.zeros(len(firsts), dtype=np.int64)
    has_digit[number[[word.isdigit() for word in tokens.words]]] = 1
    names, told = numbered(
        [
            f"{'#' if digit else ''}{word}"
            for word, digit in zip(opening, has_digit.tolist(), strict=True)
        ]
    )
    since = np.arange(len(tokens)) - firsts[number]
    followed = np.arange(firsts[-1])  # the last segment has none behind it
    behind = told[number[followed] + 1]
    length = np.minimum(lengths[number], _LONGEST)
    return [
        Column("SEGMENT", tuple(f"SEGMENT={name}" for name in names), told[number]),
        Column("NEXT", tuple(f"NEXT={name}" for name in names), behind, followed),
        Column("SINCE", _SINCE, np.minimum(since, _LONGEST)),
        Column("SEGLEN", _SEGMENT_LENGTHS, length),
    ]


def count_column(words: tuple[str, ...]) -> Column:
    """Return how often each token occurs, divided by how many tokens there are.

    Source: HIDE, section 4.4.4.

    Args:
        words: The tokens in lower case.
    """
    _, numbers = numbered(words)
    counts = np.bincount(numbers)[numbers]
    at = np.zeros(len(words), dtype=np.int64)
    return Column("COUNT", _COUNT, at, value=counts / len(words))
