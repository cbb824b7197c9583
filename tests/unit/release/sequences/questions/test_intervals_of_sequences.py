"""Intervals of a published prefix tree hold what the sequences say."""

from itertools import pairwise

import numpy as np
import pytest

from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from privacy.losses import Loss
from privacy.schema import ColumnType
from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.questions.answering import AskedSequences
from release.sequences.questions.published import PublishedSequences
from release.sequences.sealed.sealed import SealedSequences
from release.sequences.strategies.registry import STRATEGIES
from tests.support.noise.meters import SeededSampler
from tests.unit.release.sequences.asked_sequences import ask

SYMBOLS, H, UNITS, SEEDS = 4, 4, 1_500, 4
ALPHABET = Dimension("s", ColumnType.INTEGER, tuple(range(SYMBOLS)), ordered=True)
DOMAIN = SequenceDomain(ALPHABET, H)


def walks():
    """Return made-up sequences: walks whose next step depends on the last one."""
    random = np.random.default_rng(11)
    ways = random.dirichlet(np.full(SYMBOLS, 0.7), size=SYMBOLS)
    found = []
    for _ in range(UNITS):
        walk = [int(random.integers(SYMBOLS))]
        for _ in range(min(int(random.geometric(0.3)), H) - 1):
            walk.append(int(random.choice(SYMBOLS, p=ways[walk[-1]])))
        found.append(tuple(walk))
    return found


WALKS = walks()


def opened(epsilon, seed):
    distinct = sorted(set(WALKS))
    raw = SequenceCounts(
        symbols=np.array([s for walk in distinct for s in walk], dtype=np.int64),
        starts=np.cumsum([0, *map(len, distinct)], dtype=np.int64),
        groups=np.zeros(len(distinct), dtype=np.int64),
        counts=np.array([WALKS.count(walk) for walk in distinct], dtype=np.int64),
        phases=np.zeros(len(distinct), dtype=np.int64),
    )
    strategy, loss = STRATEGIES["prefix_tree"], Loss.parse(epsilon)
    parts = strategy.parts(DOMAIN, loss, {})
    meter = Meter(Charge("test", loss), parts, SeededSampler(seed))
    model = strategy.measure(SealedSequences(DOMAIN, Exact(raw)), meter, {})
    return AskedSequences(PublishedSequences("rel_1", "walks", DOMAIN, "unit"), model)


def questions():
    """Yield conditions, each with what it means."""
    for a in range(SYMBOLS):
        for place in range(1, H + 1):
            yield (
                f"SYMBOL_AT({place}) = {a}",
                lambda w, a=a, p=place: len(w) >= p and w[p - 1] == a,
            )
        for b in range(SYMBOLS):
            yield f"STARTS_WITH({a}, {b})", lambda w, a=a, b=b: w[:2] == (a, b)
            yield (
                f"HAS_RUN({a}, {b})",
                lambda w, a=a, b=b: (a, b) in pairwise(w),
            )
            yield (
                f"FIRST_THEN({a}, {b})",
                lambda w, a=a, b=b: a in w and b in w[w.index(a) + 1 :],
            )
    for length in range(1, H + 1):
        yield f"LENGTH() = {length}", lambda w, n=length: len(w) == n


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.2", "1", "5"])
def test_intervals_hold_the_counts_of_the_sequences(epsilon):
    kinds: dict[str, list[bool]] = {}
    for seed in range(SEEDS):
        release = opened(epsilon, seed)
        for text, meaning in questions():
            answer = ask(release, f"SELECT COUNT(*) AS n FROM walks WHERE {text}")
            low, high = map(float, answer.intervals[0].rows[0])
            kind = text.partition("(")[0]
            kinds.setdefault(kind, []).append(low <= sum(map(meaning, WALKS)) <= high)

    held = {kind: sum(found) / len(found) for kind, found in kinds.items()}
    every = [one for found in kinds.values() for one in found]
    assert sum(every) / len(every) >= 0.95, held
    assert all(share >= 0.9 for share in held.values()), held  # 16 of some


def of_runs():
    """Yield questions about runs in some sequences, each with what it means."""
    for a in range(SYMBOLS):
        for b in range(SYMBOLS):
            yield (
                f"OCCURRENCES({a}, {b})",
                f"STARTS_WITH({a})",
                lambda w, a=a, b=b: (w[0] == a) * list(pairwise(w)).count((a, b)),
            )
            yield (
                f"OCCURRENCES({b})",
                f"HAS_RUN({a})",
                lambda w, a=a, b=b: (a in w) * w.count(b),
            )
        for n in range(1, H + 1):
            yield (
                f"OCCURRENCES({a})",
                f"LENGTH() >= {n}",
                lambda w, a=a, n=n: (len(w) >= n) * w.count(a),
            )


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.2", "1", "5"])
def test_intervals_hold_the_runs_of_the_sequences_that_match(epsilon):
    held = []
    for seed in range(SEEDS):
        release = opened(epsilon, seed)
        for number, where, meaning in of_runs():
            answer = ask(release, f"SELECT {number} AS n FROM walks WHERE {where}")
            low, high = map(float, answer.intervals[0].rows[0])
            held.append(low <= sum(map(meaning, WALKS)) <= high)

    assert sum(held) / len(held) >= 0.95, sum(held) / len(held)
