"""Training of linear classifiers of single tokens: support vectors, naive Bayes.

They know nothing of the labels around a token, so they are chains without transitions,
and fast to train: minutes where a conditional random field takes tens of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from upstream.extraction.models.chains.weights import ChainWeights
from upstream.extraction.text.labels import OUTSIDE
from upstream.model_libraries import library

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Progress = Callable[[int, int], None]
_SMALLEST = 1e-7  # a weight below this is none: it adds nothing that shows


class LinearChoices(BaseModel):
    """How a classifier of tokens is trained.

    Attributes:
        algorithm: ``svm``, a linear support vector machine by stochastic gradient
            descent with averaged weights, or ``bayes``, multinomial naive Bayes.
        penalty: Coefficient of the squared weights (``svm``), or what is added to each
            count (``bayes``).
        passes: Over the tokens, of ``svm``.
        least_count: Attributes of fewer tokens than this are left out.
        seed: Of the order in which ``svm`` sees the tokens.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    algorithm: Literal["svm", "bayes"] = "svm"
    penalty: float = Field(default=1e-6, gt=0)
    passes: int = Field(default=10, ge=1, le=1000)
    least_count: int = Field(default=2, ge=1)
    seed: int = Field(default=1, ge=0)


class LinearTrainer:
    """Takes texts one by one, and trains at the end."""

    def __init__(self, choices: LinearChoices) -> None:
        self._choices = choices
        self._columns: dict[str, int] = {}
        self._counts: Counter[int] = Counter()
        self._attributes: list[int] = []
        self._values: list[float] = []
        self._ends: list[int] = [0]
        self._labels: list[str] = []

    def add(
        self, attributes: Iterable[Mapping[str, float]], labels: Sequence[str]
    ) -> None:
        """Take a text: for each token its attributes, and its label."""
        columns = self._columns
        for each in attributes:
            found = [columns.setdefault(name, len(columns)) for name in each]
            self._counts.update(found)
            self._attributes += found
            self._values += each.values()
            self._ends.append(len(self._attributes))
        self._labels += labels

    def train(self, progress: Progress | None = None) -> ChainWeights:
        """Return the weights.

        Args:
            progress: Told that training begins and ends.
        """
        passes = self._choices.passes
        if progress is not None:
            progress(0, passes)
        least = self._choices.least_count
        kept = [name for name, at in self._columns.items() if self._counts[at] >= least]
        rows = self._matrix()[:, [self._columns[name] for name in kept]]
        types = sorted(set(self._labels) - {OUTSIDE})
        labels = (OUTSIDE, *types)
        numbers = {label: number for number, label in enumerate(labels)}
        known = np.array([numbers[label] for label in self._labels])
        if len(set(self._labels)) == 1:  # nothing to tell apart
            return _weights(labels[:1], kept, np.zeros((len(kept), 1)), np.zeros(1))
        if self._choices.algorithm == "bayes":
            states, intercept = self._bayes(rows, known, len(labels))
        else:
            states, intercept = self._support(rows, known, len(labels))
        return _weights(labels, kept, states, intercept)

    def _matrix(self) -> "csr_matrix":
        shape = (len(self._labels), len(self._columns))
        return library("scipy.sparse").csr_matrix(
            (self._values, self._attributes, self._ends), shape=shape
        )

    def _bayes(
        self, rows: "csr_matrix", known: npt.NDArray[np.int64], count: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        model = library("sklearn.naive_bayes").MultinomialNB(
            alpha=max(self._choices.penalty, 1e-3)
        )
        model.partial_fit(rows, known, classes=np.arange(count))
        states = model.feature_log_prob_.T
        centred = states - states.mean(axis=1, keepdims=True)
        return centred, model.class_log_prior_.clip(min=-50.0)

    def _support(
        self, rows: "csr_matrix", known: npt.NDArray[np.int64], count: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        model = library("sklearn.linear_model").SGDClassifier(
            alpha=self._choices.penalty,
            max_iter=self._choices.passes,
            tol=None,
            average=True,
            random_state=self._choices.seed,
        )
        model.fit(rows, known)
        states = np.zeros((rows.shape[1], count))
        intercept = np.full(count, -50.0)
        columns = model.classes_
        if len(columns) == 2:  # noqa: PLR2004 - of two classes it keeps one's weights
            states[:, columns] = np.stack([-model.coef_[0], model.coef_[0]], axis=1) / 2
            intercept[columns] = np.array([-1, 1]) * model.intercept_[0] / 2
        else:
            states[:, columns] = model.coef_.T
            intercept[columns] = model.intercept_
        return states, intercept


def _weights(
    labels: tuple[str, ...],
    names: Sequence[str],
    states: npt.NDArray[np.float64],
    intercept: npt.NDArray[np.float64],
) -> ChainWeights:
    used = np.flatnonzero(np.abs(states).max(axis=1, initial=0.0) > _SMALLEST)
    zero = np.zeros((1, len(labels)))
    return ChainWeights(
        labels,
        tuple(names[at] for at in used.tolist()),
        np.concatenate([states[used], zero]).astype(np.float32),
        np.zeros((len(labels), len(labels)), dtype=np.float32),
        intercept.astype(np.float32),
    )
