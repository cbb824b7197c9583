"""Two values side by side, with what differs marked."""

from difflib import SequenceMatcher
from typing import Final

Segment = tuple[str, bool]
"""A part of a value, and whether the other value has something else there."""

_MOST: Final = 500  # characters that are compared: a longer value is one difference


def marked(left: str, right: str) -> tuple[list[Segment], list[Segment]]:
    """Return both values in segments; joined, they are the values.

    >>> marked("Meier", "Maier")
    ([('M', False), ('e', True), ('ier', False)], [('M', False), ('a', True), ('ier', False)])
    """  # noqa: E501 - what Python prints
    if not left or not right:  # what is missing differs from nothing
        return [(left, False)] * bool(left), [(right, False)] * bool(right)
    if max(len(left), len(right)) > _MOST:
        return [(left, left != right)], [(right, left != right)]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    ours: list[Segment] = []
    theirs: list[Segment] = []
    for what, i, j, k, m in matcher.get_opcodes():
        ours += [(left[i:j], what != "equal")] * (i < j)
        theirs += [(right[k:m], what != "equal")] * (k < m)
    return ours, theirs
