"""Small made-up sequences under seal, and real meters over them."""

import numpy as np

from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from privacy.losses import Loss
from privacy.schema import ColumnType
from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.sealed.sealed import SealedSequences
from tests.support.noise.meters import SeededSampler


def sequence_domain(symbols, max_length, groups=1):
    alphabet = Dimension("symbol", ColumnType.INTEGER, tuple(range(symbols)))
    split = None
    if groups > 1:
        split = Dimension(
            "split", ColumnType.INTEGER, tuple(range(groups)), constant=True
        )
    return SequenceDomain(alphabet, max_length, split)


def counts_of(sequences, max_length, groups=None):
    """Distinct sequences of units, each cut to the maximal length."""
    groups = [0] * len(sequences) if groups is None else groups
    units = {}
    for group, own in zip(groups, sequences, strict=True):
        key = (group, tuple(own[:max_length]))
        units[key] = units.get(key, 0) + 1
    keys = sorted(units)
    lengths = [len(own) for _, own in keys]
    return SequenceCounts(
        symbols=np.array([code for _, own in keys for code in own], dtype=np.int64),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        groups=np.array([group for group, _ in keys], dtype=np.int64),
        counts=np.array([units[key] for key in keys], dtype=np.int64),
        phases=np.zeros(len(keys), dtype=np.int64),
    )


def sealed_sequences(sequences, symbols, max_length, groups=None, splits=1):
    domain = sequence_domain(symbols, max_length, splits)
    return SealedSequences(domain, Exact(counts_of(sequences, max_length, groups)))


def publish(strategy, sequences, epsilon, parameters=None, sampler=None, **noise):
    """Measure once, with every part spent; returns the model."""
    loss, parameters = Loss.parse(epsilon), parameters or {}
    parts = strategy.parts(sequences.domain, loss, parameters)
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon
    meter = Meter(Charge("test", loss), parts, sampler or SeededSampler(**noise))
    model = strategy.measure(sequences, meter, parameters)
    assert not meter._left, meter._left
    return model
