"""Ages as a tree of intervals, each level some years wide."""

from collections.abc import Sequence
from itertools import pairwise

from upstream.trajectories.codes.tree import CodeTree, tree_of


def age_tree(first: int, last: int, widths: Sequence[int] = (2, 4, 8)) -> CodeTree:
    """Return a tree of ages in years: leaves ``33``, intervals ``[33-34]``.

    Intervals begin at ``first``; the last of a level may be shorter. Where the widest
    level has several, the root above them is the interval of all ages. Figure 5 of
    Tamersoy 2011 is ``age_tree(33, 40)``; its evaluation has
    ``age_tree(1, 128, (2, 4, 8, 16, 32, 64, 128))``.

    Args:
        first: The youngest age.
        last: The oldest one.
        widths: Of the intervals in years, each a multiple of the one before.

    Raises:
        ValueError: There is no age, or a width is no multiple of the one before.
    """
    if last <= first:
        message = "a tree of ages has at least two"
        raise ValueError(message)
    used = [1]
    for width in widths:
        if width <= used[-1] or width % used[-1]:
            message = "widths grow, each a multiple of the one before"
            raise ValueError(message)
        used.append(width)
    while len(used) > 1 and used[-1] > last - first:
        used.pop()
    used.append(last - first + 1)  # the root, however wide
    parents: dict[str, str] = {}
    for width, wider in pairwise(used):
        for start in range(first, last + 1, width):
            above = first + (start - first) // wider * wider
            child = _name(start, min(last, start + width - 1), width)
            parents[child] = _name(above, min(last, above + wider - 1), wider)
    levels = [f"{width} years" for width in used[:0:-1]]
    return tree_of(parents, [*levels, "1 year"])


def _name(first: int, last: int, width: int) -> str:
    """Return an interval's name; an interval of one age is no leaf."""
    return str(first) if width == 1 else f"[{first}-{last}]"
