"""n-grams: what is counted, what it costs, and what is told of it."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.sequences.models.ngram import NgramModel
from release.sequences.sealed.sampling import sampled_places
from release.sequences.strategies.ngram import Ngram
from tests.support.data.sealed_logs import publish, sealed_sequences, sequence_domain
from tests.support.noise.meters import SeededSampler
from tests.support.noise.samplers import ZeroVectorSampler

START, END = -1, 3
WARD = [[0, 1, 2, 0, 1], [0, 1], [2, 2, 2, 2, 2, 2], [1], [0, 1, 2, 0, 1]] * 40


def grams_of(model):
    """Return every published gram with its count, groups first."""
    above, found = [(group,) for group in range(model.domain.groups)], {}
    for level in model.levels:
        own = [
            (*above[parent], symbol)
            for parent, symbol in zip(level.parents, level.symbols, strict=True)
        ]
        found |= dict(zip(own, level.counts.tolist(), strict=True))
        above = own
    return found


def counted_by_hand(sequences, cut, order, max_length):
    found = Counter()
    for own in sequences:
        kept = own[:max_length]
        padded = [START, *kept, *([END] if len(kept) < max_length else [])]
        _, places = sampled_places(np.array([len(kept)]), np.zeros(1, int), cut - 1)
        for place in (0, *(places + 1).tolist()):
            for length in range(1, order + 1):
                gram = tuple(padded[place : place + length])
                if len(gram) == length:
                    found[0, *gram] += 1
    return found


class WatchedMeter(Meter):
    """Remembers what each level was counted from, and with which scales."""

    def path_budget(self, part, l1):
        budget = super().path_budget(part, l1)
        self.l1, self.levels, measure = l1, [], budget.measure

        def watched(sealed, rule):
            noisy = measure(sealed, rule)
            raw = sealed.unseal()
            counts = dict(zip(raw.cells.tolist(), raw.counts.tolist(), strict=True))
            self.levels.append((counts, rule, noisy))
            return noisy

        self.watched = watched
        return _Watched(budget, watched)


class _Watched:
    def __init__(self, budget, watched):
        self._budget, self.measure = budget, watched

    @property
    def left(self):
        return self._budget.left


def watch(sequences, epsilon, sampler, parameters=None):
    strategy, loss = Ngram(), Loss.parse(epsilon)
    parts = strategy.parts(sequences.domain, loss, parameters or {})
    meter = WatchedMeter(Charge("test", loss), parts, sampler)
    return strategy.measure(sequences, meter, parameters or {}), meter


@pytest.mark.parametrize("text", ["0.001", "0.1", "1", "2.999999999"])
def test_the_parts_sum_to_exactly_the_loss(text):
    loss = Loss.parse(text)
    parts = Ngram().parts(sequence_domain(17, 20), loss, {})
    assert [part.name for part in parts] == ["lengths", "grams"]
    assert sum(part.loss.nano_epsilon for part in parts) == loss.nano_epsilon


@pytest.mark.parametrize(
    "parameters",
    [{"cut": 0}, {"cut": 1}, {"cut": 8}, {"order": 0}, {"order": 99}, {"n": 3}],
)
def test_parameters_that_do_not_fit_are_refused(parameters):
    with pytest.raises(ReleaseRefusedError):
        Ngram().parts(sequence_domain(3, 6), Loss.parse("1"), parameters)


def test_grams_too_long_to_be_numbered_are_refused():
    with pytest.raises(ReleaseRefusedError, match="order"):
        Ngram().parts(sequence_domain(10**6, 6), Loss.parse("1"), {"order": 5})


@pytest.mark.parametrize("cut", [2, 3, 4, 7])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_without_noise_every_gram_is_counted_exactly(cut, order):
    sealed = sealed_sequences(WARD, 3, 6)
    model = publish(
        Ngram(),
        sealed,
        "100",
        {"cut": cut, "order": order},
        sampler=ZeroVectorSampler(),
    )
    exact = counted_by_hand(WARD, cut, order, 6)
    found = grams_of(model)
    assert found == {gram: exact[gram] for gram in found}
    least = min(model.threshold, *(count for count in exact.values()))
    assert set(found) >= {gram for gram, count in exact.items() if count > 10 * least}


def test_without_noise_and_with_every_place_runs_are_counted_exactly():
    sealed = sealed_sequences(WARD, 3, 7)
    model = publish(
        Ngram(), sealed, "100000", {"cut": 8, "order": 4}, sampler=ZeroVectorSampler()
    )
    runs = [(0,), (0, 1), (2, 2, 2), (1, 2, 0, 1), (0, 1, 2, 0, 1), (2, 1)]
    found = [estimate.value for estimate in model.occurrences(runs)]
    assert found == pytest.approx([200, 200, 160, 80, 80, 0], abs=1e-3)


def test_the_cut_grows_with_the_loss_and_never_beyond_what_is_there():
    generator = np.random.default_rng(1)
    lengths = generator.geometric(0.2, 3_000)
    sealed = sealed_sequences(
        [generator.integers(0, 5, n).tolist() for n in lengths], 5, 30
    )
    cuts = [publish(Ngram(), sealed, text, seed=3).cut for text in ("1", "5", "30")]
    assert 2 <= cuts[0] < cuts[1] < cuts[2] <= 31


@given(st.integers(0, 50), st.integers(2, 9), st.data())
@settings(max_examples=25, deadline=None)
def test_one_unit_moves_every_level_by_no_more_than_the_cut(seed, cut, data):
    """The same decisions over neighbours: noise is frozen, the walks are not."""
    own = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=12))
    with_unit = sealed_sequences([*WARD, own], 3, 8).grams(cut)
    without = sealed_sequences(WARD, 3, 8).grams(cut)
    generator = np.random.default_rng(seed)
    both = [with_unit.first().unseal(), without.first().unseal()]
    for _ in range(5):
        more, fewer = (
            Counter(dict(zip(raw.cells.tolist(), raw.counts.tolist(), strict=True)))
            for raw in both
        )
        more.subtract(fewer)
        assert min(more.values()) >= 0
        assert sum(more.values()) <= min(cut, len(own) + 1)
        nodes = np.flatnonzero(generator.random(int(both[0].cells.max()) + 1) < 0.7)
        if not len(nodes):
            break
        both = [walks.below(nodes).unseal() for walks in (with_unit, without)]
        if not len(both[0].cells):
            break


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_one_units_walks_cost_no_more_than_the_part(own, seed):
    """The sum over all nodes of how far the unit moves them, over their scales."""
    sampler = SeededSampler(seed=seed)
    sealed = sealed_sequences([*WARD, own], 3, 8)
    _, meter = watch(sealed, "1", sampler, {"cut": 4})
    without = sealed_sequences(WARD, 3, 8).grams(meter.l1)
    lost, cells = Fraction(0), None
    for counts, rule, noisy in meter.levels:
        raw = (
            without.first() if cells is None else without.below(cells[rule.parents])
        ).unseal()
        others = dict(zip(raw.cells.tolist(), raw.counts.tolist(), strict=True))
        for cell, count in counts.items():
            scale = Fraction(noisy.scales[cell // rule.fanout])
            lost += (count - others.get(cell, 0)) / scale
        cells = noisy.cells
    assert 0 < lost <= Fraction(96, 100)


def test_a_split_has_its_groups_at_the_price_of_one():
    groups = [place % 2 for place in range(len(WARD))]
    sealed = sealed_sequences(WARD, 3, 6, groups, splits=2)
    model = publish(Ngram(), sealed, "100000", {"cut": 7}, sampler=ZeroVectorSampler())
    found = grams_of(model)
    for group in (0, 1):
        own = [row for row, of in zip(WARD, groups, strict=True) if of == group]
        exact = counted_by_hand(own, 7, 5, 6)
        mine = {(0, *gram[1:]): n for gram, n in found.items() if gram[0] == group}
        assert mine == {gram: exact[gram] for gram in mine}
    assert model.occurrences([(0, 1)])[0].value == pytest.approx(200)


@pytest.mark.parametrize("splits", [1, 3])
def test_a_model_is_rebuilt_from_its_facts_and_tables(splits):
    groups = [place % splits for place in range(len(WARD))]
    sealed = sealed_sequences(WARD, 3, 6, groups, splits)
    model = publish(Ngram(), sealed, "1", seed=4)
    again = NgramModel.rebuilt(sealed.domain, model.facts(), model.tables())
    assert again.facts() == model.facts()
    for name, table in model.tables().items():
        for column, values in table.items():
            assert again.tables()[name][column].tolist() == values.tolist()
    runs = [(0,), (0, 1), (2, 2, 2, 2, 2), (0, 1, 2, 0, 1, 0)]
    assert again.occurrences(runs) == model.occurrences(runs)
    assert again.paths().counts.tolist() == model.paths().counts.tolist()


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "20"])
@pytest.mark.parametrize("splits", [1, 3])
def test_paths_never_grow_and_children_sum_to_their_parent(epsilon, splits):
    groups = [place % splits for place in range(len(WARD))]
    sealed = sealed_sequences(WARD, 3, 6, groups, splits)
    for seed in range(4):
        tree = publish(Ngram(), sealed, epsilon, seed=seed).paths()
        size = len(tree.counts)
        assert {
            len(column) for column in (tree.groups, tree.parents, tree.symbols)
        } == {size}
        below = tree.parents >= 0
        assert tree.depths.max() <= 6
        assert (tree.counts >= 0).all()
        assert (tree.parents[below] < np.flatnonzero(below)).all()
        sums = np.bincount(tree.parents[below], tree.counts[below], minlength=size)
        inner = np.unique(tree.parents[below])
        assert sums[inner] == pytest.approx(tree.counts[inner])
        leaves = np.setdiff1d(np.arange(size), inner)
        ended = np.isin(tree.symbols[leaves], (3, 4)) | (tree.depths[leaves] == 6)
        assert (ended | (tree.counts[leaves] == 0)).all()


def test_paths_stand_breadth_first_in_canonical_order():
    tree = publish(Ngram(), sealed_sequences(WARD, 3, 6), "3", seed=1).paths()
    order = np.lexsort((tree.symbols, tree.parents, tree.depths))
    assert order.tolist() == list(range(len(order)))


def test_without_noise_paths_are_those_of_the_sequences():
    sealed = sealed_sequences(WARD, 3, 6)
    tree = publish(
        Ngram(), sealed, "100000", {"cut": 7, "order": 7}, sampler=ZeroVectorSampler()
    ).paths()
    assert tree.counts[0] == pytest.approx(200)
    firsts = (tree.depths == 1) & (tree.counts > 0)
    found = dict(zip(tree.symbols[firsts], tree.counts[firsts], strict=True))
    assert found == pytest.approx({0: 120, 1: 40, 2: 40})
    ends = tree.symbols == END
    lengths = Counter()
    for depth, count in zip(tree.depths[ends], tree.counts[ends], strict=True):
        lengths[int(depth) - 1] += float(count)
    assert lengths == pytest.approx({1: 40, 2: 40, 5: 80})


def test_the_release_of_nobody_is_made_too():
    model = publish(Ngram(), sealed_sequences([], 3, 6), "0.5", seed=2)
    assert model.occurrences([(0, 1)])[0].half_width > 0
    assert model.paths().counts[0] >= 0


def wanderers(units, symbols, seed):
    """Sequences that stay where they are more often than not."""
    dice = np.random.default_rng(seed)
    lengths = np.minimum(dice.geometric(0.15, units), 12)
    found = []
    for length in lengths.tolist():
        own = [int(dice.integers(symbols))]
        while len(own) < length:
            move = dice.random() < 0.4
            own.append(int(dice.integers(symbols)) if move else own[-1])
        found.append(own)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.2", "1", "5"])
def test_intervals_hold_the_exact_count_nearly_as_often_as_they_say(epsilon):
    units = wanderers(4_000, 4, seed=1)
    sealed = sealed_sequences(units, 4, 12)
    runs = [run for n in range(1, 5) for run in product(range(4), repeat=n)]
    exact = Counter(
        tuple(own[place : place + n])
        for own in units
        for n in range(1, 5)
        for place in range(len(own) - n + 1)
    )
    inside = [
        abs(told.value - exact[run]) <= told.half_width
        for seed in range(5)
        for run, told in zip(
            runs,
            publish(Ngram(), sealed, epsilon, seed=seed).occurrences(runs),
            strict=True,
        )
    ]
    assert np.mean(inside) >= 0.93


def test_runs_longer_than_any_sequence_do_not_occur():
    model = publish(Ngram(), sealed_sequences(WARD, 3, 6), "1", seed=1)
    told = model.occurrences([(0,) * 7, ()])
    assert [(one.value, one.half_width) for one in told] == [(0, 0), (0, 0)]


def test_a_wide_alphabet_costs_what_its_frequent_symbols_do():
    units = [[code * 37 % 5_000, code % 50, 4_999] for code in range(2_000)]
    model = publish(Ngram(), sealed_sequences(units, 5_000, 20), "2", {"order": 4})
    assert len(model.levels[0].counts) < 200
    assert len(model.paths().counts) < 2_000
