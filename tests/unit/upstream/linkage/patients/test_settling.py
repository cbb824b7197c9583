"""Who is one patient: sticky keys, clerks' decisions, sources, chains and ties."""

import random
from itertools import combinations

import pytest

from upstream.linkage.patients.settled import (
    Known,
    Rules,
)
from upstream.linkage.patients.settling import settle
from upstream.linkage.records import Decision, ScoredPair

RULES = Rules(link=0.9, review=0.5)


def pair(left, right, score):
    return ScoredPair(left, right, score, weight=score)


def counting():
    """Draw the least number that is nobody's: keys are in the order of patients."""
    return lambda _number, turn: turn + 1


def unknown(sources):
    """Records that nobody has linked yet, numbered from 1."""
    nothing = [0] * (len(sources) + 1)
    return Known(["", *sources], nothing, nothing, counting())


def later(settled, known, *more):
    """What a next run knows: the same records, and more of these sources."""
    added = [0] * len(more)
    return Known(
        [*known.sources, *more],
        [*settled.homes, *added],
        [*settled.keys, *added],
        counting(),
    )


def match(left, right):
    return Decision(left, right, is_match=True)


def no_match(left, right):
    return Decision(left, right, is_match=False)


def test_links_hold_records_together_and_others_are_patients_of_their_own():
    settled = settle(
        unknown("aabb"), [pair(1, 3, 0.95), pair(2, 4, 0.99), pair(1, 4, 0.2)], RULES
    )
    assert settled.keys[1:] == [1, 2, 1, 2]
    assert settled.acts == []


def test_a_pair_between_the_thresholds_is_asked_about_and_not_joined():
    settled = settle(unknown("ab"), [pair(1, 2, 0.7)], RULES)
    assert settled.keys[1:] == [1, 2]
    assert [(one.pair.score, one.reason) for one in settled.doubts] == [(0.7, "score")]


def test_of_two_patients_only_the_best_pair_is_asked_about():
    links = [pair(1, 2, 0.99), pair(3, 4, 0.99), pair(1, 3, 0.6), pair(2, 4, 0.8)]
    settled = settle(unknown("aabb"), links, RULES)
    assert [(one.pair.left, one.pair.right) for one in settled.doubts] == [(2, 4)]


def test_what_a_clerk_called_two_patients_is_not_joined_by_way_of_others():
    links = [pair(1, 2, 0.99), pair(2, 3, 0.98), pair(1, 3, 0.97)]
    settled = settle(unknown("aaa"), links, RULES, [no_match(1, 3)])
    assert settled.keys[1] == settled.keys[2] != settled.keys[3]
    assert settled.doubts == []  # whoever parted 1 and 3 parted 2 and 3, too


def test_a_source_in_which_nobody_stands_twice_gives_one_record():
    rules = Rules(link=0.9, review=0.5, once=frozenset("b"))
    settled = settle(unknown("abb"), [pair(1, 2, 0.95), pair(1, 3, 0.99)], rules)
    assert settled.keys[1] == settled.keys[3] != settled.keys[2]
    assert [one.reason for one in settled.doubts] == ["once"]


def test_two_that_agree_as_well_are_both_asked_about():
    rules = Rules(link=0.9, review=0.5, once=frozenset("b"))
    settled = settle(unknown("abb"), [pair(1, 2, 0.95), pair(1, 3, 0.95)], rules)
    assert settled.keys[1:] == [1, 2, 3]
    assert [one.reason for one in settled.doubts] == ["tie", "tie"]


def test_a_record_without_a_birth_date_does_not_join_father_and_son():
    # 1 and 2 are the father's, 4 and 5 the son's, 3 might be either's
    links = [
        pair(1, 2, 0.99),
        pair(4, 5, 0.99),
        pair(2, 3, 0.96),
        pair(1, 3, 0.96),
        pair(3, 4, 0.95),
        pair(3, 5, 0.95),
    ]
    settled = settle(unknown("aaaaa"), links, RULES)
    assert settled.keys[1:] == [1, 1, 1, 2, 2]
    assert [one.reason for one in settled.doubts] == ["chain"]


