"""Boxes of neighbouring cells: how they are cut, spread, and met by questions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Boxes:
    """Disjoint boxes of one domain.

    Attributes:
        lower: (boxes, dimensions), first place of each box on each axis.
        upper: (boxes, dimensions), the place after its last one.
    """

    lower: IntArray
    upper: IntArray

    @classmethod
    def whole(cls, shape: Sequence[int]) -> "Boxes":
        """Return the one box that holds the whole domain."""
        upper = np.array([shape], dtype=np.int64)
        return cls(np.zeros_like(upper), upper)

    def __len__(self) -> int:
        """Return how many boxes there are."""
        return len(self.lower)

    @property
    def lengths(self) -> IntArray:
        """(boxes, dimensions), how many places each box has on each axis."""
        return self.upper - self.lower

    @property
    def volumes(self) -> IntArray:
        """How many cells each box has."""
        return np.asarray(np.prod(self.lengths, axis=1, dtype=np.int64))

    def take(self, kept: IntArray | NDArray[np.bool_]) -> "Boxes":
        """Return some of the boxes, in the order asked for."""
        return Boxes(self.lower[kept], self.upper[kept])


@dataclass(frozen=True, slots=True)
class Overlaps:
    """How many cells of which box a question counts in which group; never 0.

    Attributes:
        boxes: Number of the box.
        groups: Number of the group.
        cells: How many cells of that box lie in that group.
    """

    boxes: IntArray
    groups: IntArray
    cells: IntArray


def cut_boxes(boxes: Boxes, cuts: IntArray) -> tuple[Boxes, IntArray]:
    """Return the pieces of boxes that are cut into even grids.

    Args:
        boxes: What is cut.
        cuts: (boxes, dimensions), into how many pieces each axis is cut, 1 to its
            length.

    Returns:
        The pieces, box after box and each box's in C order; and which box each is of.
    """
    many = np.prod(cuts, axis=1, dtype=np.int64)
    parents = np.repeat(np.arange(len(boxes)), many)
    place = np.arange(len(parents)) - np.repeat(np.cumsum(many) - many, many)
    lower = np.empty((len(parents), boxes.lower.shape[1]), dtype=np.int64)
    upper = np.empty_like(lower)
    lengths = boxes.lengths
    for axis in reversed(range(lower.shape[1])):
        parts = cuts[parents, axis]
        place, step = np.divmod(place, parts)
        start, length = boxes.lower[parents, axis], lengths[parents, axis]
        lower[:, axis] = start + step * length // parts
        upper[:, axis] = start + (step + 1) * length // parts
    return Boxes(lower, upper), parents


def even_cuts(lengths: IntArray, targets: FloatArray, shape: Sequence[int]) -> IntArray:
    """Return cuts that bring each box near a number of pieces.

    Always the axis along which the pieces are longest, as a share of the domain's, is
    cut once more, as long as that comes closer to the target (in ratio): a short axis
    is cut as often as a long one, since questions take either apart.

    Args:
        lengths: (boxes, dimensions), of the boxes.
        targets: How many pieces each box should have.
        shape: Of the domain.

    >>> even_cuts(np.array([[128, 8], [9, 2]]), np.array([10.0, 4.0]), (128, 8))
    array([[3, 3],
           [2, 2]])
    """
    cuts = np.ones_like(lengths)
    goals = np.square(targets)
    going = np.arange(len(cuts))
    while len(going):
        now, most = cuts[going], lengths[going]
        axis = np.argmax(np.where(now < most, most / now / shape, 0.0), axis=1)
        row = np.arange(len(going))
        one = now[row, axis]
        pieces = np.prod(now, axis=1, dtype=np.float64)
        closer = pieces * (pieces / one * (one + 1)) <= goals[going]
        grows = closer & (one < most[row, axis])
        going = going[grows]
        cuts[going, axis[grows]] += 1
    return cuts


def spread(shape: Sequence[int], boxes: Boxes, totals: FloatArray) -> FloatArray:
    """Return cell values, C order, that spread each box's total evenly over it."""
    image = np.zeros([length + 1 for length in shape])
    density = totals / boxes.volumes
    for corner in range(2 ** len(shape)):
        ends = [(corner >> axis) & 1 for axis in range(len(shape))]
        place = tuple(
            (boxes.upper if end else boxes.lower)[:, axis]
            for axis, end in enumerate(ends)
        )
        np.add.at(image, place, density if sum(ends) % 2 == 0 else -density)
    for axis in range(len(shape)):
        np.cumsum(image, axis=axis, out=image)
    inner = tuple(slice(0, -1) for _ in shape)
    return np.ascontiguousarray(image[inner]).ravel()


def box_of_cells(shape: Sequence[int], boxes: Boxes) -> IntArray:
    """Return the box that each cell lies in, C order; the boxes cover the domain."""
    numbers = np.arange(len(boxes)) * boxes.volumes
    return np.rint(spread(shape, boxes, numbers.astype(np.float64))).astype(np.int64)


def overlaps(
    boxes: Boxes, codes: Sequence[IntArray], groups: Sequence[int]
) -> Overlaps:
    """Return how a question that is a product of sets meets boxes.

    Args:
        boxes: Of the domain.
        codes: For each dimension, each value's group, or -1 where it is left out.
        groups: For each dimension, how many groups it has.
    """
    number = np.arange(len(boxes))
    group = np.zeros(len(boxes), dtype=np.int64)
    cells = np.ones(len(boxes), dtype=np.int64)
    for axis, (of_values, count) in enumerate(zip(codes, groups, strict=True)):
        ends = np.stack([boxes.lower[:, axis], boxes.upper[:, axis]], axis=1)
        spans, span_of = np.unique(ends, axis=0, return_inverse=True)
        met = _spans_meet(spans, of_values, count)
        span = span_of.ravel()[number]
        first = np.searchsorted(met.boxes, np.arange(len(spans) + 1))
        many = np.diff(first)[span]
        row = np.repeat(np.arange(len(number)), many)
        step = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        entry = first[span][row] + step
        number = number[row]
        group = group[row] * count + met.groups[entry]
        cells = cells[row] * met.cells[entry]
    return Overlaps(number, group, cells)


def _spans_meet(spans: IntArray, codes: IntArray, count: int) -> Overlaps:
    """Return how many values of each group each span of one axis has."""
    lengths = spans[:, 1] - spans[:, 0]
    owner = np.repeat(np.arange(len(spans)), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    of_value = codes[spans[owner, 0] + np.arange(len(owner)) - first]
    kept = of_value >= 0
    keys, values = np.unique(owner[kept] * count + of_value[kept], return_counts=True)
    return Overlaps(keys // count, keys % count, values.astype(np.int64))
