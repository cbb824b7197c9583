"""SmartNoise's pricing of the same questions, computed; nothing of it is run.

Each question has an even part of a pure cap. A count has Laplace noise at the scale of
the most rows of a patient by its epsilon, whatever it counts. A question with groups
also draws a count of people for each, for half of its epsilon, and shows a group only
where that passes a threshold (Wilson and others 2020, *Differentially private SQL with
bounded user contribution*), so that groups do not tell that somebody is in them. A mean
is a sum and a count, half each. It keeps no answers, so repeats are paid again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from typing import Final

from benchmarks.economy.measures import DELTA
from benchmarks.economy.questions import Kind, Meaning, Question
from benchmarks.economy.runs import Account, Fate
from benchmarks.economy.tables import MOST_STAYS, NUMBERS
from benchmarks.economy.usefulness import AT_LEAST, Truth, tolerance

_NOISE: Final = log(20)  # of Laplace noise of scale 1, the half-width at 95 %
_BOTH: Final = log(40)  # the same at 97.5 %: of both parts of a mean at once


def priced(
    cap: int, questions: Sequence[Question], truths: Mapping[int, Truth]
) -> Account:
    """Return what an epsilon, split evenly, buys at these prices."""
    epsilon = cap / len(questions)
    fates: Counter[tuple[Kind, Fate, bool]] = Counter()
    for question in questions:
        truth = truths[question.number]
        if not truth.is_too_small:
            useful = _is_useful(question.meaning, truth, epsilon)
            fates[question.kind, Fate.USEFUL if useful else Fate.NOISY, False] += 1
    noisy = sum(n for (_, fate, _), n in fates.items() if fate is Fate.NOISY)
    return Account(fates, 1.0, noisy / len(questions), None)


def _is_useful(meaning: Meaning, truth: Truth, epsilon: float) -> bool:
    rows = MOST_STAYS if meaning.table == "stays" or meaning.cohort else 1
    own = epsilon / 2 if meaning.keys else epsilon
    if meaning.keys:
        numbers = [n for n in truth.rows.values() if n >= AT_LEAST]
        if min(numbers, default=0) < _threshold(rows, own):
            return False
    if not truth.is_count:
        return _is_useful_mean(meaning, truth, rows, own / 2)
    width = _NOISE * rows / own
    return all(width <= tolerance(n, is_count=True) for n in truth.values.values())


def _threshold(rows: int, epsilon: float) -> float:
    """Return from which noisy number of people on a group is shown."""
    each = 1 - (1 - float(DELTA.epsilon)) ** (1 / rows)
    return 1 - rows * log(2 * each) / epsilon


def _is_useful_mean(meaning: Meaning, truth: Truth, rows: int, epsilon: float) -> bool:
    """Whether sum and count keep the mean to its tolerance, where noise is small."""
    _, most = NUMBERS.get(meaning.measure.column, (0, 1))
    for group, mean in truth.values.items():
        if mean is None:
            continue
        moved = _BOTH * rows * (most + mean) / epsilon / truth.rows[group]
        if moved > tolerance(mean, is_count=False):
            return False
    return True