def test_twins_are_asked_about_and_not_joined_by_way_of_a_record_without_a_name():
    links = [
        ScoredPair(1, 2, 0.99, 9.0, differs=True),
        pair(1, 3, 0.98),
        pair(2, 3, 0.97),
    ]
    settled = settle(unknown("aaa"), links, RULES)
    assert settled.keys[1] == settled.keys[3] != settled.keys[2]
    assert [(d.pair.left, d.pair.right, d.reason) for d in settled.doubts] == [
        (1, 2, "differs")
    ]
    joined = settle(later(settled, unknown("aaa")), links, RULES, [match(1, 2)])
    assert len(set(joined.keys[1:])) == 1


def test_pairs_that_no_rule_brought_together_are_scored_before_a_chain_is_refused():
    links = [pair(1, 2, 0.99), pair(3, 4, 0.98), pair(2, 3, 0.97)]
    asked = []

    def score(pairs):
        asked.extend(pairs)
        return [pair(*one, 0.9) for one in pairs]

    assert len(set(settle(unknown("aaaa"), links, RULES).keys[1:])) == 2
    settled = settle(unknown("aaaa"), links, RULES, score=score)
    assert settled.keys[1:] == [1, 1, 1, 1]
    assert asked == [(1, 3), (1, 4), (2, 4)]


def test_a_patient_does_not_grow_beyond_what_is_believed():
    links = [pair(*one, 0.99) for one in combinations(range(1, 6), 2)]
    settled = settle(unknown("aaaaa"), links, Rules(0.9, 0.5, largest=3))
    assert sorted(settled.keys[1:]).count(1) == 3
    assert {one.reason for one in settled.doubts} == {"size"}


def test_new_records_join_patients_and_no_one_is_renumbered():
    known = unknown("aa")
    first = settle(known, [], RULES)
    links = [pair(2, 3, 0.95), pair(3, 4, 0.99)]
    settled = settle(later(first, known, "b", "b", "b"), links, RULES)
    assert settled.keys[1:] == [1, 2, 2, 2, 3]
    assert settled.acts == []


def test_two_patients_are_made_one_by_a_clerk_alone_and_it_is_an_act():
    known = unknown("aa")
    first = settle(known, [], RULES)
    links = [pair(1, 3, 0.95), pair(2, 3, 0.99)]
    known = later(first, known, "b")
    second = settle(known, links, RULES)
    assert second.keys[1:] == [1, 2, 2]
    assert [one.reason for one in second.doubts] == ["patients"]
    merged = settle(later(second, known), links, RULES, [match(1, 3)])
    assert merged.keys[1:] == [1, 1, 1]
    assert [(a.kind, a.old, a.new, a.records) for a in merged.acts] == [
        ("merge", 2, 1, 2)
    ]
    assert merged.doubts == []
    undone = settle(later(merged, known), links, RULES)
    assert undone.keys == second.keys
    assert [(a.kind, a.old, a.new, a.records) for a in undone.acts] == [
        ("split", 1, 2, 2)
    ]


def test_a_clerk_parts_a_patient_and_the_key_stays_with_the_first_record():
    known = unknown("aaa")
    links = [pair(1, 2, 0.99), pair(2, 3, 0.95), pair(1, 3, 0.92)]
    first = settle(known, links, RULES)
    assert first.keys[1:] == [1, 1, 1]
    parted = settle(later(first, known), links, RULES, [no_match(1, 3)])
    assert parted.keys[1:] == [1, 1, 2]
    assert [(a.kind, a.old, a.new, a.records) for a in parted.acts] == [
        ("split", 1, 2, 1)
    ]
    again = settle(later(parted, known), links, RULES, [no_match(1, 3)])
    assert again.keys == parted.keys
    assert again.acts == []
    undone = settle(later(again, known), links, RULES)
    assert undone.keys == first.keys


