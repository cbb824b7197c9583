"""Questions about lengths alone are answered from the noisy lengths, too."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from release.contract.confidence import selected_confidence, widening
from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.models.picked import PickedSequences
from release.sequences.questions.by_lengths import one_way
from release.sequences.questions.levels import LevelledTree
from tests.effort import rounds
from tests.unit.release.sequences.asked_sequences import (
    LETTERS,
    REST,
    SEX,
    PathModel,
    ask,
    asked,
    tree_of,
)

PLAIN = SequenceDomain(LETTERS, 4)
SPLIT = SequenceDomain(LETTERS, 4, SEX)
LONG = SequenceDomain(LETTERS, 20)
EXACT = 1e-9
"""A scale of hardly any noise."""

NOTHING_KNOWN = {(0, (), REST): 1_000}
SOME_KNOWN = {(0, (0,), ""): 300, (0, (0, 1), REST): 400, (0, (1,), REST): 300}
LENGTHS = [310, 250, 290, 150]


def opened(domain, counts, scale, leaves=None):
    """Open a tree of some leaves, with noisy lengths beside it."""
    shape = domain.groups, len(band_starts(domain.max_length))
    bands = Bands(domain.max_length, np.array(counts).reshape(shape), scale)
    return asked(domain, leaves or NOTHING_KNOWN, bands=bands)


def counted(release, where, **options):
    answer = ask(release, f"SELECT COUNT(*) AS n FROM stays WHERE {where}", **options)
    low, high = map(float, answer.intervals[0].rows[0])
    return float(answer.rows[0][0]), low, high


def rows(release, sql, **options):
    """Return (key, value, low, high) of each row."""
    answer = ask(release, sql, **options)
    ends = answer.intervals[0].rows
    return [
        (row[0], float(row[-1]), float(low), float(high))
        for row, (low, high) in zip(answer.rows, ends, strict=True)
    ]


# -- what is meant -------------------------------------------------------------


def conditions():
    """Yield texts over lengths and the split, each with what it means."""
    length = st.integers(0, 4)
    atoms = st.one_of(
        length.map(lambda n: (f"LENGTH() >= {n}", lambda _, m, n=n: m >= n)),
        length.map(lambda n: (f"LENGTH() <> {n}", lambda _, m, n=n: m != n)),
        st.tuples(length, length).map(
            lambda two: (f"LENGTH() IN ({two[0]}, {two[1]})", lambda _, m: m in two)
        ),
        st.sampled_from(
            [
                ("sex = 'F'", lambda g, _: None if g == 2 else g == 0),
                ("sex IS NULL", lambda g, _: g == 2),
            ]
        ),
    )
    return st.recursive(atoms, _joined_conditions, max_leaves=4)


def _joined_conditions(some):
    def both(pair):
        (one, first), (other, second) = pair
        return f"({one} AND {other})", lambda *at: _and(first(*at), second(*at))

    def negated(item):
        text, own = item
        return f"(NOT {text})", lambda *at: None if own(*at) is None else not own(*at)

    return st.one_of(st.tuples(some, some).map(both), some.map(negated))


def _and(one, other):
    if one is False or other is False:
        return False
    return None if None in {one, other} else True


@settings(max_examples=rounds(80), deadline=None)
@given(conditions(), st.lists(st.integers(0, 90), min_size=12, max_size=12))
def test_without_noise_conditions_on_lengths_and_split_mean_what_they_say(
    condition, counts
):
    text, meaning = condition
    leaves = {(g, (), REST): sum(counts[4 * g : 4 * g + 4]) or 1 for g in range(3)}
    release = opened(SPLIT, counts, EXACT, leaves)
    cells = [(place // 4, place % 4 + 1, n) for place, n in enumerate(counts)]

    if "LENGTH" in text:
        true = sum(n for group, length, n in cells if meaning(group, length) is True)
        value, low, high = counted(release, text)
        assert abs(value - true) < 1e-3
        assert low - 1e-3 <= true <= high + 1e-3
        assert high - low < 1e-3

    found = ask(
        release, "SELECT sex, LENGTH(), COUNT(*) AS n FROM stays GROUP BY sex, LENGTH()"
    )
    told = [float(row[2]) for row in found.rows if row[1]]
    assert np.allclose(told, counts, atol=1e-3)


def test_a_tree_of_every_length_has_one_way_to_each():
    tree = LevelledTree(SPLIT, one_way(SPLIT))
    lengths = sorted(tree.known_lengths[tree.is_leaf].tolist())

    assert lengths == sorted([1, 2, 3, 4] * SPLIT.groups)
    assert set(tree.symbols[tree.lengths == 0]) == {SPLIT.rest}


def test_nobody_has_a_sequence_without_symbols():
    assert counted(opened(PLAIN, LENGTHS, 20.0), "LENGTH() = 0") == (0, 0, 0)


# -- how sure it is --------------------------------------------------------------


def test_where_the_tree_knows_nothing_intervals_are_those_of_the_noise():
    release = opened(PLAIN, LENGTHS, 20.0)
    value, low, high = counted(release, "LENGTH() = 2")
    total = 4.0  # the variance of how many units there are, of the tree
    own = 2 * 20.0**2 * (1 - 1 / 4) + total / 16

    assert value == 250
    assert math.isclose(high - low, 2 * WEIGHTED_QUANTILE * own**0.5, rel_tol=1e-6)


def test_nothing_is_undecided_where_bands_are_whole():
    release = opened(PLAIN, [-40, *LENGTHS[1:]], 20.0)
    whole = ask(release, "SELECT COUNT(*) AS n FROM stays WHERE LENGTH() <> 2")
    counts = np.where(band_starts(20) == 9, 600, 30)
    part = ask(
        opened(LONG, counts, 5.0),
        "SELECT COUNT(*) AS n FROM stays WHERE LENGTH() = 9",
    )

    assert whole.undecided["n"] == ("0.000000",)
    assert "undecided" not in [warning.code for warning in whole.warnings]
    assert float(part.undecided["n"][0]) > 200
    assert "undecided" in [warning.code for warning in part.warnings]


def test_all_lengths_together_are_as_sure_as_how_many_units_there_are():
    release = opened(PLAIN, LENGTHS, 20.0, SOME_KNOWN)
    everybody = rows(release, "SELECT COUNT(*) AS n FROM stays")[0][1:]

    assert counted(release, "LENGTH() >= 1") == everybody


def test_what_the_tree_is_sure_of_answers_where_it_is_surer_than_the_noise():
    leaves = {(0, (0,), ""): 300, (0, (0, 1, 2, 0), ""): 700}
    by_tree = counted(asked(PLAIN, leaves), "LENGTH() = 1")
    value, low, high = counted(opened(PLAIN, LENGTHS, 500.0, leaves), "LENGTH() = 1")

    assert high - low <= by_tree[2] - by_tree[1]
    assert abs(value - 300) < 1


def test_a_little_of_each_makes_an_interval_narrower_than_either():
    leaves = {(0, (0,), ""): 300, (0, (0, 1, 2, 0), ""): 700}
    as_sure = 2 / math.sqrt(2 * 3 / 4)  # as the tree's deviation of 2
    _, low, high = counted(opened(PLAIN, LENGTHS, as_sure, leaves), "LENGTH() = 1")
    _, first, last = counted(asked(PLAIN, leaves), "LENGTH() = 1")

    assert high - low < 0.85 * (last - first)


def test_a_part_of_a_band_ends_where_the_band_does():
    firsts = band_starts(20)
    counts = np.where(firsts == 9, 600, 0)
    counts[-1] = 400
    release = opened(LONG, counts, 5.0, {(0, (0,) * 9, ""): 90, (0, (), REST): 910})
    band = counted(release, "LENGTH() BETWEEN 9 AND 10")
    parts = [counted(release, f"LENGTH() = {n}") for n in (9, 10)]

    assert all(
        0 <= low < 30 and band[2] - 1 <= high <= band[2] + 1
        for _, low, high in parts[1:]
    )
    assert all(low <= value <= high for value, low, high in parts)
    assert abs(parts[0][0] + parts[1][0] - band[0]) < 1


def test_rows_by_length_sum_to_all_units():
    release = opened(LONG, [-30, *LENGTHS, -8, 3, 12, *range(6)], 20.0)
    found = rows(release, "SELECT LENGTH(), COUNT(*) AS n FROM stays GROUP BY 1")

    assert math.isclose(sum(value for _, value, *_ in found), 1_000, rel_tol=1e-6)


@settings(max_examples=rounds(60), deadline=None)
@given(
    st.lists(st.integers(-300, 900), min_size=14, max_size=14),
    st.floats(0.5, 200),
    st.sampled_from(["0.5", "0.95", "0.999"]),
    st.integers(1, 20),
    st.integers(1, 20),
)
def test_no_interval_ends_below_nothing_or_leaves_its_estimate_out(
    counts, scale, confidence, one, other
):
    release = opened(LONG, counts, scale, {(0, (0,), ""): 70, (0, (1,), REST): 90})
    found = rows(
        release,
        "SELECT LENGTH(), COUNT(*) AS n FROM stays GROUP BY 1",
        confidence=confidence,
    )
    where = f"LENGTH() BETWEEN {min(one, other)} AND {max(one, other)}"
    ends = [row[1:] for row in found]
    for value, low, high in [*ends, counted(release, where, confidence=confidence)]:
        assert 0 <= low <= value <= high


def test_rows_by_length_that_estimates_choose_have_wider_intervals():
    release = opened(PLAIN, LENGTHS, 20.0)
    plain = "SELECT LENGTH(), COUNT(*) AS n FROM stays GROUP BY LENGTH()"
    every = {key: (low, high) for key, _, low, high in rows(release, plain)}
    chosen = rows(release, f"{plain} HAVING n > 260")
    factor = widening(selected_confidence(0.95, len(chosen), 5))

    assert [key for key, *_ in chosen] == [1, 3]
    for key, _, low, high in chosen:
        own = every[key][1] - every[key][0]
        assert math.isclose(high - low, factor * own, rel_tol=1e-4)


# -- what is left to the tree -------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM stays WHERE STARTS_WITH('a') AND LENGTH() > 2",
        "SELECT COUNT(*) AS n FROM stays WHERE LENGTH() > 2 OR HAS_RUN('b')",
        "SELECT SYMBOL_AT(2), COUNT(*) AS n FROM stays WHERE LENGTH() > 1 GROUP BY 1",
        "SELECT OCCURRENCES('a') AS n FROM stays WHERE LENGTH() > 2",
        "SELECT COUNT(*) AS n FROM stays",
    ],
)
def test_other_questions_are_answered_as_without_noisy_lengths(sql):
    with_lengths = opened(PLAIN, LENGTHS, 5.0, SOME_KNOWN)

    assert ask(with_lengths, sql) == ask(asked(PLAIN, SOME_KNOWN), sql)


def test_a_release_by_auto_has_the_lengths_of_what_was_picked():
    bands = Bands(4, np.array([LENGTHS]), 5.0)
    inner = PathModel(PLAIN, tree_of(PLAIN, SOME_KNOWN), bands=bands)

    assert PickedSequences(inner, "paths", None).lengths() is bands
