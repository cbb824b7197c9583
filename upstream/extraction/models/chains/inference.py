"""Probabilities of labels in a linear chain: forward and backward, many texts at once.

Source: Lafferty, McCallum and Pereira 2001; Rabiner 1989 for the scaling.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Probabilities = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]


def marginals(
    scores: Sequence[Scores], transitions: npt.NDArray[np.float32]
) -> list[Probabilities]:
    """Return the probability of each label for each token of several texts.

    Args:
        scores: For each text, shape (tokens, labels), logarithms up to a constant.
        transitions: Shape (labels, labels), logarithms; minus infinity forbids.

    Returns:
        For each text an array of its shape; rows add up to 1.

    >>> chain = np.array([[0.0, 0.0], [-np.inf, 0.0]], dtype=np.float32)
    >>> marginals([np.zeros((2, 2), dtype=np.float32)], chain)[0].round(3).tolist()
    [[0.667, 0.333], [0.333, 0.667]]
    """
    order = sorted(range(len(scores)), key=lambda text: -len(scores[text]))
    lengths = np.array([len(scores[text]) for text in order], dtype=np.int64)
    if not lengths.size or not lengths[0]:
        return [np.zeros(each.shape) for each in scores]
    padded = _padded([scores[text] for text in order], int(lengths[0]))
    active = [int(np.count_nonzero(lengths > step)) for step in range(lengths[0])]
    joint = _forward_backward(padded, _exponentials(transitions), active)
    found: list[Probabilities] = [np.zeros(0)] * len(scores)
    for row, text in enumerate(order):
        found[text] = joint[: lengths[row], row]
    return found


def _exponentials(transitions: npt.NDArray[np.float32]) -> Probabilities:
    """Return the exponentials, the most of them 1: large scores would be infinite."""
    highest = transitions.max(initial=-np.inf)
    shift = highest if np.isfinite(highest) else 0.0
    return np.exp(transitions.astype(np.float64) - shift)


def _padded(scores: Sequence[Scores], steps: int) -> Probabilities:
    """Return the exponentials, shape (steps, texts, labels), each row's most 1."""
    padded = np.zeros((steps, len(scores), scores[0].shape[1]))
    for row, each in enumerate(scores):
        if len(each):
            highest = each.max(axis=1, keepdims=True)
            padded[: len(each), row] = np.exp(each - highest)
    return padded


def _forward_backward(
    local: Probabilities, chain: Probabilities, active: list[int]
) -> Probabilities:
    steps = len(local)
    forward = np.zeros_like(local)
    forward[0] = _scaled(local[0])
    for step in range(1, steps):
        rows = active[step]
        reached = forward[step - 1, :rows] @ chain
        forward[step, :rows] = _scaled(reached * local[step, :rows])
    behind = np.ones(local.shape[1:])
    for step in range(steps - 2, -1, -1):
        rows = active[step + 1]
        ahead = (local[step + 1, :rows] * behind[:rows]) @ chain.T
        behind[:rows] = _scaled(ahead)
        forward[step, :rows] = _scaled(forward[step, :rows] * behind[:rows])
    return forward


def _scaled(rows: Probabilities) -> Probabilities:
    total = rows.sum(axis=1, keepdims=True)
    return rows / np.where(total > 0, total, 1.0)
