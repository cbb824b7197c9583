"""Does the time of a reply tell whether one heavy patient is there? (A3, A4)"""

import time
from dataclasses import dataclass, field

from scipy import stats

from tests.audit.instruments.arms import Line, Question
from tests.audit.instruments.bounds import Hits, area_under_curve

HEAVY_QUESTION = Question(
    "heavy",
    "SELECT age, COUNT(DISTINCT patient_id) FROM visits WHERE day >= DATE '2024-02-01'"
    " GROUP BY age",
)
HEAVY_SLOT_MS = 150  # a share of it is what may hang on one unit
HEAVY_PERMITS = 2  # and is shared by all replies: few, as this unit is the heaviest


@dataclass
class Timed:
    """Seconds from sending to the last byte, and an answer's numbers, an arm."""

    seconds: list[float] = field(default_factory=list)
    numbers: list[list[int]] = field(default_factory=list)

    def note(self, line, question):
        start = time.monotonic()
        body = line.answer(question)
        self.seconds.append(time.monotonic() - start)
        self.numbers.append([row[-1] for row in body["rows"]])


def time_arms(arms, urls, question, rounds, *, sweep_seconds=0.0, tell=None):
    """Ask both arms in turns (A B, B A), ``rounds`` times each.

    ``sweep_seconds``: the sending moment moves through this span of the clock, so that
    a grid fixed to the clock could not hide.
    """
    times = Timed(), Timed()
    with Line(urls[0], arms.present.key) as one, Line(urls[1], arms.absent.key) as two:
        pairs = [(times[0], one), (times[1], two)]
        for timed, line in pairs:
            timed.note(line, question)  # the first opens connection and snapshot
            timed.seconds.clear()
            timed.numbers.clear()
        for number in range(rounds):
            for timed, line in pairs if number % 2 else reversed(pairs):
                _wait_for_phase(number / rounds, sweep_seconds)
                timed.note(line, question)
            if tell is not None:
                tell(number + 1)
    return times


def _wait_for_phase(phase, span):
    if span:
        time.sleep((phase * span - time.monotonic()) % span)


def area(times):
    """Return how probable it is that the heavy arm takes longer; 0.5 tells nothing."""
    return area_under_curve(times[0].seconds, times[1].seconds)


def threshold_bound(times, alpha):
    """Return a lower bound on the loss through one threshold of time.

    It is chosen on the first half and counted on the second.
    """
    half = len(times[0].seconds) // 2
    train = [timed.seconds[:half] for timed in times]
    best = max(
        sorted({*train[0], *train[1]})[:: max(1, half // 100)],
        key=lambda mark: abs(_share(train[0], mark) - _share(train[1], mark)),
    )
    fresh = [timed.seconds[half:] for timed in times]
    hits = [sum(value > best for value in values) for values in fresh]
    return Hits(hits[0], hits[1], len(fresh[0])).lower_bound(alpha)


def _share(values, mark):
    return sum(value > mark for value in values) / len(values)


def noise_correlation(timed, exact):
    """Return Spearman's correlation of time with the size of the noise (A4)."""
    sizes = [
        sum(abs(value - mark) for value, mark in zip(numbers, exact, strict=True))
        for numbers in timed.numbers
    ]
    return float(stats.spearmanr(timed.seconds, sizes).statistic)
