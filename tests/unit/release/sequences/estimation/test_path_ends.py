"""Paths of n-grams reach up to the least of their parts, whatever a chain expects."""

import numpy as np
import pytest

from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.estimation.chains import GramLevel
from release.sequences.models.ngram import NgramModel
from tests.unit.release.sequences.asked_sequences import LETTERS, path_of

A, B, END = 0, 1, 3
SCALE, THRESHOLD = 2.0, 10
OFF = SCALE * np.log(10)
"""How far above a noisy value its upper end is, 19 times in 20."""


def model(units=600, *, most=4, cut=5):
    """Publish n-grams of 600 units, 100 of which begin with a, b, and end there."""
    domain, firsts = SequenceDomain(LETTERS, most), band_starts(most)
    lengths = np.zeros((1, len(firsts)), dtype=np.int64)
    lengths[0, [0, 1, -1]] = units // 3
    singles = _level([0, 0, 0], [A, B, -1], [900, 900, units], scale=SCALE)
    pairs = _level([0, 0, 1, 2], [B, END, END, A], [400, 20, 100, 300])
    return NgramModel(
        domain, 3, cut, Bands(most, lengths, 1.0), SCALE, THRESHOLD, (singles, pairs)
    )


def _level(parents, symbols, counts, scale=0.0):
    return GramLevel(
        np.array(parents),
        np.array(symbols),
        np.array(counts),
        np.full(len(counts), scale),
        np.full(len(counts), THRESHOLD if scale else 0),
    )


def mosts(published):
    tree = published.paths()
    paths = [path_of(tree, node) for node in range(len(tree.counts))]
    return dict(zip(paths, tree.mosts.tolist(), strict=True)), tree


def test_each_path_ends_at_the_least_of_its_parts():
    found, _ = mosts(model())
    assert 300 + OFF <= found[A,] <= 300 + 3 * OFF
    assert found[A, B] <= found[A,]
    assert 100 + OFF <= found[A, B, END] <= 100 + 3 * OFF
    assert 20 + OFF <= found[A, END] <= 20 + 3 * OFF
    assert THRESHOLD + OFF <= found[B,] <= THRESHOLD + 3 * OFF


def test_what_is_not_known_has_no_end_of_its_own():
    tree = model().paths()
    rests = tree.symbols == SequenceDomain(LETTERS, 4).rest
    assert tree.mosts[rests] == pytest.approx(tree.counts[rests])


def test_parts_at_sampled_places_may_be_of_more_units():
    every, _ = mosts(model())
    some, _ = mosts(model(cut=2))
    assert some[A, B, END] > every[A, B, END] + 50
    assert some[A,] == pytest.approx(every[A,], rel=0.1)


def test_no_more_end_than_have_the_length():
    found, _ = mosts(model(units=60))
    assert found[A, B, END] < 20 + 2.12 * np.sqrt(2) + 1e-6
