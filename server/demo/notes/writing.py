"""From wordings to texts, with the offsets of all that is marked in them.

In a wording, ``[a|b]`` stands for one of the two, ``{slot}`` for something that the
note's writer knows, and ``{LABEL:words}`` for words that are marked.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from server.demo.notes.people import pick
from upstream.extraction.text.spans import Span

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{([^{}]*)\}")
_WORD = re.compile(r"[A-Za-z]{5,}")
_LEAST_LINE = 20


@dataclass(frozen=True, slots=True)
class Segment:
    """Words, and what they are marked as; None: nothing."""

    text: str
    label: str | None = None


Slots = Mapping[str, Callable[[], Segment]]


def segments(rng: np.random.Generator, wording: str, slots: Slots) -> list[Segment]:
    """Return a wording with its choices made and its slots filled."""
    while _CHOICE.search(wording):
        wording = _CHOICE.sub(lambda found: pick(rng, found[1].split("|")), wording)
    found = []
    for number, part in enumerate(_SLOT.split(wording)):
        if number % 2:
            found.append(_filled(part, slots))
        elif part:
            found.append(Segment(part))
    return found


def _filled(slot: str, slots: Slots) -> Segment:
    label, colon, words = slot.partition(":")
    return Segment(words, label) if colon else slots[slot]()


def misspelt(
    rng: np.random.Generator, parts: Iterable[Segment], rate: float
) -> list[Segment]:
    """Return segments in which a part of the longer words is misspelt."""

    def mistyped(found: re.Match[str]) -> str:
        word = found[0]
        if rng.random() >= rate:
            return word
        at = int(rng.integers(1, len(word) - 2))
        return pick(
            rng,
            (
                word[:at] + word[at + 1 :],
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + word[at] + word[at:],
            ),
        )

    return [replace(each, text=_WORD.sub(mistyped, each.text)) for each in parts]


def joined(parts: Iterable[Segment]) -> tuple[str, tuple[Span, ...]]:
    """Return the text of segments, and the spans of those that are marked.

    >>> joined([Segment("seen by "), Segment("Lee", "DOCTOR")])[1][0].start
    8
    """
    texts, spans, reached = [], [], 0
    for each in parts:
        texts.append(each.text)
        if each.label is not None:
            spans.append(Span(reached, reached + len(each.text), each.label))
        reached += len(each.text)
    return "".join(texts), tuple(spans)


def wrapped(text: str, width: int) -> str:
    """Return a text whose lines break at a width, with every character in its place."""
    lines, line_length = list(text), 0
    last_space = -1
    for at, character in enumerate(text):
        line_length = 0 if character == "\n" else line_length + 1
        if character == " ":
            last_space = at
        if line_length > width and last_space > at - line_length + _LEAST_LINE:
            lines[last_space] = "\n"
            line_length, last_space = at - last_space, -1
    return "".join(lines)


def broken(rng: np.random.Generator, text: str, rate: float) -> str:
    """Return a text with line breaks where nobody would put them, instead of spaces."""
    return re.sub(" ", lambda _: "\n" if rng.random() < rate else " ", text)
