"""What clerks' opinions come to, and how clerks agree."""

import pytest

from server.use_cases.linkage.opinions import (
    Opinion,
    Standing,
    agreements,
    last_verdicts,
    state_of,
)


@pytest.mark.parametrize(
    ("verdicts", "needed", "state"),
    [
        ([], 1, "open"),
        (["unsure"], 1, "waiting"),
        (["match"], 1, "match"),
        (["no_match"], 1, "no_match"),
        (["match"], 2, "waiting"),
        (["match", "match"], 2, "match"),
        (["match", "no_match"], 1, "contested"),
        (["match", "no_match", "no_match"], 2, "no_match"),
        (["match", "no_match", "unsure"], 1, "contested"),
        (["unsure", "match", "match", "no_match"], 2, "match"),
    ],
)
def test_the_majority_of_those_who_are_sure_decides(verdicts, needed, state):
    for told in (verdicts, reversed(verdicts)):
        by_clerk = {f"clerk {n}": verdict for n, verdict in enumerate(told)}
        assert state_of(by_clerk, needed) == state


@pytest.mark.parametrize(
    ("match", "no_match", "state"),
    [
        ("host,ada", "", "waiting"),
        ("ada,ben", "", "match"),
        ("host,ada,ben", "", "match"),
        ("host,ada", "cy", "contested"),
        ("ada,cy", "host", "match"),
        ("host,ada", "ben,cy", "contested"),
    ],
)
def test_clerks_who_may_be_one_person_agree_as_one(match, no_match, state):
    told = dict.fromkeys(match.split(","), "match")
    told |= {one: "no_match" for one in no_match.split(",") if one}
    given_by_host = frozenset(frozenset(("host", one)) for one in ("ada", "ben"))
    assert state_of(told, 2, given_by_host) == state


def test_of_several_opinions_of_a_clerk_the_last_counts():
    told = [
        Opinion((1, 2), "ada", "match"),
        Opinion((3, 4), "ada", "match"),
        Opinion((1, 2), "ada", "no_match"),
    ]
    assert last_verdicts(told) == {
        (1, 2): {"ada": "no_match"},
        (3, 4): {"ada": "match"},
    }


def test_kappa_is_cohens():
    """The textbook's 2 x 2 table: 20 both yes, 15 both no, 5 and 10 divided."""
    both = [("match", "match")] * 20 + [("no_match", "no_match")] * 15
    both += [("match", "no_match")] * 5 + [("no_match", "match")] * 10
    opinions = [
        Opinion((number, 1000), clerk, verdict)
        for number, pair in enumerate(both)
        for clerk, verdict in zip(("ada", "bob"), pair, strict=True)
    ]
    (told,) = agreements(opinions)["agreements"]
    assert (told["pairs"], told["agreed"], told["kappa"]) == (50, 35, 0.4)


def test_clerks_who_never_differ_and_say_one_thing_have_no_kappa():
    opinions = [
        Opinion((1, 2), "ada", "match"),
        Opinion((1, 2), "bob", "match"),
        Opinion((1, 3), "bob", "unsure"),
    ]
    told = agreements(opinions)
    assert told["agreements"][0]["kappa"] is None
    assert told["clerks"][1]["unsure"] == 1


def test_a_contradicted_decision_is_contested_until_something_new_is_said():
    told = {(1, 2): {"ann": "match"}, (3, 4): {"ann": "match"}}
    standing = Standing(told, 1, frozenset({(3, 4)}))
    assert standing.state((1, 2), "contradiction") == "contested"
    assert standing.is_open_to("ann", (1, 2), "contradiction")
    assert standing.state((3, 4), "contradiction") == "match"
    assert not standing.is_open_to("ann", (3, 4), "contradiction")
    assert standing.state((1, 2), "score") == "match"
    assert standing.is_open_to("ann", (5, 6), "changed")


def test_whoever_has_two_accounts_breaks_no_tie():
    told = {"ann": "match", "ben": "match", "cas": "no_match", "dan": "no_match"}
    dependent = frozenset({frozenset({"ben", "ben_too"})})
    assert state_of(told | {"ben_too": "match"}, 2, dependent) == "contested"
    assert state_of(told | {"eve": "match"}, 2, dependent) == "match"
