"""n-grams: how often short runs occur, counted along paths that adapt their budget."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mechanisms.measuring.meter import Meter, Part, PathBudget
from mechanisms.measuring.path_budget import LevelRule, NoisyLevel
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.contract.models import FloatArray, IntArray
from release.contract.parameters import (
    divide,
    refuse_too_small,
    refuse_unknown,
    share,
    whole,
)
from release.contract.sequence_domain import SequenceDomain
from release.contract.strategies import Expectation, Parameters
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.estimation.chains import MAX_KEYS, Chains, GramLevel
from release.sequences.estimation.likeness import alike, passed_by
from release.sequences.models.ngram import NgramModel, gram_level_as_read
from release.sequences.sealed.sealed import SealedSequences
from release.sequences.sealed.sealed_places import SealedGrams
from release.sequences.strategies.limits import refuse_wide

KNOWN: Final = ("cut", "lengths_share", "order")
ORDER: Final = 5
MOST_ORDER: Final = 12
MOST_PROBABILITIES: Final = 20_000_000
"""Contexts times symbols that are ever held."""

SPARE_LEVELS: Final = 1
"""A path is expected to go on by so many levels more than its likeliest end says."""

_LEAST_CUT = 2

LOST_WEIGHT: Final = 0.6
TYPICAL_SHARE: Final = 0.2
NEARLY_LEAST: Final = 1.05
"""What the cut is chosen by; tuned on MSNBC and Sepsis, as docs/releases-accuracy.md
says."""


class Ngram:
    """Counts grams of up to ``order`` symbols from each unit's first places.

    Source: Chen, Acs and Castelluccia 2012; docs/proofs/ngram.md.
    """

    name = "ngram"

    def __init__(self, noise: Noise = LAPLACE) -> None:
        self.noise = noise

    def parts(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return the parts of the lengths and of all grams together."""
        refuse_unknown(parameters, KNOWN)
        refuse_wide(domain)
        order = _order(domain, parameters)
        most = _most_places(domain, parameters)
        lengths = share(parameters, "lengths_share", "0.04")
        parts = divide(loss, [("lengths", lengths), ("grams", 1 - lengths)])
        refuse_too_small(1, parts[0].loss, self.noise)
        each = Loss(parts[1].loss.nano_epsilon // order)
        refuse_too_small(most, each, self.noise)
        return parts

    def expectation(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return what noise alone does at the longest cut; the real one is chosen."""
        _, grams = self.parts(domain, loss, parameters)
        order = _order(domain, parameters)
        each = Loss(grams.loss.nano_epsilon // order)
        most = self.noise.scale(moved_by(_most_places(domain, parameters)), each)
        return Expectation(
            cell_rmse=None,
            total_rmse=None,
            words="A short run's count strays by its noise, of scale "
            f"{most:.3g} at most, and by what is estimated beyond the cut; "
            f"runs of more than {order} symbols follow from shorter ones.",
        )

    def measure(
        self, sequences: SealedSequences, meter: Meter, parameters: Parameters
    ) -> NgramModel:
        """Count lengths, choose the cut, count grams level by level.

        Neighbouring relation: add or remove all rows of one unit.
        """
        refuse_unknown(parameters, KNOWN)
        domain, order = sequences.domain, _order(sequences.domain, parameters)
        firsts = band_starts(domain.max_length)
        noisy = meter.counts("lengths", sequences.length_bands(firsts), 1)
        counts = noisy.values.reshape(domain.groups, len(firsts))
        bands = Bands(domain.max_length, counts, noisy.scale)
        loss, noise = meter.left("grams"), meter.noise
        relative = relative_noise(loss, order, noise)
        cut = counted_places(domain, relative, bands, parameters)
        budget = meter.path_budget("grams", cut)
        growth = _Growth(domain, loss, order, bands, cut, noise)
        return growth.grown(sequences.grams(cut), budget)


@dataclass(frozen=True, slots=True)
class _Growth:
    """The rule by which a tree of grams grows; reads public and noisy values alone."""

    domain: SequenceDomain
    loss: Loss
    order: int
    bands: Bands
    cut: int
    noise: Noise

    def grown(self, grams: SealedGrams, budget: PathBudget) -> NgramModel:
        """Count grams level by level."""
        scale = alike(self.bands.scale, self.noise)
        read = replace(self.bands, scale=scale)
        chains = Chains(self.domain, self.order, read, self.cut)
        each = self.loss.nano_epsilon // self.order
        least = self._threshold(each)
        fanout = self.domain.symbols + 1
        rule = LevelRule(
            np.zeros(1, dtype=np.int64),
            np.array([each]),
            np.array([least]),
            fanout * self.domain.groups,
        )
        noisy = budget.measure(grams.first(), rule)
        parents, symbols = np.divmod(noisy.cells, fanout)
        symbols[symbols == self.domain.symbols] = -1
        level = _level(parents, symbols, noisy.values)
        chains.add_singles(level, alike(noisy.scales[0], self.noise), least)
        levels: list[GramLevel] = []
        cells = noisy.cells
        while len(levels) < self.order - 1:
            rule = self._rule(level, chains, budget)
            if not len(rule.parents):
                break
            noisy = budget.measure(grams.below(cells[rule.parents]), rule)
            cells = noisy.cells
            above = _counted(level, rule, noisy)
            parents, symbols = np.divmod(noisy.cells, fanout)
            level = _level(rule.parents[parents], symbols, noisy.values)
            chains.add(gram_level_as_read(above, self.noise), level)
            levels.append(above)
        return NgramModel(
            domain=self.domain,
            order=self.order,
            cut=self.cut,
            bands=self.bands,
            scale=float(self.noise.scale(moved_by(self.cut), Loss(each))),
            threshold=least,
            levels=(*levels, level),
            noise=self.noise,
        )

    def _rule(self, level: GramLevel, chains: Chains, budget: PathBudget) -> LevelRule:
        """Return which grams are counted further, and what each spends on it.

        A path that is expected to end early spends more on each level.
        """
        depth = chains.depth
        left = budget.left
        each = self.loss.nano_epsilon // self.order
        counts, best = chains.estimates, chains.best_next()
        further = np.full(len(counts), self.order - depth, dtype=np.int64)
        reach = _levels_reached(counts, best, self._threshold(each)) + SPARE_LEVELS
        further = np.clip(reach, 1, further)
        shares = left // further
        grows = (level.symbols != self.domain.end) & (shares >= each)
        most = MOST_PROBABILITIES // (self.domain.symbols + 1)
        chosen = np.flatnonzero(grows)
        if len(chosen) > most:
            largest = np.argsort(-level.counts[chosen], kind="stable")[:most]
            chosen = np.sort(chosen[largest])
        own = shares[chosen]
        return LevelRule(chosen, own, self._thresholds(own), self.domain.symbols + 1)

    def _thresholds(self, shares: IntArray) -> IntArray:
        values, places = np.unique(shares, return_inverse=True)
        least = [self._threshold(value) for value in values.tolist()]
        return np.array(least, dtype=np.int64)[places.reshape(-1)]

    def _threshold(self, nano: int) -> int:
        """Return the least noisy count of a gram that is kept."""
        return gram_threshold(self.domain, self.cut, Loss(nano), self.noise)


def gram_threshold(
    domain: SequenceDomain, cut: int, loss: Loss, noise: Noise = LAPLACE
) -> int:
    """Return the least noisy count of a gram that is kept, counted for that loss."""
    scale = noise.scale(moved_by(cut), loss)
    passed = passed_by(scale, noise, (domain.symbols + 1) / 2)
    return math.ceil(max(alike(scale, noise), passed))


def relative_noise(loss: Loss, order: int, noise: Noise) -> float:
    """Return how wide the noise of a gram is, a place that each unit is counted in.

    As the scale of Laplace noise, or of Laplace noise as wide as Gaussian noise is: the
    loss divides over ``order`` levels, which is sqrt(order) less of a rho.
    """
    if noise.has_l2:
        return math.sqrt(order / float(loss.epsilon)) / 2
    return order / float(loss.epsilon)


def _levels_reached(counts: FloatArray, best: FloatArray, least: int) -> IntArray:
    """Return how many levels further the likeliest path stays above the threshold."""
    logs = np.log(np.clip(best, 1e-9, 1 - 1e-9))
    ratios = np.log(least / np.maximum(counts, 1e-9))
    return np.asarray(np.ceil(ratios / logs), dtype=np.int64)


def _level(parents: IntArray, symbols: IntArray, counts: IntArray) -> GramLevel:
    nothing = np.zeros(len(counts), dtype=np.int64)
    return GramLevel(parents, symbols, counts, nothing.astype(np.float64), nothing)


def _counted(level: GramLevel, rule: LevelRule, noisy: NoisyLevel) -> GramLevel:
    """Return the level with what its grams' children were counted with."""
    scales, thresholds = level.scales.copy(), level.thresholds.copy()
    scales[rule.parents] = noisy.scales
    thresholds[rule.parents] = rule.thresholds
    return GramLevel(level.parents, level.symbols, level.counts, scales, thresholds)


def _order(domain: SequenceDomain, parameters: Parameters) -> int:
    order = whole(parameters, "order", ORDER, MOST_ORDER)
    if domain.groups * (domain.symbols + 2) ** order >= MAX_KEYS:
        message = f"grams of {order} symbols are too many; take a lower order"
        raise ReleaseRefusedError(message)
    return order


def _most_places(domain: SequenceDomain, parameters: Parameters) -> int:
    """Return the longest cut that may be chosen: all symbols, and the start."""
    most = whole(parameters, "cut", domain.max_length + 1, domain.max_length + 1)
    if most < _LEAST_CUT:
        message = f"cut is at least {_LEAST_CUT}: the start, and one symbol"
        raise ReleaseRefusedError(message)
    return most


def counted_places(
    domain: SequenceDomain,
    relative: float,
    bands: Bands,
    parameters: Parameters,
) -> int:
    """Return how many places of each unit are counted, the start among them.

    More places lose fewer symbols, and need more noise: the sum of what both do to a
    typical frequent run, which holds a fixed part of an even share of all units, is
    made nearly least, by the shortest cut that does.

    Args:
        domain: Public.
        relative: Of ``relative_noise``.
        bands: Noisy lengths.
        parameters: Of the strategy.
    """
    most = _most_places(domain, parameters)
    if "cut" in parameters:
        return most
    units = max(1.0, float(bands.units.sum()))
    symbols = max(1.0, float(bands.starts(1).sum()))
    typical = TYPICAL_SHARE * units / domain.symbols
    cuts = np.arange(_LEAST_CUT, most + 1)
    kept = np.array([float(bands.starts(1, cut - 1).sum()) for cut in cuts.tolist()])
    noise = cuts * relative / typical
    cost = LOST_WEIGHT * (symbols / np.maximum(kept, 1) - 1) + noise / (1 + noise)
    return int(cuts[np.argmax(cost <= NEARLY_LEAST * cost.min())])
