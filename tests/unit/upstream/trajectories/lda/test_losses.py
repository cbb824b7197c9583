"""Losses as the thesis defines them, and as it computes them."""

import pytest

from tests.unit.upstream.trajectories.lda.thesis import AGES, CODES
from upstream.trajectories.lda.losses import loss_table

NAMES = [str(age) for age in range(33, 41)]


def lost(table, before, after):
    return table.replacing[table.place(before), table.place(after)]


def test_example_4_loses_a_quarter_by_definition_4():
    table = loss_table(AGES, NAMES, "difference")
    assert lost(table, "[33-34]", "[33-36]") == 0.25
    assert lost(table, "33", "33") == 0


def test_the_printed_rule_loses_all_leaves_of_the_ancestor():
    table = loss_table(AGES, NAMES, "printed")
    assert lost(table, "[33-34]", "[33-36]") == 0.5
    assert lost(table, "33", "33") == 0


def test_both_that_are_merged_lose():
    table = loss_table(CODES, ["401.1", "401.9"], "printed")
    assert table.merging[table.place("401.1"), table.place("401.9")] == 2
    table = loss_table(CODES, ["401.1", "401.9"], "difference")
    merged = table.merging[table.place("401.1"), table.place("401.9")]
    assert merged == pytest.approx(4 / 3)


def test_suppressing_loses_what_becoming_the_root_does():
    table = loss_table(AGES, ["33", "40"], "difference")
    assert table.suppressing[table.place("33")] == 7 / 8
    assert table.suppressing[0] == 0


def test_only_values_that_occur_and_their_ancestors_have_a_place():
    table = loss_table(AGES, ["33"], "printed")
    assert [table.name(place) for place in range(4)] == [
        *("[33-40]", "[33-36]", "[33-34]", "33"),
    ]
    with pytest.raises(KeyError):
        table.place("34")
    with pytest.raises(KeyError):
        loss_table(AGES, ["99"], "printed")
