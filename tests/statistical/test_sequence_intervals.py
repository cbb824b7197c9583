"""Intervals of sequence releases hold what made-up logs of many shapes say.

A quick tier: some shapes, some questions of each class, few releases. Each class is
held to what is promised in each shape, and over all shapes; what a few releases cannot
show is the long tier's:
``python -m tests.statistical.sequence_coverage --releases 40``.
"""

import math
from functools import cache

import numpy as np
import pytest

from query_lang.reading.parse import parse_query
from release.sequences.strategies.registry import STRATEGIES as REGISTERED
from tests.effort import gate_first
from tests.statistical import sequence_picks
from tests.statistical.sequence_branches import Branches
from tests.statistical.sequence_choices import Choices
from tests.statistical.sequence_coverage import (
    Asked,
    Coverage,
    Questions,
    coverage,
    released,
)
from tests.statistical.sequence_lengths import Lengths
from tests.statistical.sequence_logs import made
from tests.statistical.sequence_nodes import node_coverage

UNITS, RELEASES, EACH = 600, 10, 2
STRATEGIES = ("prefix_tree", "ngram")
SHAPES = {"long, h 6": "2", "late": "2", "bursty": "0.3", "mixed": "0.3", "short": "1"}
"""With an epsilon of each."""

TESTS = 17 * len(STRATEGIES) * (len(SHAPES) + 1)
"""Classes by strategies by shapes, and all shapes together."""


MANY_RELEASES = 150
"""Where one number is asked for."""


def test_every_strategy_of_sequences_is_tried():
    ours = {  # others are of tests that ran before
        name
        for name, strategy in REGISTERED.items()
        if type(strategy).__module__.startswith("release.")
    }
    assert {*STRATEGIES, "auto"} == ours
    assert set(sequence_picks.STRATEGIES) == ours


@cache
def questions(shape):
    return Questions(*made(shape, UNITS), each=EACH)


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_intervals_hold_what_sequences_of_all_shapes_say(strategy):
    every, short = {}, {}
    for shape, epsilon in SHAPES.items():
        held = coverage(questions(shape), strategy, epsilon, range(RELEASES))
        for kind, each in held.items():
            every.setdefault(kind, Coverage()).join(each)
            if each.is_short(TESTS):
                short[shape, kind] = each.share
    short |= {kind: own.share for kind, own in every.items() if own.is_short(TESTS)}
    assert len(every) <= TESTS / len(STRATEGIES) / (len(SHAPES) + 1)
    assert not short


@cache
def of_one_kind(shape, kind, *, whole=False):
    own = Questions(*made(shape, UNITS), whole=whole, each=EACH)
    own.asked = [question for question in own.asked if question.kind == kind]
    return own


@pytest.mark.long
@pytest.mark.parametrize("strategy", gate_first(1, list(STRATEGIES)))
def test_how_many_units_there_are_is_held_where_few_symbols_are_kept(strategy):
    own = of_one_kind("long, h 6", "everybody")
    held = coverage(own, strategy, "0.1", range(MANY_RELEASES))
    assert not held["everybody"].is_short(1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("shape", "epsilon"),
    [("pathways", "1"), *gate_first(0, [("pathways", "3"), ("half pathways", "1")])],
)
def test_how_many_units_there_are_is_held_where_ways_do_not_branch(shape, epsilon):
    """Errors that lean one way at each step would add up along the ways."""
    own = Questions(*made(shape, 3_000), each=EACH)
    own.asked = [q for q in own.asked if q.kind in {"everybody", "STARTS_WITH"}]
    held = coverage(own, "prefix_tree", epsilon, range(40))
    assert set(held) >= {"everybody", "STARTS_WITH"}
    assert not {kind: own.share for kind, own in held.items() if own.is_short(2)}


