"""Which tokens a model is trained on: HIDE's three ways to prefer recall.

Most tokens are in no span, so a model that is right about them learns to say so. To
leave some of them out costs precision, gives recall, and saves time.
Source: Gardner 2012 (HIDE), section 4.5.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from upstream.extraction.text.labels import OUTSIDE, type_of

Mask = npt.NDArray[np.bool_]
Probability = Annotated[float, Field(ge=0, le=1)]


class _Choice(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EveryToken(_Choice):
    """All tokens."""

    way: Literal["every"] = "every"

    def keep(self, labels: Sequence[str], _: np.random.Generator) -> Mask:
        """Return which tokens are trained on: all."""
        return np.ones(len(labels), dtype=bool)


class CostProportionate(_Choice):
    """Each token with the probability of its type; those of costly errors often.

    Attributes:
        outside: The probability of a token in no span.
        probabilities: Those of types; of others it is 1.
    """

    way: Literal["cost"] = "cost"
    outside: Probability = 0.1
    probabilities: Mapping[str, Probability] = {}

    def keep(self, labels: Sequence[str], draws: np.random.Generator) -> Mask:
        """Return which tokens are trained on."""
        chosen = {kind: float(p) for kind, p in self.probabilities.items()}
        odds = [
            self.outside if label == OUTSIDE else chosen.get(type_of(label) or "", 1.0)
            for label in labels
        ]
        return np.asarray(draws.random(len(labels)) < np.array(odds), dtype=bool)


class RandomOutside(_Choice):
    """All tokens of spans and near them; of the others each with one probability.

    Attributes:
        probability: Of a token that is near no span.
        near: How far off a token still is near, in tokens.
    """

    way: Literal["random_o"] = "random_o"
    probability: Probability = 0.3
    near: int = Field(default=4, ge=0)

    def keep(self, labels: Sequence[str], draws: np.random.Generator) -> Mask:
        """Return which tokens are trained on."""
        drawn = draws.random(len(labels)) < self.probability
        return np.asarray(near_spans(labels, self.near) | drawn, dtype=bool)


class Window(_Choice):
    """All tokens of spans and near them, and no others.

    Attributes:
        near: How far off a token still is near, in tokens.
    """

    way: Literal["window"] = "window"
    near: int = Field(default=10, ge=0)

    def keep(self, labels: Sequence[str], _: np.random.Generator) -> Mask:
        """Return which tokens are trained on."""
        return near_spans(labels, self.near)


Sampling = Annotated[
    EveryToken | CostProportionate | RandomOutside | Window, Field(discriminator="way")
]


def near_spans(labels: Sequence[str], near: int) -> Mask:
    """Return which tokens are in a span, or at most ``near`` tokens from one.

    >>> near_spans(["O", "O", "B-NAME", "O"], 1).tolist()
    [False, True, True, True]
    """
    inside = np.array([label != OUTSIDE for label in labels], dtype=bool)
    widened = inside.copy()
    for step in range(1, near + 1):
        widened[:-step] |= inside[step:]
        widened[step:] |= inside[:-step]
    return widened


def draws_of(seed: int, document: str) -> np.random.Generator:
    """Return the draws of one document, the same at every training with this seed."""
    digest = hashlib.sha256(f"{seed}:{document}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
