"""From keys and conditions to rolls of a cube, and back to the cells of an answer."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import Final

import numpy as np

from privacy.schema import Scalar
from query_lang.plans.domains import stored_value
from query_lang.plans.expressions import Expression, conjunction, conjuncts
from query_lang.plans.nodes import Key
from query_lang.syntax.refusals import refuse
from release.contract.models import Estimates, IntArray, Weighing
from release.contract.sealed_cube import MAX_DENSE_CELLS
from release.cubes.questions.binding import rules
from release.cubes.questions.binding.absent_values import absent_place, is_equality
from release.cubes.questions.binding.question import CubeQuestion
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.evaluation import BoolArray, PublicValues
from release.cubes.questions.evaluating.logic import Logic
from release.cubes.questions.evaluating.steps import roll_steps
from release.cubes.questions.evaluating.warm import Mask, Product, WarmModel

MAX_ROLLS: Final = 64
"""The most combinations of values of keys that read several dimensions."""

_PRODUCT_SAVES: Final = 8


@dataclass(frozen=True, slots=True)
class Grouping:
    """One key, laid over the dimensions that it reads.

    Attributes:
        axes: Those dimensions, in order.
        codes: For each of their cells, C order, the place of the key's value among its
            values, or -1 where it is none of them.
        size: How many values the key has.
    """

    axes: tuple[int, ...]
    codes: IntArray
    size: int

    def where(self, value: int, shape: tuple[int, ...]) -> Mask:
        """Return where the key has one of its values."""
        sizes = [shape[axis] for axis in self.axes]
        return self.axes, (self.codes == value).reshape(sizes)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cells count.

    Attributes:
        kept: For each dimension, which of its values pass the conditions on it alone.
        masks: Conditions on several dimensions: which ones, and where they are TRUE.
    """

    kept: tuple[BoolArray, ...]
    masks: tuple[Mask, ...] = ()


def grouping_of(
    key: Key, question: CubeQuestion, values: PublicValues, effort: Effort
) -> Grouping:
    """Lay a key over the dimensions that it reads.

    Raises:
        SqlNotAllowedError: There are too many combinations, or it takes too
            many steps.
    """
    listed = [stored_value(value, key.facts) for value in key.values]
    expression = question.expression(key.slot)
    found = values.values(expression, question, effort)
    return lay_out(values.axes_of((expression,), question), found, listed)


def lay_out(
    axes: tuple[int, ...],
    found: Sequence[Scalar | None],
    listed: Sequence[Scalar | None],
) -> Grouping:
    """Lay an expression over the dimensions that it reads.

    Args:
        axes: Those dimensions.
        found: Its value for each of their combinations, C order.
        listed: Its values that count, decimals as stored steps.
    """
    places = {value: place for place, value in enumerate(listed)}
    codes = np.array([places.get(value, -1) for value in found], dtype=np.int64)
    return Grouping(axes, codes, len(listed))


Width = tuple[tuple[int, ...], int]
"""The dimensions that a key reads, and how many values it has."""


def check_wide(
    keys: Sequence[Width], question: CubeQuestion, shape: tuple[int, ...]
) -> None:
    """Refuse keys on several dimensions that would take too long.

    Raises:
        SqlNotAllowedError: Rule ``cell_mask`` or ``many_rolls``.
    """
    wide = [size for axes, size in keys if len(axes) != 1]
    if wide:
        check_mask(question, shape)
    if prod(wide) > MAX_ROLLS:
        raise refuse(rules.MANY_ROLLS, question.position)


def check_mask(question: CubeQuestion, shape: tuple[int, ...]) -> None:
    """Refuse what has to be held cell by cell where there are too many cells.

    Raises:
        SqlNotAllowedError: Rule ``cell_mask``.
    """
    if prod(shape) > MAX_DENSE_CELLS:
        raise refuse(rules.CELL_MASK, question.position)


def select(
    question: CubeQuestion,
    values: PublicValues,
    shape: tuple[int, ...],
    effort: Effort,
) -> Selection:
    """Evaluate the conditions, those on one dimension apart from the others.

    Raises:
        SqlNotAllowedError: There are too many cells, or it takes too many steps.
    """
    parts: dict[tuple[int, ...], list[Expression]] = {}
    for condition in question.conditions:
        for part in conjuncts(condition):
            parts.setdefault(values.axes_of((part,), question), []).append(part)
    if any(len(axes) > 1 for axes in parts):
        check_mask(question, shape)
    logic = Logic(question, values, effort)
    kept = [np.ones(size, dtype=np.bool_) for size in shape]
    masks = []
    for axes, conditions in parts.items():
        holds = logic.truths(conjunction(tuple(conditions))) > 0
        if len(axes) == 1:
            _refuse_absent(conditions, holds, logic, question)
            kept[axes[0]] &= holds
        elif axes:
            masks.append((axes, holds))
        elif not holds:
            kept[0][:] = False
    return Selection(tuple(kept), tuple(masks))


def _refuse_absent(
    conditions: Sequence[Expression],
    holds: BoolArray,
    logic: Logic,
    question: CubeQuestion,
) -> None:
    """Refuse an equality that no value of a dimension meets: 0 would read as a count.

    Raises:
        SqlNotAllowedError: Rule ``absent_value``.
    """
    if holds.any():
        return
    for condition in filter(is_equality, conditions):
        if not (logic.truths(condition) > 0).any():
            raise refuse(rules.ABSENT_VALUE, absent_place(condition, question))


