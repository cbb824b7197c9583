"""Runs in some sequences, and HAVING: against every sequence of every leaf."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from release.contract.intervals import WEIGHTED_QUANTILE
from release.contract.sequence_domain import SequenceDomain
from release.sequences.questions.counting import grouped
from release.sequences.questions.levels import LevelledTree
from release.sequences.questions.occurring import occur
from tests.effort import rounds
from tests.unit.release.sequences.asked_sequences import (
    LETTERS,
    REST,
    ask,
    asked,
    completions,
    runs_in,
    tree_of,
)
from tests.unit.release.sequences.questions.test_asked_sequences import (
    KEYS,
    LETTERED,
    LEVELLED,
    NULLED,
    conditions,
    exact_atoms,
    leaves_of,
    listed,
)


def times(symbols, run):
    return runs_in(symbols, len(run)).count(run)


def runs_of(domain):
    symbols = st.integers(0, domain.symbols - 1)
    return st.lists(symbols, min_size=1, max_size=3).map(tuple)


def asked_of_runs(release, run, where, keys=()):
    names = "".join(f"{key} AS k{n}, " for n, key in enumerate(keys))
    groups = f" GROUP BY {', '.join(keys)}" if keys else ""
    sql = (
        f"SELECT {names}OCCURRENCES({listed(release.published.domain, run)}) AS n "
        f"FROM stays WHERE {where}{groups}"
    )
    return ask(release, sql)


@pytest.mark.sampled
@pytest.mark.parametrize("domain", [LETTERED, LEVELLED, NULLED])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_runs_in_matching_sequences_are_counted_where_they_are_sure(domain, data):
    leaves = data.draw(leaves_of(domain))
    text, meaning = data.draw(exact_atoms(domain))
    run = data.draw(runs_of(domain))

    answer = asked_of_runs(asked(domain, leaves), run, text)

    sure = most = 0
    for (group, symbols, rest), units in leaves.items():
        all_of_it = list(completions(domain, symbols, rest))
        found = {meaning(group, s) for s in all_of_it}
        sure += units * times(symbols, run) * (found == {True})
        if "unknown" in found:
            most += units * times(symbols, run)
        else:
            most += units * max(
                times(s, run) * (meaning(group, s) is True) for s in all_of_it
            )
    assert float(answer.rows[0][0]) == sure
    assert sure + float(answer.undecided["n"][0]) >= most


@pytest.mark.long
@settings(max_examples=rounds(60), deadline=None)
@given(
    leaves=leaves_of(LETTERED),
    keys=st.lists(st.sampled_from(sorted(KEYS)), max_size=2, unique=True),
    condition=conditions(LETTERED),
    run=runs_of(LETTERED),
)
def test_runs_in_groups_and_joined_conditions_lie_between_what_is_sure_and_may_be(
    leaves, keys, condition, run
):
    text, meaning = condition
    answer = asked_of_runs(asked(LETTERED, leaves), run, text, keys)

    for row, undecided in zip(answer.rows, answer.undecided["n"], strict=True):
        complete = sure = most = 0
        for (group, symbols, rest), units in leaves.items():
            all_of_it = [
                (
                    times(s, run),
                    meaning(group, s),
                    tuple(KEYS[k](group, s) for k in keys),
                )
                for s in completions(LETTERED, symbols, rest)
            ]
            here = all(
                found == {True} and cell == row[:-1] for _, found, cell in all_of_it
            )
            may = [
                n for n, found, cell in all_of_it if True in found and cell == row[:-1]
            ]
            sure += units * times(symbols, run) * here
            complete += units * times(symbols, run) * (here and not rest)
            most += units * max(may, default=0)
        assert complete <= float(row[-1]) <= sure
        assert float(row[-1]) + float(undecided) >= most


def test_what_may_follow_a_pruned_path_is_as_much_as_has_room():
    leaves = {(0, (0,), REST): 10}
    answer = asked_of_runs(asked(LETTERED, leaves), (0, 0), "STARTS_WITH('a')")

    assert answer.rows == (("0.000000",),)
    assert answer.undecided == {"n": ("30.000000",)}  # a, a, a: three more in four
    assert [warning.code for warning in answer.warnings] == ["undecided"]


def test_sequences_that_are_wholly_known_leave_no_run_undecided():
    leaves = {(0, (0, 0, 0), ""): 10, (1, (0, 0, 1, 0), ""): 3, (1, (0,), ""): 8}
    release = asked(LETTERED, leaves)
    sql = "SELECT sex, OCCURRENCES('a', 'a') AS n FROM stays GROUP BY sex"

    answer = ask(release, sql)

    assert answer.rows == (("F", "20.000000"), ("M", "3.000000"), (None, "0.000000"))
    assert answer.undecided == {"n": ("0.000000",) * 3}
    assert answer.warnings == ()


def test_errors_of_counts_on_one_path_are_added_and_not_taken_for_independent():
    leaves = {(0, (0, 0, 0), ""): 10}
    where = "LENGTH() BETWEEN 0 AND 4"  # all of them: settled at the root
    answer = asked_of_runs(asked(LETTERED, leaves), (0,), where)

    assert answer.rows == (("30.000000",),)
    assert answer.half_widths["n"] == ("12.720000",)  # three nodes, 2.12 sqrt(4) each


# -- HAVING ----------------------------------------------------------------------

LEAVES = {
    (0, (0, 1), ""): 10,
    (0, (1,), ""): 30,
    (1, (2,), ""): 20,
    (1, (1, 1), ""): 5,
}
FIRST = "SELECT SYMBOL_AT(1) AS first, COUNT(*) AS n FROM stays GROUP BY first"


@pytest.mark.parametrize(
    ("having", "shown"),
    [
        ("n > 15", {"b", "c"}),
        ("COUNT(*) >= 20 AND COUNT(*) < 35", {"c"}),
        ("NOT n > 15", {"a", None}),
        ("n BETWEEN 10 AND 20", {"a", "c"}),
        ("n IN (35, 20.0)", {"b", "c"}),
        ("first = 'a' OR n > 30.5", {"a", "b"}),
        ("SYMBOL_AT(1) IS NULL", {None}),
        ("first <> 'b'", {"a", "c"}),
        ("OCCURRENCES('b') > 20", {"b"}),
        ("OCCURRENCES('b') = COUNT(*)", {"a", None}),
        ("20 = n", {"c"}),
    ],
)
def test_groups_are_left_out_by_the_estimates_that_they_show(having, shown):
    answer = ask(asked(LETTERED, LEAVES), f"{FIRST} HAVING {having}")

    assert {row[0] for row in answer.rows} == shown
    assert len(answer.intervals[0].rows) == len(answer.rows)
    assert len(answer.undecided["n"]) == len(answer.rows)


@settings(max_examples=40, deadline=None)
@given(leaves=leaves_of(LETTERED), least=st.integers(0, 120))
def test_having_leaves_the_rows_that_a_reader_of_all_would_pick(leaves, least):
    release = asked(LETTERED, leaves)
    every = ask(release, FIRST)
    some = ask(release, f"{FIRST} HAVING n >= {least} ORDER BY 2 DESC, first LIMIT 2")

    wanted = [row for row in every.rows if Decimal(row[1]) >= least]
    wanted.sort(key=lambda row: -Decimal(row[1]))
    assert list(some.rows) == wanted[:2]


def test_a_release_as_a_whole_may_show_no_row():
    release = asked(LETTERED, LEAVES)

    assert ask(release, "SELECT COUNT(*) FROM stays HAVING COUNT(*) > 65").rows == ()
    answer = ask(release, "SELECT COUNT(*) FROM stays HAVING COUNT(*) > 64")
    assert answer.rows == (("65.000000",),)


@pytest.mark.parametrize(
    "order", ["OCCURRENCES('b') DESC", "COUNT(*) DESC", "n DESC", "2 DESC"]
)
def test_rows_are_ordered_by_what_is_selected_and_by_what_is_not(order):
    answer = ask(asked(LETTERED, LEAVES), f"{FIRST} ORDER BY {order}")

    assert answer.rows[0] == ("b", "35.000000")


def test_groups_are_named_by_position_too():
    release = asked(LETTERED, LEAVES)
    by_place = FIRST.replace("GROUP BY first", "GROUP BY 1")

    assert ask(release, by_place) == ask(release, FIRST)


def test_errors_of_nodes_on_one_path_are_added_and_not_their_squares():
    """Nodes of one path may err the same way: a, aa, and aaa hold the same units."""
    domain = SequenceDomain(LETTERS, 3)
    tree = LevelledTree(domain, tree_of(domain, {(0, (0, 0, 0), ""): 90}))
    told = occur(tree, grouped(tree, None, ()), (0,))
    assert told.values.tolist() == [270.0]
    of_one = WEIGHTED_QUANTILE * 2  # a variance of 4 each
    assert told.half_widths.tolist() == pytest.approx([3 * of_one])