def test_decisions_that_contradict_each_other_are_asked_about():
    decisions = [match(1, 2), no_match(1, 3), match(2, 3)]
    settled = settle(unknown("aaa"), [], RULES, decisions)
    assert settled.keys[1] == settled.keys[2] != settled.keys[3]
    assert [(one.pair.left, one.reason) for one in settled.doubts] == [
        (2, "contradiction")
    ]


@pytest.mark.parametrize("seed", range(30))
def test_whatever_is_linked_and_decided_patients_keep_to_the_rules(seed):
    dice = random.Random(seed)
    count = dice.randint(2, 12)
    sources = [dice.choice("abc") for _ in range(count)]
    rules = Rules(0.9, 0.5, frozenset("c"), largest=dice.choice([3, 50]))
    links = [
        pair(left, right, dice.choice([0.55, 0.7, 0.91, 0.95, 0.99, 0.995]))
        for left, right in combinations(range(1, count + 1), 2)
        if dice.random() < 0.4
    ]
    known = unknown(sources)
    settled = settle(known, links, rules)
    _check_groups(settled, sources, rules)
    dice.shuffle(links)
    assert settle(known, links, rules) == settled
    assert settle(later(settled, known), links, rules).keys == settled.keys
    more = [dice.choice("ab") for _ in range(3)]
    grown = count + len(more)
    new = [
        pair(left, right, 0.97)
        for right in range(count + 1, grown + 1)
        for left in range(1, right)
        if dice.random() < 0.3
    ]
    known = later(settled, known, *more)
    second = settle(known, [*links, *new], rules)
    assert second.keys[: count + 1] == settled.keys
    assert second.acts == []
    decisions = [
        Decision(*sorted(dice.sample(range(1, grown + 1), 2)), dice.random() < 0.5)
        for _ in range(4)
    ]
    third = settle(later(second, known), [*links, *new], rules, decisions)
    contradicted = [
        {third.keys[d.pair.left], third.keys[d.pair.right]}
        for d in third.doubts
        if d.reason == "contradiction"
    ]
    for one in decisions:
        together = third.keys[one.left] == third.keys[one.right]
        if one.is_match:
            groups = {third.keys[one.left], third.keys[one.right]}
            assert together or groups in contradicted
        else:
            assert not together
    undone = settle(later(third, known), [*links, *new], rules)
    assert undone.keys == second.keys


def _check_groups(settled, sources, rules):
    for key in set(settled.keys[1:]):
        members = [n for n, one in enumerate(settled.keys) if one == key]
        assert len(members) <= rules.largest
        for source in rules.once:
            assert sum(sources[n - 1] == source for n in members) <= 1
    assert settled.keys == settled.homes


def test_a_record_that_agrees_with_its_patient_no_more_is_asked_about():
    known = unknown("ab")
    first = settle(known, [pair(1, 2, 0.99)], RULES)
    kept = later(first, known)
    told = settle(
        kept, [], RULES, score=lambda pairs: [pair(*one, 0.01) for one in pairs]
    )
    assert told.keys == first.keys
    assert [(one.pair.score, one.reason) for one in told.doubts] == [(0.01, "changed")]
    assert settle(kept, [], RULES, [match(1, 2)]).doubts == []
    parted = settle(kept, [], RULES, [no_match(1, 2)])
    assert (parted.keys[1], parted.doubts) == (first.keys[1], [])
    still = settle(kept, [], RULES, score=lambda pairs: [pair(*p, 0.9) for p in pairs])
    assert still.doubts == []


@pytest.mark.long
def test_of_large_groups_no_more_pairs_are_scored_than_memory_bears():
    asked = []
    links = [pair(1, one, 0.95) for one in range(2, 1_001)]
    links += [pair(1_001, one, 0.95) for one in range(1_002, 2_000)]

    def score(pairs):
        asked.extend(pairs)
        return []

    settle(unknown("a" * 2_000), links, Rules(0.9, 0.5, largest=2_000), score=score)
    assert len(asked) <= 500_000
