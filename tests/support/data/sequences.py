"""Small sealed logs, and strategies run over them, for tests."""

import itertools
from collections import Counter
from zlib import crc32

import numpy as np

from mechanisms.scales.noises import LAPLACE
from privacy.charges import Charge
from privacy.losses import Loss
from privacy.schema import ColumnType
from privacy.sealed import Exact
from privacy.sequences import PHASES, SequenceCounts
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.sealed.sealed import SealedSequences
from tests.support.noise.meters import RecordingMeter, SeededSampler


def dimension(name, size):
    return Dimension(name, ColumnType.INTEGER, tuple(range(size)), constant=True)


def log_domain(alphabet, max_length, groups=None):
    split = None if groups is None else dimension("group", groups)
    return SequenceDomain(dimension("symbol", alphabet), max_length, split)


def sealed_log(sequences, domain, groups=None):
    """A sealed log of tuples of codes, each cut to the maximal length."""
    groups = groups or [0] * len(sequences)
    cut = [tuple(sequence[: domain.max_length]) for sequence in sequences]
    found = Counter(
        (*own, phase_of(*own, copy))
        for own, copies in Counter(zip(groups, cut, strict=True)).items()
        for copy in range(copies)
    )
    keys = sorted(found)
    lengths = [len(sequence) for _, sequence, _ in keys]
    flat = [*itertools.chain.from_iterable(sequence for _, sequence, _ in keys)]
    raw = SequenceCounts(
        symbols=np.array(flat, dtype=np.int64),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        groups=np.array([key[0] for key in keys], dtype=np.int64),
        counts=np.array([found[key] for key in keys], dtype=np.int64),
        phases=np.array([key[2] for key in keys], dtype=np.int64),
    )
    return SealedSequences(domain, Exact(raw))


def phase_of(group, sequence, copy):
    """The phase of the unit that has a sequence as so many others do: unit-local."""
    digest = crc32(repr((group, sequence, copy)).encode())
    return digest % (PHASES * max(len(sequence), 1))


def measure_log(
    strategy, sealed, epsilon, parameters=None, sampler=None, *, kind=LAPLACE
):
    """Measure once; returns the model and the meter that saw it.

    ``epsilon`` is a rho where the ``kind`` of noise is Gaussian.
    """
    loss, parameters = Loss.parse(epsilon), parameters or {}
    parts = strategy.parts(sealed.domain, loss, parameters)
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon
    sampler = sampler or SeededSampler()
    meter = RecordingMeter(Charge("test", loss), parts, sampler, kind)
    return strategy.measure(sealed, meter, parameters), meter


def beginnings(sequences, domain):
    """How many units each path of a tree counts, ends with the end's code."""
    found = Counter()
    for sequence in sequences:
        path = tuple(sequence[: domain.max_length])
        if len(path) < domain.max_length:
            path = (*path, domain.end)
        found.update(path[: n + 1] for n in range(len(path)))
    return found


def occurrences_of(run, sequences):
    return sum(
        tuple(sequence[start : start + len(run)]) == tuple(run)
        for sequence in sequences
        for start in range(len(sequence))
    )


def random_log(units, alphabet, longest, seed=1, shortest=1):
    """Sequences that mostly repeat their first symbol, of uneven lengths."""
    dice = np.random.default_rng(seed)
    found = []
    for _ in range(units):
        length = int(dice.integers(shortest, longest + 1))
        symbol, sequence = int(dice.geometric(0.5) - 1) % alphabet, []
        for _ in range(length):
            if dice.random() < 0.3:
                symbol = int(dice.integers(0, alphabet))
            sequence.append(symbol)
        found.append(tuple(sequence))
    return found


def paths_of(tree):
    """Each node's path, as (group, codes)."""
    found = []
    for node, parent in enumerate(tree.parents):
        if parent < 0:
            found.append((int(tree.groups[node]), ()))
        else:
            group, path = found[parent]
            found.append((group, (*path, int(tree.symbols[node]))))
    return found