@dataclass(frozen=True, slots=True)
class Layout:
    """Rolls of a cube whose groups are cells of an answer.

    Attributes:
        shape: Of the cube.
        selection: Which cells of the cube count.
        keys: Of the answer, the first slowest.
    """

    shape: tuple[int, ...]
    selection: Selection
    keys: tuple[Grouping, ...]

    @property
    def size(self) -> int:
        """How many cells the answer has."""
        return prod(key.size for key in self.keys)

    def several_in_a_cell(self, axes: Sequence[int]) -> bool:
        """Whether a cell may add up several values of one of these dimensions."""
        for axis in axes:
            codes, places = self._groups_of(axis)
            if np.count_nonzero(codes >= 0) > len(places):
                return True
        return False

    @property
    def work(self) -> int:
        """Cells that its rolls pass over; those of product sets cost far less."""
        wide = [key.size for key in self.keys if len(key.axes) != 1]
        cells = min(prod(self.shape), MAX_DENSE_CELLS)
        if not wide and not self.selection.masks:
            return cells // _PRODUCT_SAVES
        return prod(wide) * cells

    @property
    def steps(self) -> int:
        """What its rolls take, from public facts alone."""
        parts = [self._groups_of(axis) for axis in range(len(self.shape))]
        wide = [key for key in self.keys if len(key.axes) != 1]
        each = roll_steps(
            [codes for codes, _ in parts],
            [len(places) for _, places in parts],
            masks=len(self.selection.masks) + len(wide),
        )
        rolls = prod(key.size for key in wide)
        return rolls * min(prod(self.shape), MAX_DENSE_CELLS) * each

    def model_steps(self, model: WarmModel) -> int:
        """Return what its rolls take of a model's own parts."""
        rolls = prod(key.size for key in self.keys if len(key.axes) != 1)
        parts = [self._groups_of(axis) for axis in range(len(self.shape))]
        groups = tuple(len(places) for _, places in parts)
        product = Product(tuple(codes for codes, _ in parts), groups)
        if rolls == 1 and not self.selection.masks and product.is_whole:
            return 0  # kept since the release was opened
        return rolls * model.roll_steps(groups)

    def answer(self, model: WarmModel) -> Estimates:
        """Return one estimate a cell of the answer; exactly 0 where nothing can be."""
        total = [np.zeros(self.size) for _ in range(5)]
        for product, places in self.products():
            found = model.answer(product)
            spread = (found.below, found.above, found.noise)
            parts = (found.values, found.variances, *spread)
            for whole, part in zip(total, parts, strict=True):
                whole[places] = part
        return Estimates(*total)

    def weighing(self, model: WarmModel, per_sum: int) -> Weighing | None:
        """Return what bounds sums over runs of the answer's cells.

        Args:
            model: The release.
            per_sum: How many cells, one after the other, each sum is of.

        None: the model does not know how its errors go together, or a key reads several
        dimensions, which takes several rolls.
        """
        rolls = list(self.products()) if self._is_one_roll() else []
        if not rolls:
            return None
        ((product, places),) = rolls
        own = model.weighing(product, places // per_sum, self.size // per_sum)
        if own is None:
            return None
        bounds = own.bounds
        return replace(own, bounds=lambda w, values: bounds(w[places], values))

    def _is_one_roll(self) -> bool:
        return all(len(key.axes) == 1 for key in self.keys)

    def products(self) -> Iterator[tuple[Product, IntArray]]:
        """Yield rolls, each with the answer's cell of each of its groups."""
        parts = [self._groups_of(axis) for axis in range(len(self.shape))]
        if not all(len(places) for _, places in parts):
            return  # no cell counts
        groups = tuple(len(places) for _, places in parts)
        codes = tuple(codes for codes, _ in parts)
        places = reduce(np.add.outer, [places for _, places in parts]).ravel()
        for offset, masks in self._wide():
            both = (*self.selection.masks, *masks)
            yield Product(codes, groups, both), places + offset

    def _strided(self) -> list[tuple[Grouping, int]]:
        """Return each key with how far apart its values lie in the answer."""
        sizes = [key.size for key in self.keys]
        return [(key, prod(sizes[n + 1 :])) for n, key in enumerate(self.keys)]

    def _groups_of(self, axis: int) -> tuple[IntArray, IntArray]:
        """Return the groups of a dimension's values under the keys on it alone.

        Returns:
            A group (or -1) for each value, and each group's place in the answer.
        """
        kept = self.selection.kept[axis]
        if all(key.axes != (axis,) for key in self.keys):
            found = np.zeros(1 if kept.any() else 0, dtype=np.int64)
            return kept.astype(np.int64) - 1, found
        kept = kept.copy()
        places = np.zeros(self.shape[axis], dtype=np.int64)
        for key, stride in self._strided():
            if key.axes == (axis,):
                kept &= key.codes >= 0
                places += key.codes * stride
        codes = np.full(self.shape[axis], -1, dtype=np.int64)
        found, codes[kept] = np.unique(places[kept], return_inverse=True)
        return codes, found

    def _wide(self) -> Iterator[tuple[int, list[Mask]]]:
        """Yield each combination of values of the keys on several dimensions."""
        wide = [pair for pair in self._strided() if len(pair[0].axes) != 1]
        for chosen in itertools.product(*(range(key.size) for key, _ in wide)):
            pairs = list(zip(chosen, wide, strict=True))
            offset = sum(value * stride for value, (_, stride) in pairs)
            yield offset, [key.where(value, self.shape) for value, (key, _) in pairs]
