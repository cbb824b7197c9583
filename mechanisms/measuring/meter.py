"""A release's parts of its one charge: each is spent once, and their sum is paid."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.errors import UnpaidMeasurementError
from mechanisms.measuring.noisy import (
    LARGEST_VALUE,
    NoisyCounts,
    NoisySparse,
    saturating_sum,
)
from mechanisms.measuring.path_budget import PathBudget
from mechanisms.measuring.sparse_counts import (
    MAX_VISITED,
    SparseRule,
    kept_cells,
)
from mechanisms.samplers.biased_tests import BiasedTests, delta_of, path_factor
from mechanisms.samplers.vectors import VectorSampler
from mechanisms.scales.calibration import laplace_scale
from mechanisms.scales.conversions.pure import pure_ceil, pure_rho_ceil
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.charges import Charge
from privacy.counts import IntArray, SparseCounts
from privacy.losses import ZERO_LOSS, Loss
from privacy.measures import PURE, Measure
from privacy.sealed import Exact

__all__ = [
    "BiasedTests",
    "Meter",
    "NoisyCounts",
    "NoisySparse",
    "Part",
    "PathBudget",
]


@dataclass(frozen=True, slots=True)
class Part:
    """A named share of a release's loss."""

    name: str
    loss: Loss


class Meter:
    """Lets each part of a paid loss be spent once; opens seals for that alone.

    Args:
        charge: Proof of payment for the whole release.
        parts: What each may spend; together they cost at most the charge.
        sampler: Where the noise comes from.
        measure: What the charge counts.
        noise: Discrete Laplace where the parts are epsilons, whatever the charge
            counts; discrete Gaussian where they are rhos.

    Raises:
        UnpaidMeasurementError: The parts are more than the charge, or two have a name;
            or they are rhos, and the charge is none.

    Neighbouring relation: add or remove all rows of one unit. What each method proves
    of its own part adds up, whatever was asked before it saw of the parts before
    (adaptive composition), so all parts together spend at most the charge: proof in
    docs/proofs/meter.md. Where the charge is a rho and the parts are epsilons, the
    whole is epsilon-DP for their sum, and paid as such (docs/proofs/zcdp.md).
    """

    def __init__(
        self,
        charge: Charge,
        parts: Sequence[Part],
        sampler: VectorSampler,
        measure: Measure = PURE,
        noise: Noise = LAPLACE,
    ) -> None:
        whole = sum((part.loss for part in parts), ZERO_LOSS)
        is_rho = noise.has_l2
        if is_rho and measure.is_pure:
            raise UnpaidMeasurementError
        if (whole if is_rho else pure_ceil(measure, whole)) > charge.loss:
            raise UnpaidMeasurementError
        self._left = _by_name(whole, parts)
        self._sampler = sampler
        self._noise = noise

    @property
    def noise(self) -> Noise:
        """The kind of noise that vectors get, and what the parts count."""
        return self._noise

    def divide(self, part: str, shares: Sequence[Part]) -> "Meter":
        """Return a meter for the shares of a part, which is spent.

        How a part divides may so be decided after parts before it were measured.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent; the shares are
                more than the part, or two have a name.

        Neighbouring relation: add or remove all rows of one unit. The shares are
        functions of what was published before; losses of adaptive steps add.
        """
        inner = copy.copy(self)
        inner._left = _by_name(self._spend(part), shares)  # noqa: SLF001 - of its own kind
        return inner

    def pure(self, part: str, shares: Sequence[Part]) -> "Meter":
        """Return a meter of epsilons that a part, a rho, pays; the part is spent.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent, or is no rho;
                the shares cost more than it, or two have a name.

        Neighbouring relation: add or remove all rows of one unit. What is measured with
        the shares is epsilon-DP for their sum. Source: docs/proofs/zcdp.md, claim 3.
        """
        paid, whole = self._spend(part), sum((one.loss for one in shares), ZERO_LOSS)
        if not self._noise.has_l2 or pure_rho_ceil(whole) > paid:
            raise UnpaidMeasurementError
        inner = copy.copy(self)
        inner._noise, inner._left = LAPLACE, _by_name(whole, shares)  # noqa: SLF001 - of its own kind
        return inner

    def left(self, part: str) -> Loss:
        """Return the loss of a part that is not spent yet.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent.
        """
        try:
            return self._left[part]
        except KeyError:
            raise UnpaidMeasurementError from None

    def counts(
        self,
        part: str,
        sealed: Exact[IntArray],
        l1: int,
        *,
        l2_squared: int | None = None,
    ) -> NoisyCounts:
        """Return a vector with fresh noise in every entry.

        Args:
            part: The part that pays; it is spent.
            sealed: Exact values, in steps of a grid. Beyond 2**62 they saturate.
            l1: How far one unit moves the vector in L1, in steps of the grid.
            l2_squared: How far in L2, squared, where that is known to be less than the
                square of ``l1``; decides where losses are rho.

        Returns:
            Values within 2**62 - 1; what lies beyond saturates.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent.
            InvalidLossError: It is too small for noise of at most 2**40.

        Neighbouring relation: add or remove all rows of one unit.
        Source: docs/proofs/vector_discrete_laplace.md, or docs/proofs/
        discrete_gaussian.md where losses are rho.
        """
        scale = self._noise.scale(moved_by(l1, l2_squared), self._spend(part))
        values = sealed.unseal()
        noise = self._drawn(len(values), Fraction(scale))
        return NoisyCounts(saturating_sum(values, noise), scale, self._noise)

    def _drawn(self, size: int, scale: Fraction) -> IntArray:
        if self._noise.has_l2:
            return self._sampler.discrete_gaussian(size, scale**2)
        return self._sampler.discrete_laplace(size, scale)

    def sparse_counts(
        self,
        part: str,
        sealed: Exact[SparseCounts],
        size: int,
        l1: int,
        threshold: int,
    ) -> NoisySparse:
        """Return the cells of a huge domain whose noisy count reaches a threshold.

        Distributed as if every cell had got noise and those below the threshold had
        been left out. Where losses are pure, only the non-empty cells and the kept ones
        cost time; where they are rho, every cell does.

        Args:
            part: The part that pays; it is spent.
            sealed: The cells that are not empty.
            size: How many cells the domain has, at most 2**61, or 2**28 where losses
                are rho.
            l1: How far one unit moves the vector of all cells in L1; taken for the
                distance in L2 too.
            threshold: Public, from 1 to 2**61.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent.
            InvalidLossError: It is too small for noise of at most 2**40.
            ValueError: The size or the threshold is out of range.

        Neighbouring relation: add or remove all rows of one unit.
        Source: Cormode, Procopiuc, Srivastava and Tran 2012; proof in
        docs/proofs/sparse_counts.md.
        """
        rule = SparseRule(size, threshold)
        if self._noise.has_l2 and size > MAX_VISITED:
            raise ValueError(size)
        scale = self._noise.scale(moved_by(l1), self._spend(part))
        return kept_cells(self._noise, sealed.unseal(), rule, scale, self._sampler)

    def choose(
        self, part: str, sealed_scores: Exact[IntArray], sensitivity: int
    ) -> int:
        """Return a place, by the exponential mechanism; high scores are likely.

        Args:
            part: The part that pays; it is spent.
            sealed_scores: Integer scores, at least one. Beyond 2**62 they saturate.
            sensitivity: How far one unit moves any score, at least 1.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent.
            InvalidLossError: It is too small for a scale of at most 2**40.

        Neighbouring relation: add or remove all rows of one unit.
        Source: McSherry and Talwar 2007; docs/proofs/exponential_mechanism.md; where
        losses are rho, docs/proofs/zcdp.md, claim 5.
        """
        scale = Fraction(self._choice_scale(sensitivity, self._spend(part)))
        scores = np.clip(sealed_scores.unseal(), -LARGEST_VALUE, LARGEST_VALUE)
        return self._sampler.choose(scores, scale)

    def _choice_scale(self, sensitivity: int, loss: Loss) -> float:
        """Return the scale t of scores that a loss pays for, S being how far they move.

        The loss is 2 S/t where it is pure, and (2 S/t)**2/8 = S**2/(2 t**2) as rho, as
        it would be of Gaussian noise on one number that moves by S.
        """
        moved = sensitivity if self._noise.has_l2 else 2 * sensitivity
        return self._noise.scale(moved_by(moved), loss)

    def interval_costs(
        self, part: str, sealed_costs: Exact[IntArray], shifts: IntArray
    ) -> IntArray:
        """Return noisy costs, of which only a least-cost partition may be published.

        Args:
            part: The part that pays; it is spent.
            sealed_costs: One cost an interval, in steps of that interval's own grid.
            shifts: For each interval, how far its noise must be able to move to hide
                one unit, in steps of its grid; at least 1.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent.
            InvalidLossError: It is too small for noise of at most 2**40.

        Neighbouring relation: add or remove all rows of one unit. The loss is that of
        the partition alone, not of the costs. Source: docs/proofs/dawa.md.
        """
        loss = self._pure_part(part)
        noise = np.zeros(len(shifts), dtype=np.int64)
        for shift in np.unique(shifts).tolist():
            own = np.flatnonzero(shifts == shift)
            scale = Fraction(laplace_scale(Fraction(shift), loss))
            noise[own] = self._sampler.discrete_laplace(len(own), scale)
        return saturating_sum(sealed_costs.unseal(), noise)

    def biased_tests(self, part: str, fanout: int, l1: int) -> BiasedTests:
        """Return the tests that cut one tree, all of which this part pays.

        Args:
            part: The part that pays; it is spent.
            fanout: The b of the tests, at least 2; nodes may have more or fewer
                children.
            l1: The most rows of one unit that all nodes of one depth count together.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent.
            InvalidLossError: It is too small for noise of at most 2**40.

        Neighbouring relation: add or remove all rows of one unit.
        Source: docs/proofs/privtree.md.
        """
        factor = path_factor(fanout)
        loss = self._pure_part(part)
        scale = laplace_scale(
            Fraction(l1 * factor.numerator),
            Loss(loss.nano_epsilon * factor.denominator),
        )
        exact = Fraction(scale)
        return BiasedTests(
            delta_of(scale, fanout),
            scale,
            lambda size: self._sampler.discrete_laplace(size, exact),
        )

    def path_budget(self, part: str, l1: int) -> PathBudget:
        """Return what counts the nodes of one tree, all of which this part pays.

        Args:
            part: The part that pays; it is spent.
            l1: The most that one unit adds to all nodes of one level together.

        Raises:
            UnpaidMeasurementError: The part is not there, or was spent.

        Neighbouring relation: add or remove all rows of one unit.
        Source: docs/proofs/ngram.md.
        """
        return PathBudget(self._spend(part), l1, self._sampler, self._noise)

    def _pure_part(self, part: str) -> Loss:
        """Spend a part on what is proved in epsilon alone; refuse a rho."""
        if self._noise.has_l2:
            raise UnpaidMeasurementError
        return self._spend(part)

    def _spend(self, part: str) -> Loss:
        loss = self.left(part)
        del self._left[part]
        return loss


def _by_name(loss: Loss, parts: Sequence[Part]) -> dict[str, Loss]:
    names = [part.name for part in parts]
    spent = sum((part.loss for part in parts), ZERO_LOSS)
    if spent > loss or len(set(names)) < len(names):
        raise UnpaidMeasurementError
    return {part.name: part.loss for part in parts}
