"""Intervals hold what made-up sequences say, where little of them could be counted.

Each log breaks what a model believes of sequences: that what follows depends on the
last symbols alone, that frequent symbols are kept, that every place is alike.
"""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from release.sequences.questions.counting import count, grouped
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.question import StartsWith
from release.sequences.strategies.registry import STRATEGIES
from tests.support.data.sequences import (
    beginnings,
    log_domain,
    measure_log,
    occurrences_of,
    random_log,
    sealed_log,
)
from tests.support.noise.meters import SeededSampler

SEEDS, TOP = 4, 40


def templates(units, alphabet, longest, seed=17):
    """Sequences that follow one of a few ways from the start to the end."""
    dice = np.random.default_rng(seed)
    ways = [
        dice.integers(0, alphabet, int(dice.integers(3, longest + 1)))
        for _ in range(12)
    ]
    shares = dice.dirichlet(np.full(len(ways), 0.8))
    found = []
    for way in dice.choice(len(ways), units, p=shares):
        kept = [int(symbol) for symbol in ways[way] if dice.random() > 0.1]
        found.append(tuple(kept) or (0,))
    return found


def apart(units, alphabet, longest, seed=9):
    """Sequences whose symbols depend on the place alone."""
    dice = np.random.default_rng(seed)
    probabilities = dice.dirichlet(np.full(alphabet, 0.5), size=longest)
    lengths = dice.integers(1, longest + 1, units)
    return [
        tuple(int(dice.choice(alphabet, p=probabilities[n])) for n in range(length))
        for length in lengths
    ]


LOGS = {
    "ways": (templates(1_000, 8, 9), 8, 9),
    "places": (apart(1_500, 5, 8), 5, 8),
    "persistent": (random_log(1_000, 6, 10, seed=3), 6, 10),
    "few": (random_log(200, 4, 6, seed=8), 4, 6),
}


@cache
def truth(name):
    """Return the most frequent runs and beginnings, and some that are not."""
    log, alphabet, longest = LOGS[name]
    domain = log_domain(alphabet, longest)
    begun = beginnings(log, domain)
    known = [path for path, _ in begun.most_common(TOP) if domain.end not in path]
    dice = np.random.default_rng(2)
    known += [tuple(dice.integers(0, alphabet, 2).tolist()) for _ in range(TOP)]
    runs = Counter(
        walk[start : start + size]
        for walk in log
        for size in (2, 3, 4)
        for start in range(len(walk) - size + 1)
    )
    return {path: begun[path] for path in known}, dict(runs.most_common(2 * TOP))


def published(strategy, name, epsilon, seed):
    log, alphabet, longest = LOGS[name]
    sealed = sealed_log(log, log_domain(alphabet, longest))
    sampler = SeededSampler(seed)
    return measure_log(STRATEGIES[strategy], sealed, epsilon, sampler=sampler)[0]


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.2", "1", "5"])
@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("strategy", ["ngram", "prefix_tree"])
def test_intervals_hold_beginnings_and_frequent_runs(strategy, name, epsilon):
    begun, runs = truth(name)
    held = {"beginnings": [], "runs": []}
    for seed in range(SEEDS):
        model = published(strategy, name, epsilon, seed)
        tree = LevelledTree(model.domain, model.paths())
        for path, true in begun.items():
            told = count(tree, grouped(tree, StartsWith(path), ()))
            low = told.values[0] - told.half_widths[0]
            high = told.values[0] + told.undecided[0] + told.reach[0]
            held["beginnings"].append(low - 1e-6 <= true <= high + 1e-6)
        for told, true in zip(
            model.occurrences(list(runs)), runs.values(), strict=True
        ):
            held["runs"].append(abs(told.value - true) <= told.half_width)

    shares = {kind: np.mean(found) for kind, found in held.items()}
    assert min(shares.values()) >= 0.93, shares  # 95 in 100 and more are promised


def test_the_made_up_runs_are_counted_as_they_stand():
    log = LOGS["few"][0]
    for run, times in list(truth("few")[1].items())[:5]:
        assert times == occurrences_of(run, log)
