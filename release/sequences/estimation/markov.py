"""A Markov chain over symbols: how sequences go on where a tree says nothing."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from release.contract.models import FloatArray, IntArray

MOST_CELLS: Final = 2_000_000
"""States times symbols."""

MOST_ORDER: Final = 2


@dataclass(frozen=True, slots=True)
class Chain:
    """Probabilities of the next symbol by the last ones.

    Attributes:
        order: m, how many last symbols count.
        probabilities: (states, |alphabet| + 1): the last is the end's. A state is the
            last m symbols as a number of base |alphabet| + 1; the end's code stands for
            what was before the first symbol.
    """

    order: int
    probabilities: FloatArray

    @property
    def base(self) -> int:
        """How many codes there are, the end counted."""
        return int(self.probabilities.shape[1])

    @property
    def start(self) -> int:
        """The state before the first symbol."""
        return len(self.probabilities) - 1

    def after(self, states: IntArray, symbols: IntArray) -> IntArray:
        """Return the states that symbols lead to."""
        return np.asarray((states * self.base + symbols) % len(self.probabilities))

    def probability(self, runs: IntArray) -> FloatArray:
        """Return the probability of each run's last symbol after the m before it."""
        before = runs[:, runs.shape[1] - 1 - self.order : -1]
        return np.asarray(self.probabilities[self.codes(before), runs[:, -1]])

    def codes(self, runs: IntArray) -> IntArray:
        """Return runs as numbers of the base."""
        codes = np.zeros(len(runs), dtype=np.int64)
        for column in runs.T:
            codes = codes * self.base + column
        return codes

    def trusted(self, counted: FloatArray, strength: float) -> "Chain":
        """Return a chain whose probabilities shrink where little was counted.

        What is lost goes nowhere: where nothing is known, nothing is predicted.

        Args:
            counted: (states, |alphabet| + 1) units that were counted to go on so.
            strength: Units after a symbol that make its probabilities half as large.
        """
        own = self.trust(counted, strength)
        trust = np.tile(own, len(self.probabilities) // len(own))
        return Chain(self.order, self.probabilities * trust[:, None])

    def trust(self, counted: FloatArray, strength: float) -> FloatArray:
        """Return the shrinkage factor of each symbol's probabilities; the end's last.

        A chain without memory has one probability for all, so one number.
        """
        states, base = self.probabilities.shape
        last = counted.reshape(-1, min(base, states), base).sum(axis=(0, 2))
        return np.asarray(last / (last + strength))

    def onward(self, flow: FloatArray) -> FloatArray:
        """Return how many are in each state one symbol later; who ends is gone."""
        moves = flow[:, None] * self.probabilities
        moves[:, -1] = 0
        front = self.base if self.order else 1
        kept = moves.reshape(front, -1, self.base).sum(axis=0)
        return np.asarray(kept.ravel() if self.order else kept.sum(axis=1))


def order_for(symbols: int) -> int:
    """Return how many last symbols a chain over so many looks at."""
    base, order = symbols + 1, 0
    while order < MOST_ORDER and base ** (order + 2) <= MOST_CELLS:
        order += 1
    return order


def smoothed(order: int, seen: FloatArray, strength: float) -> Chain:
    """Return the chain of counts, each memory drawn towards the next shorter one.

    Args:
        order: Of the chain.
        seen: (states, |alphabet| + 1) units that went on so.
        strength: Units that a memory must have seen to weigh as much as the shorter
            one. The first symbol says nothing of later ones, nor they of it.
    """
    size, base = seen.shape
    probabilities, states = np.full((1, base), 1 / base), 1
    while True:
        own = seen.reshape(size // states, states, base).sum(axis=0)
        if states == 1 and size > 1:
            own = own - seen[-1:]
        wide = np.tile(probabilities, (states // len(probabilities), 1))
        total = own.sum(axis=1, keepdims=True)
        probabilities = (own + strength * wide) / (total + strength)
        if states == size:
            return Chain(order, probabilities)
        states *= base
