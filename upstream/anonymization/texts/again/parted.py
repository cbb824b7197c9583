"""Numbers and codes in a text, however they are parted: 555-0100, 555, 0100, AB_12."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from upstream.anonymization.texts.again.folded import FoldedText
from upstream.anonymization.texts.kinds import Kind

LEAST_DIGITS = 5
"""Of a number that is looked for in parts."""
LEAST_OF_A_CODE = 4
"""Letters and digits of a code that is looked for in parts."""
HARDLY_BY_CHANCE = 7
"""Signs of a number that is certain, whatever signs part it: one of shorter ones may
be two values of a list.
"""
DASHES: Final = r"\-\u2010-\u2015\u2212"
"""Inside brackets of a pattern."""
_MOST = 3  # signs between two digits
_SIGNS: Final = rf"[{DASHES}./,_() ]"
_NUMBERS: Final = re.compile(rf"[0-9](?:{_SIGNS}{{0,{_MOST}}}[0-9])*")
_GAP: Final = re.compile(rf"{_SIGNS}{{1,{_MOST}}}")
_USUAL: Final = re.compile(rf"[{DASHES}./() ]{{1,2}}| [{DASHES}] |_")
_Found = tuple[int, int, Kind, bool]
"""Where it begins and ends in the folded text, its kind, and whether it is certain."""


class PartedNumbers:
    """Looks for numbers, and for codes of letters and digits."""

    def __init__(self) -> None:
        self._numbers: dict[str, Kind] = {}
        self._codes: dict[str, Kind] = {}

    def take(self, kind: Kind, folded: str) -> None:
        """Take a number that is looked for."""
        code = "".join(sign for sign in folded if sign.isalnum())
        digits = re.sub(r"[^0-9]", "", folded)
        if len(digits) >= LEAST_DIGITS:
            self._numbers[digits] = kind
        if LEAST_OF_A_CODE <= len(code) != len(digits) > 0:
            self._codes[code] = kind

    def find(self, read: FoldedText) -> Iterator[_Found]:
        """Yield those that a text has."""
        for run in _NUMBERS.finditer(read.text):
            signs = [
                run.start() + at for at, sign in enumerate(run[0]) if sign.isdigit()
            ]
            yield from _found(self._numbers, signs, read, may_be_within=True)
        if self._codes:
            signs = [at for at, sign in enumerate(read.text) if sign.isalnum()]
            yield from _found(self._codes, signs, read, may_be_within=False)


def _found(
    known: Mapping[str, Kind],
    signs: list[int],
    read: FoldedText,
    *,
    may_be_within: bool,
) -> Iterator[_Found]:
    """Yield what is known among signs, of which others stand between."""
    compact = "".join([read.text[at] for at in signs])
    for one, kind in known.items():
        at = compact.find(one)
        while at >= 0:
            own = signs[at : at + len(one)]
            is_certain = _is_certain(own, read, may_be_within=may_be_within)
            if is_certain is not None:
                yield own[0], own[-1] + 1, kind, is_certain
            at = compact.find(one, at + (len(one) if is_certain else 1))


def _is_certain(
    own: list[int], read: FoldedText, *, may_be_within: bool
) -> bool | None:
    """Whether signs are certainly one number; None: they are none."""
    end = own[-1] + 1
    is_whole = not (
        (own[0] and read.text[own[0] - 1].isalnum())
        or read.text[end : end + 1].isalnum()
    )
    if not is_whole and not may_be_within:
        return None
    pairs = [pair for pair in pairwise(own) if pair[1] - pair[0] > 1]
    if not all(_GAP.fullmatch(read.text, one + 1, other) for one, other in pairs):
        return None
    is_usual = all(_is_usual(read, one, other) for one, other in pairs)
    if not may_be_within and len(own) < HARDLY_BY_CHANCE:
        return is_usual and len(pairs) <= 1
    return is_usual or (is_whole and len(own) >= HARDLY_BY_CHANCE)


def _is_usual(read: FoldedText, one: int, other: int) -> bool:
    """Whether numbers are usually parted so; not as the columns of a table are."""
    is_near = read.places[other] - read.places[one] <= other - one + 1
    return is_near and _USUAL.fullmatch(read.text, one + 1, other) is not None
