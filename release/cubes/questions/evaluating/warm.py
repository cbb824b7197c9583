"""A published model, made ready for questions: what many of them need is kept.

Sums over whole dimensions are the same for every question that does not name them, so
a cube of cells keeps its marginals; a mask is laid over the dimensions that it reads
and the question names, not over all cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, cast

import numpy as np

from release.contract.intervals import noise_variance, sum_half_widths
from release.contract.models import (
    AnyArray,
    CubeModel,
    Estimates,
    FittedModel,
    IntArray,
    Roll,
    WeighedModel,
    Weighing,
)
from release.cubes.models.cells import CellsModel
from release.cubes.models.marginals.marginals import MarginalsModel
from release.cubes.models.partition import PartitionModel
from release.cubes.models.parts.rolling import group_sizes, group_sums
from release.cubes.models.trees.tree import TreeModel
from release.cubes.questions.evaluating.evaluation import BoolArray
from release.cubes.questions.evaluating.keeping import Keeper
from release.cubes.questions.evaluating.steps import (
    GROUP_STEPS,
    JOINT_STEPS,
    LAID_STEPS,
    MET_STEPS,
    ORDERED_STEPS,
    WEIGHED_ROW_STEPS,
)

Mask = tuple[tuple[int, ...], BoolArray]
"""Some dimensions, in order, and an array over those alone."""

_MARGINAL_BYTES: Final = 32 * 2**20
_SMALL_TOTAL: Final = 2**31


@dataclass(frozen=True, slots=True)
class Product:
    """A roll over a product of sets, and masks on some dimensions each.

    Attributes:
        codes: As of a ``Roll``.
        groups: As of a ``Roll``.
        masks: All must be TRUE of a cell that counts.
    """

    codes: tuple[IntArray, ...]
    groups: tuple[int, ...]
    masks: tuple[Mask, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is one sum of all cells."""
        one = all(size == 1 for size in self.groups)
        return one and not self.masks and not any(own.any() for own in self.codes)

    def roll(self, shape: tuple[int, ...]) -> Roll:
        """Return the roll over all cells."""
        return Roll(self.codes, self.groups, cell_mask(self.masks, shape))


class WarmModel:
    """Answers as the model does, sooner; safe for many threads."""

    def __init__(self, model: CubeModel) -> None:
        self._model = model
        self._whole: Estimates | None = None
        if isinstance(model, FittedModel):
            model.prepare()
            shape = model.domain.shape
            codes = tuple(np.zeros(size, dtype=np.int64) for size in shape)
            self._whole = model.roll(Roll(codes, (1,) * len(shape)))
        self._marginals: Keeper[tuple[int, ...], AnyArray] = Keeper(
            _MARGINAL_BYTES, _MARGINAL_BYTES
        )
        self._image: AnyArray | None = None
        if isinstance(model, CellsModel):
            self._image = _narrow(model.values).reshape(model.domain.shape)

    @property
    def kind(self) -> str:
        """The kind of the model."""
        return self._model.kind

    @property
    def weighs(self) -> bool:
        """Whether the model knows how errors of its counts go together."""
        return isinstance(self._model, WeighedModel)

    def roll_steps(self, groups: Sequence[int]) -> int:
        """Return what a roll takes beside passing over cells, from what is published.

        Args:
            groups: How many the roll has on each dimension, at most.
        """
        model = self._model
        match model:
            case PartitionModel():
                most = np.minimum(model.pieces.lengths, np.maximum(groups, 1))
                met = most.prod(axis=1)
                return MET_STEPS * int(met.sum())
            case TreeModel():
                runs = prod(groups) if len(groups) == 1 else 0
                return ORDERED_STEPS * model.domain.size + GROUP_STEPS * runs
            case MarginalsModel():
                pairs = zip(model.domain.shape, groups, strict=True)
                laid = LAID_STEPS * sum(size * count for size, count in pairs)
                rows = 0 if model.weighed is None else model.weighed.rows.size
                return laid + JOINT_STEPS * prod(groups) + WEIGHED_ROW_STEPS * rows
            case _:
                return 0

    def answer(self, product: Product) -> Estimates:
        """Answer a roll."""
        if isinstance(self._model, CellsModel):
            return self._of_cells(product, self._model)
        if self._whole is not None and product.is_whole:
            return self._whole
        return self._model.roll(product.roll(self._model.domain.shape))

    def weighing(self, product: Product, sums: IntArray, count: int) -> Weighing | None:
        """Return what bounds weighted sums of groups, if the model knows it."""
        if not isinstance(self._model, WeighedModel):
            return None
        roll = product.roll(self._model.domain.shape)
        return self._model.weighing(roll, sums, count)

    def _of_cells(self, product: Product, model: CellsModel) -> Estimates:
        shape = model.domain.shape
        masked = {axis for axes, _ in product.masks for axis in axes}
        whole = tuple(
            axis
            for axis, codes in enumerate(product.codes)
            if axis not in masked and product.groups[axis] == 1 and not codes.any()
        )
        zero = np.zeros(1, dtype=np.int64)
        codes = [zero if a in whole else own for a, own in enumerate(product.codes)]
        left = tuple(1 if axis in whole else size for axis, size in enumerate(shape))
        roll = Roll(tuple(codes), product.groups, cell_mask(product.masks, left))
        sums = group_sums(self._summed(whole), left, roll)
        sizes = _sizes(roll, left) * prod(shape[axis] for axis in whole)
        return Estimates.around(
            values=sums.astype(np.float64),
            variances=sizes.astype(np.float64)
            * noise_variance(model.scale, model.noise),
            half_widths=sum_half_widths(sizes, model.scale, model.noise),
        )

    def _summed(self, whole: tuple[int, ...]) -> AnyArray:
        """Return the cube with some dimensions summed over, kept from then on."""
        if self._image is None:
            raise TypeError
        if not whole:
            return self._image
        found = self._marginals.get(whole)
        if found is None:
            found = self._image.sum(axis=whole, keepdims=True, dtype=self._image.dtype)
            self._marginals.put(whole, found, found.nbytes)
        return found


def cell_mask(masks: Sequence[Mask], shape: tuple[int, ...]) -> BoolArray | None:
    """Return which cells pass all masks, C order; None: all."""
    if not masks:
        return None
    whole = np.ones(shape, dtype=np.bool_)
    for axes, holds in masks:
        sizes = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
        whole &= holds.reshape(sizes)
    return whole.ravel()


def _sizes(roll: Roll, shape: tuple[int, ...]) -> IntArray:
    if roll.mask is None:
        return group_sizes(roll)
    counted = group_sums(
        roll.mask.astype(np.int64), shape, Roll(roll.codes, roll.groups)
    )
    return counted.astype(np.int64)


def _narrow(values: IntArray) -> AnyArray:
    """Return the values in half the room where no sum of any can overflow it."""
    if float(np.abs(values.astype(np.float64)).sum()) < _SMALL_TOTAL:
        return cast("AnyArray", values.astype(np.int32))
    return values