@pytest.mark.long
@pytest.mark.parametrize("strategy", gate_first(1, list(STRATEGIES)))
def test_how_many_units_there_are_is_held_over_many_values_of_a_split(strategy):
    """One threshold hides first symbols of each value: their errors lean alike."""
    own = Questions(*made("own ways", 3_000), each=EACH)
    own.asked = [question for question in own.asked if question.kind == "everybody"]
    held = coverage(own, strategy, "1", range(60))
    assert not held["everybody"].is_short(1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("shape", "units", "epsilon"),
    [("single", 3_000, "0.3"), *gate_first(0, [("all single", 1_000, "0.2")])],
)
def test_who_has_one_symbol_is_held_where_noise_is_kept_below_it(shape, units, epsilon):
    """Nodes that noise made take units from those who end, in all nodes alike."""
    log, most = made(shape, units)
    second = log.cut(most)[:, 1]
    ended = int((second < 0).sum())
    asked = {
        "SELECT COUNT(*) FROM r WHERE SYMBOL_AT(2) IS NULL": ended,
        "SELECT COUNT(*) FROM r WHERE LENGTH() = 1": ended,
        "SELECT COUNT(*) FROM r WHERE LENGTH() > 1": len(log) - ended,
    }
    own = Questions(log, most, each=EACH)
    own.asked = [
        Asked(sql, parse_query(sql, sequences=True), [truth])
        for sql, truth in asked.items()
    ]
    by_symbol = "SELECT SYMBOL_AT(2) AS s, COUNT(*) FROM r GROUP BY SYMBOL_AT(2)"
    counts = [int((second == symbol).sum()) for symbol in range(log.alphabet)]
    rows = Asked("rows", parse_query(by_symbol, sequences=True), [*counts, ended])
    of_rows = Coverage()
    for seed in range(40):
        model = released(log, most, "prefix_tree", epsilon, 900 + seed)
        answer = model.ask(rows.tree)
        low, high = map(float, answer.intervals[0].rows[-1])
        of_rows.join(Coverage(releases=1, missed=float(not low <= ended <= high)))
    held = coverage(own, "prefix_tree", epsilon, range(40))
    short = {kind: each.share for kind, each in held.items() if each.is_short(4)}
    assert not short
    assert not of_rows.is_short(4)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("units", "epsilon"), [(4_000, "1"), *gate_first(0, [(12_000, "0.3")])]
)
def test_how_many_units_a_small_value_of_a_split_has_is_held(units, epsilon):
    """A chain of all values takes them for ended: it errs alike in all their nodes."""
    log, most = made("long arm", units)
    own = Questions(log, most)
    sql = "SELECT COUNT(*) FROM r WHERE arm = 1"
    own.asked = [
        Asked("arm = 1", parse_query(sql, sequences=True), [int(log.groups.sum())]),
        *(question for question in own.asked if question.kind == "value of a split"),
    ]
    held = coverage(own, "prefix_tree", epsilon, range(30))
    assert set(held) == {"arm = 1", "value of a split"}
    assert not {kind: each.share for kind, each in held.items() if each.is_short(4)}


@pytest.mark.long
@pytest.mark.parametrize("shape", ["few others", *gate_first(0, ["long arm"])])
def test_how_many_units_there_are_is_not_drawn_down_by_what_is_expected(shape):
    """Each first symbol is drawn towards less: only all of them together show it."""
    log, most = made(shape, 4_000)
    of_few = slice(log.splits - 1, None)
    truth = int((log.groups == log.splits - 1).sum())
    models = (released(log, most, "prefix_tree", "1", seed).model for seed in range(30))
    errors = [_units_of(model.paths(), of_few) - truth for model in models]
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(len(errors))


def _units_of(tree, groups):
    return float(tree.counts[tree.depths == 0][groups].sum())


@pytest.mark.long
def test_how_many_units_there_are_is_held_where_few_leave_the_way():
    """What is taken for those whom one threshold hid leans alike in all nodes."""
    own = Questions(*made("rare ways", 12_000), each=EACH)
    own.asked = [question for question in own.asked if question.kind == "everybody"]
    held = coverage(own, "prefix_tree", "3", range(MANY_RELEASES))
    assert not held["everybody"].is_short(1), held["everybody"].share


