"""Whether one model is better than another by more than chance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from upstream.extraction.measures.counts import Counts, DocumentCounts, total
from upstream.model_libraries import library

Measure = Callable[[DocumentCounts], Counts]
EXCHANGES: Final = 10_000
_BATCH = 500  # exchanges at a time: bounded memory with many documents


SIGNIFICANT = 0.05
"""Under this probability a difference is called more than chance: the usual level."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How two models differ on the same documents.

    Attributes:
        first: The F1 of the first.
        second: The F1 of the second.
        probability: That models of one quality differ at least so much, either way.
        exchanges: How many random exchanges it was estimated with.
    """

    first: float
    second: float
    probability: float
    exchanges: int

    @property
    def is_significant(self) -> bool:
        """Whether the probability is under one in twenty."""
        return self.probability < SIGNIFICANT


def compare(
    first: Sequence[DocumentCounts],
    second: Sequence[DocumentCounts],
    measure: Measure,
    *,
    exchanges: int = EXCHANGES,
    seed: int = 1,
) -> Difference:
    """Return how two models' F1 differ: an approximate randomization by documents.

    Whether a model found what it found in one document or the other's is exchanged at
    random; how often F1 then differs as much as it does tells chance from quality.
    Source: Noreen 1989; Yeh 2000.

    Args:
        first: The counts of each document, of the first model.
        second: Those of the same documents, in the same order, of the second.
        measure: Which counts are compared.
        exchanges: Random exchanges of all documents; more: a finer probability.
        seed: Of what is exchanged.

    Raises:
        ValueError: They are not of as many documents.
    """
    if len(first) != len(second):
        message = f"{len(first)} documents and {len(second)}: compare the same ones"
        raise ValueError(message)
    one, other = _rows(first, measure), _rows(second, measure)
    told = abs(_f1(one.sum(axis=0)) - _f1(other.sum(axis=0)))
    draws = np.random.default_rng(seed)
    as_large = 0
    for begun in range(0, exchanges, _BATCH):
        count = min(_BATCH, exchanges - begun)
        swap = draws.integers(0, 2, (count, len(one))).astype(np.float64)
        moved = swap @ (other - one)
        differ = _f1(one.sum(axis=0) + moved) - _f1(other.sum(axis=0) - moved)
        as_large += int(np.count_nonzero(np.abs(differ) >= told - 1e-12))
    probability = (as_large + 1) / (exchanges + 1)
    return Difference(
        total(map(measure, first)).f1,
        total(map(measure, second)).f1,
        probability,
        exchanges,
    )


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the p-value of a paired t-test, as HIDE compares folds.

    Args:
        first: A figure of each fold, of the first model.
        second: The same of the second one.

    Raises:
        ValueError: There are fewer than two folds, or not as many of each.
    """
    if len(first) != len(second) or len(first) < 2:  # noqa: PLR2004 - a pair of folds
        message = "a paired t-test takes two or more folds, the same of each model"
        raise ValueError(message)
    differences = np.subtract(first, second)
    if np.ptp(differences) == 0:
        return 1.0 if differences[0] == 0 else 0.0
    return float(library("scipy.stats").ttest_rel(first, second).pvalue)


def _rows(
    documents: Sequence[DocumentCounts], measure: Measure
) -> npt.NDArray[np.float64]:
    rows = [(each.right, each.false, each.missed) for each in map(measure, documents)]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _f1(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    right, false, missed = sums[..., 0], sums[..., 1], sums[..., 2]
    both = 2 * right + false + missed
    one = np.ones_like(both)
    return np.divide(2 * right, both, out=one, where=both > 0)
