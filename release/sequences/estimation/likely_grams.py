"""What grams are likely to be, given their noisy counts and what was expected of them.

Everything here is post-processing of published numbers; docs/proofs/ngram.md.
"""

import numpy as np
from numpy.typing import NDArray

from release.contract.models import FloatArray, IntArray
from release.sequences.estimation.consistency import share_out
from release.sequences.estimation.posterior import Unseen, seen

_LEAST = 1e-12


def likely_singles(
    counts: FloatArray,
    kept: NDArray[np.bool_],
    places: FloatArray,
    noise: tuple[float, int],
) -> FloatArray:
    """Return estimated counts of single symbols, none expected to be frequenter.

    Args:
        counts: (groups, symbols): noisy; 0 where they were not kept.
        kept: Which were; of the same shape.
        places: How many places there are, by group.
        noise: Its scale, and the least count that was kept.
    """
    scale, threshold = noise
    every = np.maximum(places[:, None], counts.sum(axis=1, keepdims=True))
    even = np.broadcast_to(every / counts.shape[1], counts.shape)
    means = Unseen.of(threshold, scale).likely(even).means
    scales = np.full(int(kept.sum()), scale)
    means[kept] = seen(counts[kept], even[kept], scales).means
    return np.asarray(means)


def likely_children(
    counts: FloatArray,
    probabilities: FloatArray,
    totals: tuple[FloatArray, FloatArray],
    noise: tuple[FloatArray, IntArray],
) -> FloatArray:
    """Return estimated counts of all children of some grams.

    No row sums to more than its gram. What kept children leave of what is expected to
    follow is divided among the others, none of which has the threshold.

    Args:
        counts: (grams, symbols + 1): noisy; 0 where they were not kept.
        probabilities: The probability of each child after the longest shorter context.
        totals: How often each gram is expected to be followed by something (a symbol,
            or the end), and how often it occurs.
        noise: The scale of each gram's children, and the least count that was kept.
    """
    (scales, thresholds), (followed, most) = noise, totals
    expected = followed[:, None] * probabilities
    means, variances = np.empty_like(expected), np.empty_like(expected)
    for scale in np.unique(scales).tolist():
        own = scales == scale
        unseen = Unseen.of(int(thresholds[own].max()), scale).likely(expected[own])
        means[own], variances[own] = unseen.means, unseen.variances
    kept = counts > 0
    wide = np.broadcast_to(scales[:, None], counts.shape)[kept]
    whole = np.broadcast_to(np.maximum(most, 0)[:, None], counts.shape)[kept]
    likely = seen(counts[kept], expected[kept], wide, whole)
    means[kept], variances[kept] = likely.means, likely.variances
    missing = np.maximum(followed - means.sum(axis=1), 0)[:, None]
    spare = np.where(kept, 0, probabilities)
    spare /= np.maximum(spare.sum(axis=1, keepdims=True), _LEAST)
    room = np.where(kept, 0, np.maximum(thresholds[:, None] - means, 0))
    means += np.minimum(missing * spare, room)
    return share_out(
        means, variances, np.clip(means.sum(axis=1), 0, np.maximum(most, 0))
    )