@pytest.mark.long
def test_ways_of_a_small_arm_are_held_beside_a_crowd():
    """A chain learnt from all arms knows little of how the small one goes."""
    log, most = made("small arm", 40_000, seed=2)
    rows = log.cut(most)
    begun = [(0, 1), (1, 0)]  # all of the others go one of these
    asked = [
        parse_query(
            f"SELECT COUNT(*) FROM r WHERE STARTS_WITH({a}, {b}) AND arm = 1",
            sequences=True,
        )
        for a, b in begun
    ]
    of_arm = log.groups == 1
    truth = [int((of_arm & (rows[:, :2] == way).all(axis=1)).sum()) for way in begun]
    held = Coverage()
    for seed in range(40):
        release, own = released(log, most, "prefix_tree", "3", seed), Coverage()
        for tree, count in zip(asked, truth, strict=True):
            found = release.ask(tree)
            ((low, high),) = found.intervals[0].rows
            own.add(float(found.rows[0][-1]), float(low), float(high), count)
        held.join(own.closed())
    assert not held.is_short(1), held.share


@pytest.mark.long
@pytest.mark.parametrize(
    ("strategy", "units", "epsilon"),
    [("ngram", 600, "2"), *gate_first(0, [("prefix_tree", 20_000, "3")])],
)
def test_frequent_runs_are_held_where_one_symbol_tells_the_next(
    strategy, units, epsilon
):
    """A chain that does not keep a context spreads what follows over all symbols."""
    own = Questions(*made("successors", units))
    own.asked = [question for question in own.asked if question.kind == "runs, top"]
    held = coverage(own, strategy, epsilon, range(80))
    assert set(held) == {"runs, top"}
    assert not held["runs, top"].is_short(1), held["runs, top"].share


@pytest.mark.long
@pytest.mark.parametrize(
    ("shape", "units", "epsilon"),
    [
        ("treated", 2_000, "3"),
        *gate_first(0, [("looping", 2_000, "3"), ("rarely treated", 20_000, "1")]),
    ],
)
def test_runs_are_held_where_a_few_long_sequences_have_symbols_of_their_own(
    shape, units, epsilon
):
    """Places that are not sampled are theirs alone: nobody else's say what stands."""
    own = Questions(*made(shape, units))
    kinds = {"runs, top", "runs, met", "runs, drawn"}
    own.asked = [question for question in own.asked if question.kind in kinds]
    held = coverage(own, "ngram", epsilon, range(40))
    assert set(held) == kinds
    assert not {kind: each.share for kind, each in held.items() if each.is_short(9)}


@pytest.mark.long
@pytest.mark.parametrize("symbol", [5, 6])
def test_each_symbol_that_only_long_sequences_have_is_held(symbol):
    own = Questions(*made("treated", 2_000))
    tree = parse_query(f"SELECT OCCURRENCES({symbol}) FROM r", sequences=True)
    own.asked = [Asked("runs", tree, [own.occurrences((symbol,))])]
    held = coverage(own, "ngram", "3", range(40))
    assert not held["runs"].is_short(2), held["runs"].share


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_counts_by_length_are_held(strategy):
    """Of whole bands, of parts of them, by group of a split, and chosen by HAVING."""
    short = {}
    for shape, epsilon in SHAPES.items():
        own = Lengths(*made(shape, UNITS))
        found = coverage(own, strategy, epsilon, range(3 * RELEASES))
        assert not sum(each.impossible for each in found.values())
        held = {(shape, kind): each for kind, each in found.items()}
        tests = 7 * len(STRATEGIES) * len(SHAPES)
        short |= {key: one.share for key, one in held.items() if one.is_short(tests)}
    assert not short


