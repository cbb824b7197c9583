"""Prefix trees: counts of all beginnings that enough units share, level by level."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.measuring.meter import Meter, Part
from mechanisms.scales.noises import LAPLACE, Noise, moved_by
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.contract.intervals import noise_variance
from release.contract.models import IntArray
from release.contract.parameters import (
    divide,
    refuse_small_parts,
    refuse_too_small,
    refuse_unknown,
    share,
    whole,
)
from release.contract.sequence_domain import SequenceDomain
from release.contract.strategies import Expectation, Parameters
from release.sequences.contract import SequenceModel
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.estimation.likeness import alike, passed_by
from release.sequences.models.drawn import DrawnLevel, DrawnTree, as_read
from release.sequences.models.prefix_tree import PrefixTreeModel
from release.sequences.models.uncounted import Sampled
from release.sequences.sealed.sealed import SealedSequences
from release.sequences.strategies.limits import refuse_wide
from release.sequences.strategies.predictor import confidence

DEVIATIONS: Final = 2 * math.sqrt(2)
MOST_THRESHOLD: Final = 2**40
MOST_CELLS: Final = 1_000_000
"""Children that one level may have."""
FALSE_CHILDREN: Final = 0.6
KNOWN: Final = (
    "height",
    "budget",
    "threshold",
    "predictor",
    "lengths_share",
    "symbols_share",
)
LENGTHS_SHARE: Final = "0.02"
SYMBOLS_SHARE: Final = "0.03"
"""Shares of the loss: for noisy lengths, and for a sampled symbol of each unit."""

ADAPTIVE: Final = "adaptive"
BUDGETS: Final = ("uniform", "geometric", ADAPTIVE)
PREDICTORS: Final = ("none", "markov")
LATER: Final = "later"
LEAST_SHARE: Final = 0.125
GUARANTEED: Final = 16
"""An adaptive level gets at least this part of an even share."""

_STEPS: Final = 64
RATIO: Final = Fraction(4, 5)


class PrefixTree:
    """Measures all children of kept nodes, level by level; an end is a child, too.

    Source: Chen, Fung and Desai 2011; HIDE 5.2.3; docs/proofs/prefix_tree.md.
    """

    name = "prefix_tree"

    def __init__(self, noise: Noise = LAPLACE) -> None:
        self.noise = noise

    def parts(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> tuple[Part, ...]:
        """Return a part of lengths, one of symbols, and one a level.

        The root's count is the sum of its children.
        """
        refuse_unknown(parameters, KNOWN)
        refuse_wide(domain)
        levels, kind = height(domain, parameters), budget(parameters)
        whole(parameters, "threshold", 1, MOST_THRESHOLD)
        predicts(parameters)
        lengths = share(parameters, "lengths_share", LENGTHS_SHARE)
        symbols = share(parameters, "symbols_share", SYMBOLS_SHARE)
        tree = 1 - lengths - symbols
        if tree <= 0:
            message = "lengths_share and symbols_share leave nothing for the tree"
            raise ReleaseRefusedError(message)
        own: list[tuple[str, Fraction]] = [("lengths", lengths), ("symbols", symbols)]
        adaptive = kind == ADAPTIVE and levels > 1
        if adaptive:
            first = tree / levels
            own += [("level_1", first), (LATER, tree - first)]
        else:
            ratio = RATIO if kind == "geometric" else Fraction(1)
            weights = [ratio**k for k in range(levels)]
            own += [
                (f"level_{k + 1}", tree * weight / sum(weights))
                for k, weight in enumerate(weights)
            ]
        parts = divide(loss, own)
        if adaptive:
            least = Loss(parts[2].loss.nano_epsilon // GUARANTEED)
            refuse_too_small(1, least, self.noise)
        refuse_small_parts(1, parts, self.noise)
        return parts

    def expectation(
        self, domain: SequenceDomain, loss: Loss, parameters: Parameters
    ) -> Expectation:
        """Return the error of one node, before the levels are made to agree."""
        parts = self.parts(domain, loss, parameters)
        scale = self.noise.scale(moved_by(1), parts[2].loss)
        least = threshold(domain, scale, parameters, self.noise)
        variance = noise_variance(scale, self.noise)
        return Expectation(
            cell_rmse=math.sqrt(variance),
            total_rmse=math.sqrt((domain.symbols + 1) * variance),
            words=f"Paths of fewer than about {least} units are mostly left out.",
        )

    def measure(
        self, sequences: SealedSequences, meter: Meter, parameters: Parameters
    ) -> SequenceModel:
        """Grow the tree. Neighbours: add or remove all rows of one unit."""
        domain, codes = sequences.domain, sequences.domain.symbols + 1
        most = height(domain, parameters)
        least = meter.left("level_1").nano_epsilon // GUARANTEED
        predictor = domain if predicts(parameters) else None
        noise, is_adaptive = meter.noise, budget(parameters) == ADAPTIVE
        plan = _Plan(most, is_adaptive, least, predictor, noise)
        beside = _measured_beside(sequences, meter)
        walk, places = sequences.roots(), np.arange(domain.groups)
        levels: list[DrawnLevel] = []
        for depth in range(1, most + 1):
            meter = _with_next(meter, levels, plan)
            part = f"level_{depth}"
            scale = noise.scale(moved_by(1), meter.left(part))
            bar = threshold(domain, scale, parameters, noise)
            size = len(places) * codes
            noisy = meter.sparse_counts(
                part, walk.children(), size=size, l1=1, threshold=bar
            )
            own, symbols = np.divmod(noisy.cells, codes)
            grown = chosen(domain, symbols, noisy.values) & (depth < most)
            levels.append(
                DrawnLevel(places[own], symbols, noisy.values, grown, scale, bar)
            )
            walk, places = walk.down(noisy.cells[grown]), np.flatnonzero(grown)
            if not len(places):
                break
        drawn = DrawnTree(domain, tuple(levels), *beside, noise=noise)
        return PrefixTreeModel(drawn)


def _measured_beside(sequences: SealedSequences, meter: Meter) -> tuple[Bands, Sampled]:
    """Measure lengths, and symbols at one place of each unit.

    Neighbouring relation: add or remove all rows of one unit; each moves by 1.
    """
    domain = sequences.domain
    firsts = band_starts(domain.max_length)
    lengths = meter.counts("lengths", sequences.length_bands(firsts), 1)
    counts = lengths.values.reshape(domain.groups, len(firsts))
    symbols = meter.counts("symbols", sequences.sampled_symbols(firsts), 1)
    met = symbols.values.reshape(len(firsts), domain.symbols)
    bands = Bands(domain.max_length, counts, lengths.scale)
    return bands, Sampled(met, symbols.scale)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How levels share what is left.

    Attributes:
        height: How many there are.
        adaptive: Whether that is decided level by level.
        least: What each then gets at the least, in nano-units.
        predictor: The domain, where levels that are predicted well get less.
        noise: Of all levels.
    """

    height: int
    adaptive: bool
    least: int
    predictor: SequenceDomain | None
    noise: Noise


