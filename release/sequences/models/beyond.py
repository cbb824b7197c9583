"""What a chain predicts beyond a tree's ends, up to the maximal length."""

from dataclasses import dataclass

import numpy as np

from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.markov import Chain
from release.sequences.models.growth import FullTree

_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Beyond:
    """What follows from the ends of a tree.

    Attributes:
        chain: How sequences go on.
        met: How often each of its states is come to, at all depths together.
        ends: Units at all ends of the tree that may go on.
        last: The share of what is met that stands at the maximal length.
        factors: What each depth's predicted units are multiplied by.
    """

    chain: Chain
    met: FloatArray
    ends: float
    last: float
    factors: FloatArray

    @classmethod
    def of(
        cls,
        chain: Chain,
        full: FullTree,
        most: int,
        factors: FloatArray | None = None,
        places: FloatArray | None = None,
    ) -> "Beyond":
        """Return what follows, depth by depth.

        Args:
            chain: How sequences go on.
            full: The tree.
            most: The maximal length.
            factors: By depth from 0, where they are known; else they are found.
            places: How many units go on beyond the tree at each depth from 0, where
                that is known: the factors make the predicted ones as many.
        """
        size = len(chain.probabilities)
        met, flow = np.zeros(size), np.zeros(size)
        found = np.ones(most + 1)
        going = full.open_ends > 0
        depths = np.where(going, full.depths, -1)
        for depth in range(most):
            own = np.flatnonzero(depths == depth)
            flow = flow + np.bincount(full.states[own], full.open_ends[own], size)
            if not flow.any():
                continue
            flow = chain.onward(flow)
            if factors is not None:
                found[depth + 1] = factors[depth + 1]
            elif places is not None:
                found[depth + 1] = places[depth + 1] / max(flow.sum(), _NOTHING)
            flow = flow * found[depth + 1]
            met += flow
        ends = float(full.open_ends[depths >= 0].sum())
        last = float(flow.sum() / max(met.sum(), _NOTHING))
        return cls(chain, met, ends, min(last, 1.0), found)

    def outside(self, runs: IntArray, open_ends: FloatArray) -> FloatArray:
        """Return how often runs end outside the tree.

        Args:
            runs: (runs, symbols).
            open_ends: (symbols, runs): at place l, units at ends of the tree whose last
                symbols are the first l + 1 of the run.
        """
        chain, length = self.chain, runs.shape[1]
        short = min(length, chain.order)
        codes = chain.codes(runs[:, :short])
        found = self.met.reshape(-1, chain.base**short).sum(axis=0)[codes]
        for place in range(short, length):
            before = open_ends[place - 1] if place else self.ends
            going = found * (1 - self.last) + before
            found = going * chain.probability(runs[:, : place + 1])
        return np.asarray(found)
