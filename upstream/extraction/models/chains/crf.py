"""Training of conditional random fields by CRFsuite.

CRFsuite is told numbers for attributes, so its files hold no word of a text.
"""

import ctypes
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import pycrfsuite
from pydantic import BaseModel, ConfigDict, Field

from upstream.extraction.models.chains.weights import ChainWeights
from upstream.extraction.text.labels import OUTSIDE

Attributes = Sequence[Mapping[str, float]]
Progress = Callable[[int, int], None]


_SEED = 1


class CrfChoices(BaseModel):
    """How a conditional random field is trained.

    Attributes:
        algorithm: ``lbfgs`` (better, minutes), or ``ap``, the averaged perceptron.
        iterations: The most passes over the texts.
        l1: Coefficient of the weights' absolute values; of ``lbfgs``.
        l2: Coefficient of their squares; of ``lbfgs``.
        least_count: Attributes of fewer tokens than this are left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    algorithm: Literal["lbfgs", "ap"] = "lbfgs"
    iterations: int = Field(default=100, ge=1, le=1000)
    l1: float = Field(default=0.02, ge=0)
    l2: float = Field(default=0.3, ge=0)
    least_count: int = Field(default=2, ge=1)


class CrfTrainer:
    """Takes texts one by one, and trains at the end."""

    def __init__(self, choices: CrfChoices) -> None:
        self._choices = choices
        self._numbers: dict[str, str] = {}
        self._texts: list[tuple[list[dict[str, float]], list[str]]] = []
        self._counts: Counter[str] = Counter()

    def add(
        self, attributes: Iterable[Mapping[str, float]], labels: Sequence[str]
    ) -> None:
        """Take a text: for each token its attributes, and its label."""
        numbers = self._numbers
        rows = [
            {
                numbers.setdefault(name, str(len(numbers))): much
                for name, much in each.items()
            }
            for each in attributes
        ]
        for row in rows:
            self._counts.update(row.keys())
        self._texts.append((rows, list(labels)))

    def train(self, progress: Progress | None = None) -> ChainWeights:
        """Return the weights.

        Args:
            progress: Told each pass, and how many there are at most.
        """
        least = self._choices.least_count
        kept = {name for name, count in self._counts.items() if count >= least}
        trainer = _Reporting(self._choices.iterations, progress)
        trainer.select(self._choices.algorithm)
        trainer.set_params(_parameters(self._choices))
        while self._texts:
            rows, labels = self._texts.pop()
            trainer.append(
                [{n: v for n, v in row.items() if n in kept} for row in rows], labels
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights"
            ctypes.CDLL(None).srand(_SEED)  # the perceptron shuffles texts by rand()
            trainer.train(str(path))
            return self._read(path)

    def _read(self, path: Path) -> ChainWeights:
        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        found = tagger.info()
        others = sorted(set(tagger.labels()) - {OUTSIDE})
        tagger.close()
        names = {number: name for name, number in self._numbers.items()}
        return weights_of((OUTSIDE, *others), names, found)


class Found(Protocol):
    """Weights as CRFsuite has them: of attribute and label, of label and label."""

    state_features: Mapping[tuple[str, str], float]
    transitions: Mapping[tuple[str, str], float]


def weights_of(
    labels: tuple[str, ...], names: Mapping[str, str], found: Found
) -> ChainWeights:
    """Return CRFsuite's weights as arrays."""
    column = {label: number for number, label in enumerate(labels)}
    used = sorted({number for number, _ in found.state_features}, key=int)
    row = {number: at for at, number in enumerate(used)}
    states = np.zeros((len(used) + 1, len(labels)), dtype=np.float32)
    for (number, label), weight in found.state_features.items():
        states[row[number], column[label]] = weight
    transitions = np.zeros((len(labels), len(labels)), dtype=np.float32)
    for (label, following), weight in found.transitions.items():
        transitions[column[label], column[following]] = weight
    return ChainWeights(
        labels,
        tuple(names[number] for number in used),
        states,
        transitions,
        np.zeros(len(labels), dtype=np.float32),
    )


def _parameters(choices: CrfChoices) -> dict[str, object]:
    if choices.algorithm == "ap":
        return {"max_iterations": choices.iterations}
    return {"max_iterations": choices.iterations, "c1": choices.l1, "c2": choices.l2}


class _Reporting(pycrfsuite.Trainer):  # type: ignore[misc]  # it has no types
    """Tells each pass."""

    _PASS = re.compile(r"Iteration #(\d+)")

    def __init__(self, most: int, progress: Progress | None) -> None:
        super().__init__(verbose=False)
        self._most = most
        self._progress = progress

    def message(self, message: str) -> None:
        """Hear what CRFsuite prints."""
        found = self._PASS.search(message)
        if found and self._progress is not None:
            self._progress(int(found[1]), self._most)
