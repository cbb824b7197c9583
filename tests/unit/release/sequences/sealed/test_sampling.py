"""Samples of places: as often each, never twice one, and one cell a unit."""

import numpy as np
import pytest

from privacy.sealed import Exact
from privacy.sequences import PHASES, SequenceCounts
from release.sequences.estimation.bands import Bands, band_starts, nearest
from release.sequences.sealed.sampling import sampled_places
from release.sequences.sealed.sealed import SealedSequences
from tests.support.data.sealed_logs import sequence_domain


@pytest.mark.parametrize("length", [1, 2, 7, 30])
@pytest.mark.parametrize("most", [1, 3, 12])
def test_over_all_phases_each_place_is_sampled_equally_often(length, most):
    phases = np.arange(PHASES * length)
    lengths = np.full(len(phases), length)
    owners, places = sampled_places(lengths, phases, most)
    taken = min(length, most)
    assert (np.bincount(owners, minlength=len(phases)) == taken).all()
    assert len(set(zip(owners.tolist(), places.tolist(), strict=True))) == len(owners)
    assert (np.bincount(places, minlength=length) == PHASES * taken).all()


def test_a_larger_sample_holds_a_smaller_one():
    lengths, phases = np.array([20, 9, 20]), np.array([3, 140, 317])
    few, many = (
        set(
            zip(
                *map(np.ndarray.tolist, sampled_places(lengths, phases, n)), strict=True
            )
        )
        for n in (4, 7)
    )
    assert few < many


@pytest.mark.parametrize("seed", range(8))
def test_one_unit_moves_one_cell_of_lengths_and_one_of_symbols(seed):
    dice = np.random.default_rng(seed)
    length = int(dice.integers(1, 41))
    other = np.array([0, 1, 1, 2])
    raws = [
        SequenceCounts(
            symbols=np.concatenate([other, own]),
            starts=np.array([0, 4, 4 + len(own)][: 2 + (len(own) > 0)]),
            groups=np.zeros(1 + (len(own) > 0), dtype=np.int64),
            counts=np.ones(1 + (len(own) > 0), dtype=np.int64),
            phases=np.array([5, int(dice.integers(PHASES * length))])[
                : 1 + (len(own) > 0)
            ],
        )
        for own in (dice.integers(0, 3, length), np.zeros(0, dtype=np.int64))
    ]
    firsts = band_starts(40)
    with_unit, without = (
        SealedSequences(sequence_domain(3, 40), Exact(raw)) for raw in raws
    )
    for name in ("length_bands", "sampled_symbols"):
        both = [getattr(own, name)(firsts).unseal() for own in (with_unit, without)]
        moved = both[0] - both[1]
        assert moved.sum() == 1
        assert np.abs(moved).sum() == 1


def test_negative_counts_do_not_make_sums_larger():
    counts = np.array([[50, -30, 12, -7, 0, 3]])
    bands = Bands(6, counts, 10.0)
    assert bands.units.sum() == pytest.approx(28)
    assert (bands.units >= 0).all()
    assert nearest(np.array([-4.0, -2.0]), -6).tolist() == [0, 0]
