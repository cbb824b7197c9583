"""Copies of codes: what is published, lost and risked by either method."""

from collections import Counter

import pytest

from upstream.anonymization.codes.aligned import AlignedCodes
from upstream.anonymization.codes.censored import CensoredCodes
from upstream.anonymization.codes.trees import file_tree, hierarchy_tree, system_tree
from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.files import hierarchy_of_text
from upstream.trajectories.gccens.censoring import is_k_map
from upstream.trajectories.lda.trajectories import Weights

SAMPLE = [["250"], ["272", "272", "724"], ["250", "250", "272"]]
PEOPLE = [
    *(["250"], ["250", "250", "272"], ["250", "250", "272", "272"], ["401"] * 4),
    *(["272", "272", "724"], ["250"], ["272", "724"]),
]
"""Figure 1 of the thesis."""
AGED = [
    [("401.1", 33), ("401.1", 34), ("401.1", 35)],
    [("401.1", 38), ("401.1", 40)],
    [("401.9", 38), ("401.1", 40)],
    [("401.9", 33), ("401.1", 33), ("401.1", 34), ("401.1", 35)],
    [("401.1", 39), ("401.9", 40)],
    [("401.1", 40), ("401.9", 40)],
]
"""Figures 3 and 5 of it."""


def codes_of(copy):
    """Return the codes of each published record, repeats included."""
    return [
        [code for code, count in record for _ in range(int(count))]
        for record in copy.records
    ]


def test_each_censored_record_fits_k_people():
    caps = {"250": 2, "272": 2, "724": 1}
    made = CensoredCodes(SAMPLE, PEOPLE, caps, "by_caps").made(2)
    assert codes_of(made) == [["250"], ["250", "272"], ["272", "724"]]
    assert is_k_map(codes_of(made), PEOPLE, 2)
    assert made.measures["cul_mean"] == round(2 / 9, 4)
    assert made.measures["prosecutor"] <= 1 / 2
    fewer = CensoredCodes(SAMPLE, PEOPLE, caps, "while_needed").made(2)
    assert fewer.measures["cul_mean"] == round(1 / 9, 4)
    assert made.members is None


def test_codes_without_a_cap_stand_once_and_lower_caps_lose_more():
    censored = CensoredCodes(SAMPLE, PEOPLE, {"250": 2}, "by_caps")
    assert all(Counter(one)["272"] <= 1 for one in codes_of(censored.made(1)))
    by_cap = CensoredCodes(SAMPLE, PEOPLE, 3, "by_caps").by_cap(1)
    assert [one["cap"] for one in by_cap] == list(range(1, 11))
    assert by_cap[0]["cul_mean"] > by_cap[1]["cul_mean"] == 0.0
    with pytest.raises(ValueError, match=", the people"):
        censored.made(8)


@pytest.mark.parametrize("aligner", ["a-gs", "baseline"])
def test_each_trajectory_is_that_of_k_records(aligner):
    codes = system_tree("icd9cm", ["401.1", "401.9"])
    aligned = AlignedCodes(AGED, codes, Weights(), aligner)
    made = aligned.made(2)
    counts = Counter(tuple(record) for record in made.records)
    assert min(counts.values()) >= 2
    assert sum(counts.values()) == aligned.records == 6
    assert min(Counter(made.members.values()).values()) >= 2
    assert made.measures["prosecutor"] <= 1 / 2
    places = [[int(place) for place, _, _ in record] for record in made.records]
    assert all(own == list(range(1, len(own) + 1)) for own in places)


def test_generalising_loses_less_than_the_baseline():
    codes = system_tree("icd9cm", ["401.1", "401.9"])
    ours, theirs = (
        AlignedCodes(AGED, codes, Weights(), each).made(2).measures
        for each in ("a-gs", "baseline")
    )
    assert ours["lm_age"] + ours["lm_code"] <= theirs["lm_age"] + theirs["lm_code"]
    assert ours["average_error"] < 1


def test_ages_are_those_of_people():
    codes = system_tree("icd9cm", ["401.1"])
    with pytest.raises(ValueError, match="below 0 or above 127"):
        AlignedCodes([[("401.1", 128)]], codes, Weights(), "a-gs")


def test_trees_are_of_systems_or_of_files(tmp_path):
    tree = system_tree("icd10", ["E11.9", "E11", "I10"])
    assert tree.name(tree.lca(tree.node("E11.9"), tree.node("E11"))) == "E11"
    path = tmp_path / "codes.csv"
    path.write_text("a;x;*\nb;x;*\nc;y;*\n")
    own = file_tree(path, "codes.csv", ["a", "b"])
    assert own.name(own.lca(own.node("a"), own.node("b"))) == "x"
    with pytest.raises(HierarchyError, match="1 codes of the data have no path"):
        file_tree(path, "codes.csv", ["a", "z"])
    with pytest.raises(HierarchyError, match="no code of ICD-9-CM"):
        system_tree("icd9cm", ["nonsense"])


def test_a_value_below_two_others_is_refused():
    told = hierarchy_of_text("a;n;x;*\nb;y;n;*", "codes")
    with pytest.raises(HierarchyError, match="below two others"):
        hierarchy_tree(told)
