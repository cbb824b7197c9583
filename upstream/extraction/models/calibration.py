"""How sure a chain should be: one factor for all its scores.

Support vectors, perceptrons and naive Bayes are far too sure, or their scores are no
logarithms at all. One factor, chosen so that what is true is as likely as possible,
makes thresholds mean what they say.
Source: Guo et al. 2017, temperature scaling.
"""

from collections.abc import Sequence

import numpy as np

from upstream.extraction.features.feature_set import DocumentFeatures
from upstream.extraction.models.chains.inference import marginals
from upstream.extraction.models.chains.tagging import ChainTagger, batches
from upstream.extraction.models.chains.weights import ChainWeights

_FACTORS = np.geomspace(0.02, 2.0, 15)
_STEPS_BETWEEN = 3
_LEAST = 1e-9  # a probability below this is not told from it


def likeliest_factor(
    weights: ChainWeights,
    tagger: ChainTagger,
    documents: Sequence[tuple[DocumentFeatures, Sequence[str]]],
) -> float:
    """Return the factor of all weights that makes true labels likeliest.

    Args:
        weights: As they were trained.
        tagger: Of them.
        documents: What is known of each document, and its true labels; none of them
            was trained on.
    """
    column = {label: number for number, label in enumerate(weights.labels)}
    read = (features for features, _ in documents)
    scored = [scores for batch in batches(read) for scores in tagger.scores(batch)]
    true = [
        np.array([column.get(label, 0) for label in labels], dtype=np.int64)
        for _, labels in documents
    ]

    def surprise(factor: float) -> float:
        scale = np.float32(factor)
        total = 0.0
        for first in range(0, len(scored), 32):
            some = [scale * scores for scores in scored[first : first + 32]]
            joint = marginals(some, scale * tagger.transitions)
            for rows, known in zip(joint, true[first : first + 32], strict=True):
                likely = rows[np.arange(len(known)), known]
                total -= float(np.log(np.maximum(likely, _LEAST)).sum())
        return total

    best = min(_FACTORS.tolist(), key=surprise)
    step = float(_FACTORS[1] / _FACTORS[0])
    around = best * np.geomspace(1 / step, step, 2 * _STEPS_BETWEEN + 1)
    chosen: float = min(around.tolist(), key=surprise)
    return chosen
