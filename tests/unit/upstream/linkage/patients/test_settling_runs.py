"""Over several runs: keys stay, decisions hold, and what is taken back is undone."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.linkage.patients.settled import Known, Rules
from upstream.linkage.patients.settling import settle
from upstream.linkage.records import Decision, ScoredPair

RULES = Rules(link=0.9, review=0.5, once=frozenset({"registry"}), largest=6)
SOURCES = ("admissions", "laboratory", "registry")


@st.composite
def histories(draw):
    """Records that come in three runs, the pairs among them, and clerks' decisions."""
    sources = draw(st.lists(st.sampled_from(SOURCES), min_size=3, max_size=14))
    ends = sorted(draw(st.lists(st.integers(1, len(sources)), min_size=2, max_size=2)))
    numbers = st.integers(1, len(sources))
    pairs = st.tuples(numbers, numbers).filter(lambda pair: pair[0] < pair[1])
    scores = st.sampled_from([0.5, 0.7, 0.9, 0.95, 0.99, 1.0])
    links = draw(st.dictionaries(pairs, scores, max_size=25))
    decided = draw(st.dictionaries(pairs, st.booleans(), max_size=5))
    return sources, [*ends, len(sources)], links, decided


def run(sources, count, links, before, decisions):
    """Return what a run settles of the first ``count`` records."""
    held = len(before.homes) - 1 if before else 0
    new = [0] * (count - held)
    known = Known(
        ["", *sources[:count]],
        [*(before.homes if before else [0]), *new],
        [*(before.keys if before else [0]), *new],
        lambda number, turn: number + 100 * turn,
    )
    scored = [
        ScoredPair(*pair, score, score * 10)
        for pair, score in links.items()
        if pair[1] <= count
    ]
    said = [Decision(*pair, is_match=is_match) for pair, is_match in decisions]
    return settle(known, scored, RULES, [one for one in said if one.right <= count])


def partition(keys):
    """Return which records share a key."""
    groups = {}
    for number, key in enumerate(keys[1:], 1):
        groups.setdefault(key, set()).add(number)
    return {frozenset(group) for group in groups.values()}


@given(histories())
def test_without_decisions_no_patient_who_has_a_key_is_renumbered(history):
    sources, ends, links, _ = history
    before = None
    for end in ends:
        now = run(sources, end, links, before, [])
        assert 0 not in now.keys[1:]
        if before:
            assert now.keys[: len(before.keys)] == before.keys
            assert now.acts == []
        before = now


@pytest.mark.long
@given(histories())
def test_decisions_hold_unless_they_contradict(history):
    sources, ends, links, decided = history
    before = run(sources, ends[0], links, None, [])
    now = run(sources, ends[-1], links, before, list(decided.items()))
    doubted = {(d.pair.left, d.pair.right) for d in now.doubts}
    for (left, right), is_match in decided.items():
        together = now.keys[left] == now.keys[right]
        if not is_match:
            assert not together
        elif not together:
            assert (left, right) in doubted


@pytest.mark.long
@given(histories())
def test_what_is_taken_back_brings_the_former_keys_back(history):
    sources, ends, links, decided = history
    first = run(sources, ends[-1], links, None, [])
    second = run(sources, ends[-1], links, first, list(decided.items()))
    third = run(sources, ends[-1], links, second, [])
    assert third.keys == first.keys


@pytest.mark.long
@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_links_changes_nothing(history, order):
    sources, ends, links, decided = history
    shuffled = list(links.items())
    order.shuffle(shuffled)
    one = run(sources, ends[-1], links, None, list(decided.items()))
    other = run(sources, ends[-1], dict(shuffled), None, list(decided.items()))
    assert one.keys == other.keys
    assert partition(one.keys) == partition(other.keys)


@pytest.mark.long
@given(histories())
def test_no_patient_stands_twice_in_a_source_of_once_unless_a_clerk_says_so(history):
    sources, ends, links, _ = history
    now = run(sources, ends[-1], links, None, [])
    for group in partition(now.keys):
        named = [sources[number - 1] for number in group]
        assert named.count("registry") <= 1
        assert len(group) <= RULES.largest


def drawn_history(seed):
    """Return sources, three ends, and scores of most pairs of few records."""
    dice = random.Random(seed)
    count = dice.randint(3, 6)
    sources = [dice.choice(SOURCES) for _ in range(count)]
    ends = [*sorted(dice.choices(range(2, count + 1), k=2)), count]
    return dice, sources, ends, drawn_scores(dice, count)


def drawn_scores(dice, count):
    """Draw scores of most pairs."""
    pairs = combinations(range(1, count + 1), 2)
    scores = (0.0, 0.5, 0.7, 0.91, 0.95, 0.99)
    return {pair: dice.choice(scores) for pair in pairs if dice.random() < 0.7}


def drawn_decisions(dice, count):
    """Draw up to three decisions about records that are there."""
    pairs = list(combinations(range(1, count + 1), 2))
    return {dice.choice(pairs): dice.random() < 0.4 for _ in range(3)}


@pytest.mark.sampled
@pytest.mark.parametrize("some", range(6))
def test_no_key_changes_but_by_what_a_clerk_says(some):
    for seed in range(500 * some, 500 * (some + 1)):
        check_keys(seed)


def check_keys(seed):
    dice, sources, ends, links = drawn_history(seed)
    decisions = list(drawn_decisions(dice, ends[0]).items())
    first = run(sources, ends[0], links, None, [])
    told = run(sources, ends[1], links, first, decisions)
    changed = drawn_scores(dice, ends[2])
    again = run(sources, ends[2], changed, told, decisions)
    assert again.keys[: len(told.keys)] == told.keys
    assert again.acts == []


@pytest.mark.parametrize("some", range(2))
def test_links_keep_to_the_rules_beside_what_clerks_joined(some):
    for seed in range(500 * some, 500 * (some + 1)):
        check_rules(seed)


def check_rules(seed):
    dice, sources, ends, links = drawn_history(seed)
    decided = drawn_decisions(dice, ends[0])
    matches = [(pair, True) for pair in decided]
    before = run(sources, ends[0], links, None, [])
    told = run(sources, ends[0], links, before, matches)
    now = run(sources, ends[2], links, told, matches)
    for group in partition(now.keys):
        new = {one for one in group if one > ends[0]}
        registered = {one for one in group if sources[one - 1] == "registry"}
        assert len(registered) == 1 or not registered & new