def chosen(
    domain: SequenceDomain, symbols: IntArray, values: IntArray
) -> NDArray[np.bool_]:
    """Return which nodes grow, by noisy counts: no ends, and not too many."""
    grown = symbols != domain.end
    most = MOST_CELLS // (domain.symbols + 1)
    if int(grown.sum()) > most:
        order = np.lexsort((np.arange(len(values)), -np.where(grown, values, 0)))
        grown[order[most:]] = False
    return np.asarray(grown)


def _with_next(meter: Meter, levels: Sequence[DrawnLevel], plan: "_Plan") -> Meter:
    """Return a meter that has the next level's part, decided from levels before."""
    left = plan.height - len(levels)
    if not levels or not plan.adaptive:
        return meter
    name, loss = f"level_{len(levels) + 1}", meter.left(LATER)
    if left == 1:
        return meter.divide(LATER, [Part(name, loss)])
    ratio = going_on(levels)
    later = sum((ratio**k for k in range(1, left)), Fraction(0))
    weight = Fraction(1)
    if plan.predictor is not None:
        read = [as_read(level, plan.noise) for level in levels]
        weight -= confidence(plan.predictor, read) / 2
    share = weight / (weight + later)
    free = loss.nano_epsilon - plan.least * left
    own = plan.least + math.floor(free * share)
    rest = Part(LATER, Loss(loss.nano_epsilon - own))
    return meter.divide(LATER, [Part(name, Loss(own)), rest])


def going_on(levels: Sequence[DrawnLevel]) -> Fraction:
    """Return how much less each level deserves than the one above it.

    The square root of the share of the units counted last that may go on: where
    sequences end early, or are lost below the threshold, deep levels are worth less.
    """
    last = levels[-1]
    above = levels[-2].values[levels[-2].grown] if len(levels) > 1 else last.values
    share = int(last.values[last.grown].sum()) / max(1, int(above.sum()))
    root = math.sqrt(min(1.0, max(LEAST_SHARE, share)))
    return Fraction(round(root * _STEPS), _STEPS)


def budget(parameters: Parameters) -> str:
    """Return how the loss is divided among levels.

    Raises:
        ReleaseRefusedError: It is none of the known ways.
    """
    kind = str(parameters.get("budget", ADAPTIVE))
    if kind not in BUDGETS:
        message = f"budget is one of {', '.join(BUDGETS)}"
        raise ReleaseRefusedError(message)
    return kind


def predicts(parameters: Parameters) -> bool:
    """Return whether levels that earlier ones predict get less.

    Raises:
        ReleaseRefusedError: There is no such predictor, or budgets are fixed.
    """
    kind = parameters.get("predictor", "none")
    if kind not in PREDICTORS:
        message = f"predictor is one of {', '.join(PREDICTORS)}"
        raise ReleaseRefusedError(message)
    if kind == PREDICTORS[1] and budget(parameters) != ADAPTIVE:
        message = "a predictor needs the adaptive budget"
        raise ReleaseRefusedError(message)
    return kind == PREDICTORS[1]


def height(domain: SequenceDomain, parameters: Parameters) -> int:
    """Return how many levels are measured.

    Raises:
        ReleaseRefusedError: It is not between 1 and the maximal length.
    """
    return whole(parameters, "height", domain.max_length, domain.max_length)


def threshold(
    domain: SequenceDomain,
    scale: float,
    parameters: Parameters,
    noise: Noise = LAPLACE,
) -> int:
    """Return the least count that is kept, from public facts alone.

    Two standard deviations of the noise, or more where nodes have so many children that
    empty ones would pass in numbers: at most ``FALSE_CHILDREN`` a node are expected.
    """
    wide = alike(scale, noise)
    a = math.exp(-1 / wide)
    odds = (domain.symbols + 1) / (FALSE_CHILDREN * (1 + a))
    least = max(wide * DEVIATIONS, passed_by(scale, noise, odds))
    own = max(1, math.ceil(least))
    return whole(parameters, "threshold", own, MOST_THRESHOLD)
