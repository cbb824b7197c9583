"""What is said of sequences before a row is read, and the statement that makes them."""

from dataclasses import replace

import pytest

from privacy.contributions import ContributionBounds
from privacy.errors import InvalidOptionError, QueryError
from query_lang.specs.axes import Axis
from query_lang.specs.periods import Periods
from query_lang.specs.sequences import (
    SequenceRequest,
    SequencesRefusedError,
)
from tests.support.compiling import compile_sequences
from tests.support.data.hospital import HOSPITAL

JOINED = "patients p JOIN encounters e ON p.patient_id = e.patient_id"
WEEKS = Periods(7, "day", None, "average", "cost", ("10", "99.5"))


def sequences(symbols=Axis("ward"), **more):  # noqa: B008 - it is frozen
    given = {"source": "encounters", "order": "admitted", "max_length": 3, **more}
    return compile_sequences(SequenceRequest(symbols=symbols, **given), HOSPITAL)


def test_the_statement_groups_by_unit_orders_by_value_and_hash_and_cuts():
    plan = sequences(split=Axis("sex"), where="age > 60")
    sql = plan.statement.sql
    assert sql.startswith("SELECT split, sequence, (unit % ")
    assert "COUNT(*) FROM (SELECT s0 AS unit, CAST(MIN(" in sql
    assert "ORDER BY place ASC NULLS LAST, s1 ASC NULLS FIRST), ?)" in sql
    assert "GROUP BY s0) GROUP BY split, sequence, phase, hash(" in sql
    assert sql.count("?") == len(plan.statement.parameters)
    assert "north" not in sql
    assert plan.statement.parameters[0] == plan.max_length == 3


def test_a_joined_table_of_one_row_a_unit_may_split():
    plan = sequences(
        Axis("e.ward"), source=JOINED, order="e.admitted", split=Axis("p.sex")
    )
    assert plan.split.values == ("f", "m")
    assert plan.l1_sensitivity == 1


def test_a_column_that_may_vary_splits_nothing():
    for split in (Axis("ward"), Axis("age", bands=10), Axis("urgent")):
        with pytest.raises(SequencesRefusedError) as caught:
            sequences(split=split)
        assert caught.value.place == "split"
        assert "may vary within one patient" in str(caught.value)


def test_the_derivation_says_why_one_patient_is_one_sequence():
    said = sequences(split=Axis("sex")).derivation
    assert "Neighbours differ by all rows of one patient." in said
    assert "ordered by admitted (ties by row hash)" in said
    assert "each level of a tree has sensitivity L1 1" in said
    assert "one of the 3 trees, and all of them cost the price of one" in said


def test_equal_plans_have_one_text_and_other_plans_another():
    changed = [
        {"where": "age > 60"},
        {"order": "seen"},
        {"max_length": 4},
        {"split": Axis("sex")},
        {"symbols": Axis("level")},
        {"symbols": WEEKS},
        {"symbols": Periods(8, "day", None, "average", "cost", ("10", "99.5"))},
        {"bounds": ContributionBounds(max_rows_per_unit=2)},
    ]
    texts = {sequences(**change).canonical for change in changed}
    assert len({sequences().canonical, *texts}) == len(changed) + 1
    assert sequences(where="age  >  60").canonical in texts


def test_bins_of_periods_are_an_alphabet_with_null_for_a_period_without_rows():
    plan = sequences(WEEKS)
    assert plan.alphabet.values == ("<10", "10-<99.5", ">=99.5", None)
    assert plan.alphabet.ordered
    assert plan.alphabet.name == "cost"


@pytest.mark.parametrize("most", [0, -1, 1_001])
def test_a_length_is_public_and_bounded(most):
    with pytest.raises(SequencesRefusedError):
        sequences(max_length=most)


@pytest.mark.parametrize(
    ("symbols", "place"),
    [(Axis("code"), "symbol"), (Axis("age FROM x"), "symbol"), (WEEKS, "periods")],
)
def test_symbols_have_public_values(symbols, place):
    order = "level" if place == "periods" else "admitted"
    with pytest.raises(SequencesRefusedError) as caught:
        sequences(symbols, order=order)
    assert caught.value.place == place


@pytest.mark.parametrize("order", ["ward", "smoker", "patient_id", "x", "1", "cost"])
def test_what_orders_nothing_is_refused(order):
    with pytest.raises(SequencesRefusedError) as caught:
        sequences(order=order)
    assert caught.value.place == "order"


def test_rows_and_bounds_follow_the_rules_of_queries():
    for broken in ({"source": "wards"}, {"where": "age > 3 LIMIT 4"}):
        with pytest.raises(QueryError):
            sequences(**broken)
    for bounds in (
        ContributionBounds(max_groups_per_unit=1),
        ContributionBounds(max_rows_per_unit=0),
        ContributionBounds(tables=(("wards", 1),)),
    ):
        with pytest.raises(InvalidOptionError):
            sequences(bounds=bounds)


@pytest.mark.parametrize(
    "change",
    [
        {"every": 0},
        {"every": 1_000_001},
        {"unit": "step"},
        {"start": 7},
        {"of": None},
        {"take": "count"},
        {"of": "ward"},
        {"of": "patient_id"},
        {"of": "x"},
        {"of": "1 + 1"},
        {"bins": ()},
        {"bins": ("2", "1")},
        {"bins": ("x",)},
        {"bins": ("NaN",)},
        {"bins": ("1e40",)},
        {"bins": ("1" * 50,)},
        {"bins": ("0.0000000001",)},
        {"bins": tuple(map(str, range(200)))},
    ],
)
def test_periods_that_do_not_fit_are_refused(change):
    with pytest.raises(SequencesRefusedError) as caught:
        sequences(replace(WEEKS, **change))
    assert caught.value.place == "periods"


def test_a_start_has_64_bits():
    steps = Periods(2, "step", 2**63, "sum", "visits", ("10",))
    with pytest.raises(SequencesRefusedError):
        sequences(steps, order="level")


def test_bounds_say_which_rows_are_left_out():
    bounds = ContributionBounds(tables=(("encounters", 2),), max_rows_per_unit=1)
    (warning,) = sequences(bounds=bounds).warnings
    assert "rows beyond 1, rows of encounters beyond 2" in warning.detail
