"""Hierarchies of numbers: intervals of growing widths."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.hierarchy import TOP, Hierarchy, hierarchy_of
from upstream.errors import Problem


def interval_hierarchy(
    name: str, numbers: Iterable[int], widths: Sequence[int], origin: int = 0
) -> Hierarchy:
    """Return a hierarchy of whole numbers by intervals, written "20-29".

    Args:
        name: What it is called in messages.
        numbers: The leaves, in any order; repeats count once.
        widths: Of the intervals of each level, in the unit of the column; each is a
            multiple of the one before.
        origin: Where intervals begin, in the unit of the column.

    Raises:
        HierarchyError: A width is no multiple of the one before, or there is no number.

    >>> interval_hierarchy("age", [25, 28, 31], [5, 10]).labels[1:]
    (('25-29', '30-34'), ('20-29', '30-39'), ('*',))
    """
    for narrow, wide in pairwise([1, *widths]):
        if wide <= 0 or wide % narrow:
            sentence = (
                f"intervals of {wide} do not nest in those of {narrow}: name widths "
                "of which each is a multiple of the one before"
            )
            raise HierarchyError((Problem(name, None, None, sentence),))
    return hierarchy_of(
        name,
        [
            (str(number), *(_interval(number, w, origin) for w in widths), TOP)
            for number in sorted(set(numbers))
        ],
    )


def _interval(number: int, width: int, origin: int) -> str:
    """Return the interval that a number lies in."""
    low = origin + (number - origin) // width * width
    return str(low) if width == 1 else f"{low}-{low + width - 1}"
