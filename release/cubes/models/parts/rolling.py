"""Sums of cells by the groups that a question asks for."""

from functools import reduce
from typing import cast

import numpy as np

from release.contract.models import AnyArray, IntArray, Roll


def check_roll(shape: tuple[int, ...], roll: Roll) -> None:
    """Refuse a question that does not fit the domain.

    Raises:
        ValueError: A dimension's codes or the mask have another length, or a code lies
            outside its groups.
    """
    fits = (
        tuple(len(codes) for codes in roll.codes) == shape
        and len(roll.groups) == len(shape)
        and all(map(_within, roll.codes, roll.groups))
        and (roll.mask is None or roll.mask.size == np.prod(shape, dtype=object))
    )
    if not fits:
        message = "the question does not fit the cube's domain"
        raise ValueError(message)


def cell_groups(roll: Roll) -> IntArray:
    """Return each cell's group, C order, or -1 where the question leaves it out."""
    flat = np.zeros(1, dtype=np.int64)
    out = np.zeros(1, dtype=np.bool_)
    for codes, count in zip(roll.codes, roll.groups, strict=True):
        flat = np.add.outer(flat * count, codes).ravel()
        out = np.logical_or.outer(out, codes < 0).ravel()
    flat[out] = -1
    if roll.mask is not None:
        flat[~roll.mask.ravel()] = -1
    return flat


def group_sums(values: AnyArray, shape: tuple[int, ...], roll: Roll) -> AnyArray:
    """Return sums of cell values by group, C order; integers stay exact integers."""
    image: AnyArray = values.reshape(shape)
    if roll.mask is not None:
        image = image * roll.mask.reshape(shape)
    order = sorted(range(len(shape)), key=lambda axis: roll.groups[axis] - shape[axis])
    for axis in order:
        image = _sum_axis(image, axis, roll.codes[axis], roll.groups[axis])
    return image.ravel()


def group_sizes(roll: Roll) -> IntArray:
    """Return how many cells each group has."""
    if roll.mask is not None:
        groups = cell_groups(roll)
        return np.bincount(groups[groups >= 0], minlength=_count(roll))
    counts = [
        np.bincount(codes[codes >= 0], minlength=count).astype(np.int64)
        for codes, count in zip(roll.codes, roll.groups, strict=True)
    ]
    return reduce(np.multiply.outer, counts).ravel()


def _within(codes: IntArray, count: int) -> bool:
    return not len(codes) or -1 <= int(codes.min()) <= int(codes.max()) < count


def _count(roll: Roll) -> int:
    return int(np.prod(roll.groups, dtype=object))


def _sum_axis(image: AnyArray, axis: int, codes: IntArray, count: int) -> AnyArray:
    if len(codes) == count and np.array_equal(codes, np.arange(count)):
        return image
    if count == 1 and not codes.any():
        return np.asarray(image.sum(axis=axis, keepdims=True))
    shape = list(image.shape)
    shape[axis] = count
    sums = np.zeros_like(image, shape=shape)
    kept = np.flatnonzero(codes >= 0)
    if len(kept):
        lines = np.moveaxis(image, axis, 0)
        own, ordered = _in_order(lines, codes, kept)
        starts = np.flatnonzero(np.diff(own, prepend=-1))
        np.moveaxis(sums, axis, 0)[own[starts]] = np.add.reduceat(ordered, starts)
    return cast("AnyArray", sums)


def _in_order(
    lines: AnyArray, codes: IntArray, kept: IntArray
) -> tuple[IntArray, AnyArray]:
    """Return the kept codes, ascending, and their lines; without a copy if it can."""
    own = codes[kept]
    if (own[1:] < own[:-1]).any():
        order = np.argsort(own, kind="stable")
        return own[order], lines[kept[order]]
    if len(kept) == int(kept[-1]) - int(kept[0]) + 1:
        return own, lines[int(kept[0]) : int(kept[-1]) + 1]
    return own, lines[kept]