@pytest.mark.long
@pytest.mark.parametrize(
    ("shape", "units"),
    [("pathways", 3_000), ("half pathways", 600), *gate_first(0, [("pathways", 600)])],
)
def test_each_path_that_a_tree_shows_is_held_at_every_depth(shape, units):
    """What each node loses to children that nobody has would add up downwards."""
    log, most = made(shape, units)
    held = node_coverage(log, most, "1", range(60))
    assert set(held) >= {1, 2, 3}
    assert not {depth: own.share for depth, own in held.items() if own.is_short(6)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("shape", "units", "epsilon"),
    [
        ("one way", 3_000, "0.1"),
        *gate_first(0, [("parted", 1_000, "0.3"), ("parted", 4_200, "0.1")]),
    ],
)
def test_paths_are_held_in_all_values_of_a_split_where_one_lost_them(
    shape, units, epsilon
):
    """A value whose tree was cut on the way has its units in no node of the path."""
    log, most = made(shape, units)
    held = coverage(Branches(log, most), "prefix_tree", epsilon, range(60))
    assert set(held) == {
        f"tree, {how}, {what} {depth}"
        for how in ("all together", "by split")
        for what in ("path", "rest", "steps")
        for depth in range(what != "path", most + 1)
    }
    assert not {kind: own.share for kind, own in held.items() if own.is_short(26)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("strategy", "shape", "units", "epsilon"),
    [
        ("prefix_tree", "ten arms", 1_500, "0.5"),
        ("ngram", "ten arms", 3_000, "1"),
        *gate_first(
            0,
            [
                ("prefix_tree", "twenty arms", 6_000, "1"),
                ("ngram", "twenty arms", 6_000, "1"),
                ("auto", "ten arms", 3_000, "1"),
            ],
        ),
    ],
)
def test_paths_are_held_in_many_values_of_a_split_together(
    strategy, shape, units, epsilon
):
    """What noise takes from each value leans one way: it adds up, not its square."""
    log, most = made(shape, units)
    own = Branches(log, most)
    own.paths = [tuple(range(depth)) for depth in range(most + 1)]
    held = coverage(own, strategy, epsilon, range(60))
    assert set(held) >= {f"tree, all together, path {most}", "tree, by split, rest 2"}
    assert not {kind: each.share for kind, each in held.items() if each.is_short(26)}


@pytest.mark.long
@pytest.mark.parametrize(
    ("shape", "epsilon"),
    [("pathways", "1"), *gate_first(0, [("pathways", "3"), ("half pathways", "1")])],
)
def test_who_ends_after_a_long_way_is_held_where_a_chain_forgot_its_beginning(
    shape, epsilon
):
    """After each symbol one in six ends; after the sixth all that came so far."""
    log, most = made(shape, 3_000)
    held = coverage(Branches(log, most), "ngram", epsilon, range(40))
    assert "tree, no split, steps 7" in held
    assert not {kind: each.share for kind, each in held.items() if each.is_short(26)}


@pytest.mark.long
def test_paths_and_steps_are_held_without_a_split():
    log, most = made("short", UNITS)
    held = coverage(Branches(log, most), "prefix_tree", "1", range(RELEASES))
    assert set(held) >= {"tree, no split, path 1", "tree, no split, rest 2"}
    assert not {kind: own.share for kind, own in held.items() if own.is_short(36)}


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_interval_ends_below_nothing_or_before_it_begins(strategy):
    for shape in ("tiny", "mixed"):
        found = coverage(questions(shape), strategy, "0.05", range(2))
        assert not sum(each.impossible for each in found.values())


@pytest.mark.long
@pytest.mark.parametrize(
    ("units", "epsilon", "kinds"),
    [(1_500, "2", {"HAVING, 2 keys", "LIMIT, 2 keys"}), (600, "0.5", set())],
)
def test_what_noise_chooses_is_held_where_there_are_many_symbols(units, epsilon, kinds):
    """Nearly all that is shown passed a threshold by noise."""
    own = Choices(*made("flat 95", units), branches=2, kinds=kinds)
    found = coverage(own, "prefix_tree", epsilon, range(RELEASES))
    assert set(found) >= {*kinds, "tree, children 1", "tree, rest 1"}
    assert not {kind: each.share for kind, each in found.items() if each.is_short(20)}


@pytest.mark.long
def test_runs_in_whole_sequences_are_not_what_is_told():
    """The instrument sees it: far more runs stand past the twelfth symbol."""
    own = of_one_kind("long", "runs, top", whole=True)
    found = coverage(own, "prefix_tree", "2", range(40))
    assert found["runs, top"].is_short(1)
