"""One patient, two spellings: counted, and one unit where the population says so."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.upstream.conftest import SECRET
from upstream.canonical import (
    canonical_unit_id,
    folded_sql,
    folded_unit_id,
    plain_id_sql,
)
from upstream.declarations import FOLDS
from upstream.row_hash import population_id
from upstream.secrets import derive_keys

ALL = st.lists(st.sampled_from(FOLDS), unique=True)
SPELLED = ["P007", "p007", "P7", "P 7", "P\u200b7", "X1", "x01", "Y"]


@pytest.fixture
def house(hospital):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in SPELLED)
    return hospital


def test_ids_that_differ_in_spelling_alone_are_counted_and_told(house):
    report = house.load().report
    assert report.tables[0].units == 8
    assert report.alike_units == {"case": 2, "trim": 3, "zeros": 2, "any": 7}
    (said,) = [w for w in report.warnings if "unit_fold" in w]
    assert said.startswith("7 units have ids that differ")
    assert "[case, trim, zeros]" in said
    assert report.to_json()["alike_units"]["any"] == 7


def test_ids_that_differ_otherwise_are_not_told(house):
    house.csv = "pid,day,ward\nA1,,A\nA2,,A\nB1,,A\nA10,,A\n"
    report = house.load().report
    assert report.alike_units["any"] == 0
    assert not report.warnings


@pytest.mark.parametrize(
    ("fold", "units"),
    [
        ("case", 7), ("trim", 6), ("zeros", 7), (["case", "zeros"], 5),
        (["zeros", "trim", "case"], 3), ([], 8),
    ],
)  # fmt: skip
def test_a_declared_fold_makes_them_one_unit(house, fold, units):
    house.population = {"unit_fold": fold}
    report = house.load().report
    assert report.tables[0].units == units
    assert report.tables[0].rows_kept == len(SPELLED)
    assert (report.alike_units["any"] == 0) == (len(fold) == 3)


def test_the_overlap_file_holds_every_spelling_and_the_folded_one(house):
    house.population = {"unit_fold": ["case", "zeros"]}
    digests = house.load().population_ids
    key = derive_keys(SECRET).population
    folded = {folded_unit_id(uid, ["case", "zeros"]) for uid in SPELLED}
    expected = {population_id(key, uid) for uid in {*SPELLED, *folded}}
    assert {digests[i : i + 16] for i in range(0, len(digests), 16)} == expected


def test_a_unit_of_two_spellings_has_the_row_bound_of_one(house):
    house.population = {"unit_fold": "case"}
    house.table = {"max_rows_per_unit": 3}
    house.csv = "pid,day,ward\n" + "a,,A\nA,,B\n" * 4
    assert house.report().rows_kept == 3


def test_an_id_of_which_a_fold_leaves_nothing_is_no_unit(house):
    house.population = {"unit_fold": "trim"}
    house.csv = "pid,day,ward\n\u200b,,A\nB,,A\n"
    assert house.report().units == 1
    assert house.rows("count(*)") == [(1,)]


@settings(deadline=None)
@given(st.text(max_size=12), ALL)
def test_a_folded_id_is_its_own_fold(raw, folds):
    uid = canonical_unit_id(raw, "text")
    folded = None if uid is None else folded_unit_id(uid, folds)
    if folded is not None:
        assert folded_unit_id(folded, folds) == folded
        assert canonical_unit_id(folded, "text") == folded


ASCII = [
    "007", "P007", "p 0 07", "0", "000", "a0b0", "A-00", "00x", "0 0 7", "Z", "~0",
    "x0 1",
]  # fmt: skip


@pytest.mark.parametrize("folds", [(), ("case",), ("trim",), ("zeros",), FOLDS])
def test_where_sql_folds_an_id_it_folds_it_as_python_does(folds):
    rows = duckdb.sql(
        f"SELECT r, {folded_sql('r', folds)} FROM (SELECT unnest(?::VARCHAR[]) AS r) "
        f"WHERE {plain_id_sql('r', 'text')}",
        params=[ASCII],
    ).fetchall()
    assert len(rows) == len(ASCII)
    for raw, folded in rows:
        assert folded_unit_id(raw, folds) == folded
