"""The weights of a linear chain, as arrays.

A conditional random field is one; a linear support vector machine and naive Bayes are
chains whose labels do not know of each other. So all three are evaluated alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ChainWeights:
    """A linear chain's weights: logarithms of probabilities, up to a constant.

    Attributes:
        labels: Its labels, ``O`` first.
        attributes: Its attributes; each has a row of ``states``.
        states: What an attribute adds to the score of each label, shape (attributes
            and one, labels); the last row is zero, for what is not known.
        transitions: What a label adds to the score of the next one, shape (labels,
            labels).
        intercept: What each label scores by itself, shape (labels,).
    """

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    states: Weights
    transitions: Weights
    intercept: Weights

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.attributes)}

    def rows(self, names: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return the rows of attributes; of those not known, the one of zeros."""
        zero, rows = len(self.attributes), self._rows
        return np.array([rows.get(name, zero) for name in names], dtype=np.int64)

    def scaled(self, factor: float) -> "ChainWeights":
        """Return the chain whose scores are ``factor`` times these."""
        return replace(
            self,
            states=self.states * np.float32(factor),
            transitions=self.transitions * np.float32(factor),
            intercept=self.intercept * np.float32(factor),
        )
