"""One patient, two spellings: counted, and one unit where the population says so."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.upstream.conftest import SECRET
from upstream.id_forms.loose_ids import id_forms
from upstream.ingestion.secrets import derive_keys
from upstream.manifests.declarations import FOLDS
from upstream.public_check.public_watch import Surroundings
from upstream.public_check.published_ids import KnownUnits
from upstream.staging.canonical import (
    canonical_unit_id,
    folded_sql,
    folded_unit_id,
    plain_id_sql,
)
from upstream.staging.row_hash import population_id

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
    assert report.alike_units == {
        "case": 2,
        "trim": 3,
        "zeros": 2,
        "any": 7,
        "other": 0,
    }
    (said,) = [w for w in report.warnings if "unit_fold" in w]
    assert said.startswith("7 units have ids that differ")
    assert "[case, trim, zeros]" in said
    assert report.to_json()["alike_units"]["any"] == 7


def test_numbers_that_are_written_otherwise_are_counted_and_told(house):
    house.csv = "pid,day,ward\n1000007,,A\n1000007.0,,A\nS01-0042,,A\nS010042,,A\n"
    report = house.load().report
    assert report.tables[0].units == 4
    assert report.alike_units == {
        "case": 0,
        "trim": 0,
        "zeros": 0,
        "any": 0,
        "other": 4,
    }
    (said,) = report.warnings
    assert said.startswith("4 units have ids that differ")
    assert "write ids alike" in said


def test_ids_that_differ_otherwise_are_not_told(house):
    house.csv = "pid,day,ward\nA1,,A\nA2,,A\nB1,,A\nA10,,A\n1-23,,A\n12-3,,A\n"
    report = house.load().report
    assert set(report.alike_units.values()) == {0}
    assert not report.warnings


@pytest.mark.sampled
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


def test_the_overlap_file_holds_every_spelling_the_folded_one_and_all_forms(house):
    house.population = {"unit_fold": ["case", "zeros"]}
    digests = house.load().population_ids
    key = derive_keys(SECRET).population
    folded = {folded_unit_id(uid, ["case", "zeros"]) for uid in SPELLED}
    forms = {form for uid in folded for form in id_forms(uid)}
    expected = {population_id(key, uid) for uid in {*SPELLED, *folded, *forms}}
    assert {digests[i : i + 16] for i in range(0, len(digests), 16)} == expected


@pytest.mark.sampled
@pytest.mark.parametrize("spelled", ["P001", "p 1", "P-001", "p000001"])
def test_populations_that_spell_one_id_otherwise_share_a_digest(house, spelled):
    def digests(uid, target):
        house.csv, house.target = f"pid,day,ward\n{uid},,A\nx{target},,A\n", target
        found = house.load().population_ids
        return {found[i : i + 16] for i in range(0, len(found), 16)}

    assert len(digests("p001", "a") & digests(spelled, "b")) == 1


def test_new_units_are_those_without_a_known_form(house):
    found = house.load()
    assert found.new.count == len(SPELLED)
    assert found.new.digests == found.population_ids
    house.surroundings = Surroundings(own=KnownUnits(found.population_ids))
    house.target = "again.duckdb"
    house.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in ["p-7", "Z", "Z9"])
    new, known = house.load().new, found.population_ids
    assert new.count == 2
    key = derive_keys(SECRET).population
    expected = sorted({population_id(key, one) for one in ("Z", "z", "Z9", "z9")})
    assert new.digests == b"".join(expected)  # none of p-7, which the file lacks too
    assert population_id(key, "p-7") not in {
        known[i : i + 16] for i in range(0, len(known), 16)
    }


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
    rows = (
        duckdb.connect()
        .sql(
            f"SELECT r, {folded_sql('r', folds)} FROM (SELECT unnest(?::VARCHAR[]) r) "
            f"WHERE {plain_id_sql('r', 'text')}",
            params=[ASCII],
        )
        .fetchall()
    )
    assert len(rows) == len(ASCII)
    for raw, folded in rows:
        assert folded_unit_id(raw, folds) == folded
