"""No row's work follows from the values of other rows: how columns lie and are read."""

import re

import duckdb
import pytest

from engines.duckdb.snapshots import BLIND
from privacy.contributions import ContributionBounds
from tests.support.compiling import compile_query
from tests.unit.upstream.conftest import Hospital

MANY = 5_000
HEADER = "pid,day,ward,site,rest,ill,note\n"
SCAN = re.compile(r'\(SELECT (?:[^()]|COALESCE\([^()]*\))* FROM "stays"\)')


def alike(pid):
    return f"{pid},2024-01-01,A,7,,true,\n"


ALIKE = "".join(map(alike, range(MANY - 1)))
TRUTHS = ("true", "false")
OTHERS = {
    "alike": alike(MANY),
    "one apart": f"{MANY},2024-02-01,B,8,9,false,x\n",
    "many apart": "".join(
        f"{MANY + i // 9},2024-02-0{i % 9 + 1},W{i},{i},{i},{TRUTHS[i % 2]},n{i}\n"
        for i in range(900)
    ),
}


@pytest.fixture(scope="module", params=OTHERS)
def ward(tmp_path_factory, request):
    """A ward of patients who are alike, but for one or for a hundred."""
    hospital = Hospital(tmp_path_factory.mktemp("ward"))
    for name, kind in (
        ("site", "integer"),
        ("rest", "integer"),
        ("ill", "boolean"),
        ("note", "text"),
    ):
        hospital.column(name, type=kind)
    hospital.table["max_rows_per_unit"] = 9
    hospital.csv = HEADER + ALIKE + OTHERS[request.param]
    hospital.load()
    return hospital


def opened(hospital):
    return duckdb.connect(
        hospital.folder / hospital.target, read_only=True, config=BLIND
    )


@pytest.mark.sampled
def test_no_form_of_storage_is_chosen_by_values(ward):
    found = opened(ward).execute(
        "SELECT DISTINCT segment_type, compression FROM pragma_storage_info('stays') "
        "WHERE compression <> 'Uncompressed' ORDER BY ALL"
    )
    forms = found.fetchall()
    assert {form for _, form in forms} <= {"Constant"}  # DuckDB does not ask for it
    assert not {kind for kind, _ in forms} & {"VARCHAR"}


def question(ward, where):
    schema = ward.manifest().schema()
    return compile_query(f"SELECT COUNT(*) FROM {where}", schema).rendered.statements[0]


def test_every_column_is_read_as_values_of_each_row(ward):
    where = " OR ".join(
        f"{name} IS NULL" for name in ("day", "ward", "site", "rest", "ill", "note")
    )
    sql = question(ward, f"stays WHERE {where}").sql
    (scan,) = SCAN.findall(sql)
    types = opened(ward).execute(f"SELECT DISTINCT vector_type(COLUMNS(*)) FROM {scan}")
    assert types.fetchall() == [("FLAT_VECTOR",) * 6]


def test_the_bound_of_a_table_is_read_as_values_of_each_row(ward):
    schema = ward.manifest().schema()
    bounds = ContributionBounds(tables=(("stays", 2),))
    query = compile_query("SELECT COUNT(*) FROM stays", schema, bounds=bounds)
    (rank,) = re.findall(r"WHERE (.*) <= \?", query.rendered.statements[0].sql)
    types = opened(ward).execute(f"SELECT DISTINCT vector_type({rank}) FROM stays")
    assert types.fetchall() == [("FLAT_VECTOR",)]


@pytest.mark.parametrize(
    "chosen",
    [
        "CASE WHEN site = 99999 THEN 1 ELSE 2 END",
        "CASE site WHEN 99999 THEN 'a' ELSE 'b' END",
        "CASE WHEN site = 99999 THEN day END",
    ],
)
def test_what_a_choice_gives_is_made_for_each_row(ward, chosen):
    source = f"(SELECT pid, {chosen} AS c FROM stays) AS r WHERE c IS NULL"
    asked = question(ward, source)
    below = re.findall(r"FROM (\(SELECT COALESCE\(\(CASE.*?\))\s+WHERE", asked.sql)
    types = opened(ward).execute(
        f"SELECT DISTINCT vector_type(COLUMNS(*)) FROM {below[0]}",
        list(asked.parameters),
    )
    assert types.fetchall() == [("FLAT_VECTOR",)]
