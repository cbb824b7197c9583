"""GET sample: rows that fit the schema and depend on nothing else."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Hierarchy,
    HierarchyDomain,
    RangeDomain,
    Table,
    ValuesDomain,
)
from server.use_cases.datasets.made_up import made_up_sample
from tests.support.installations.harness import (
    HEADER,
    Installation,
    client,
    serve_in_thread,
)

DAY = dt.date(2024, 5, 1)
LATER = dt.datetime.fromisoformat("2024-05-01T12:00")
COLUMNS = (
    Column("unit", ColumnType.TEXT, nullable=False),
    Column("visit", ColumnType.INTEGER, nullable=False),
    Column("sex", ColumnType.TEXT, nullable=False, constant_in_unit=True,
           domain=ValuesDomain(("F", "M"), other=True)),
    Column("age", ColumnType.INTEGER, domain=RangeDomain(-3, 7)),
    Column("weight", ColumnType.DECIMAL, scale=2, nullable=False,
           domain=RangeDomain(Decimal("1.50"), Decimal("1.53"))),
    Column("day", ColumnType.DATE, nullable=False, domain=RangeDomain(DAY, DAY)),
    Column("seen", ColumnType.TIMESTAMP, nullable=False,
           domain=RangeDomain(LATER, LATER + dt.timedelta(hours=1))),
    Column("code", ColumnType.TEXT, nullable=False, domain=HierarchyDomain("icd10")),
    Column("area", ColumnType.TEXT, nullable=False, domain=HierarchyDomain("own")),
    Column("dead", ColumnType.BOOLEAN, nullable=False),
    Column("free", ColumnType.DECIMAL, scale=1, nullable=False),
    Column("when", ColumnType.TIMESTAMP, nullable=False),
    Column("noted", ColumnType.DATE, nullable=False),
)  # fmt: skip
TABLE = Table("visits", COLUMNS, "unit", 2, key=("unit", "visit"))
OWN = Hierarchy("own", ("side",), {"A": ("north",), "B": ("south",)})
DATASET = Dataset("clinic", "people", "patient", DAY, {"visits": TABLE}, {"own": OWN})


def column(name, rows=300):
    sample = made_up_sample(DATASET, TABLE, rows)
    index = [c["name"] for c in sample["columns"]].index(name)
    return [row[index] for row in sample["rows"]]


def test_the_same_schema_brings_the_same_rows_however_many():
    few, many = (made_up_sample(DATASET, TABLE, n) for n in (5, 50))
    assert many["rows"][:5] == few["rows"]
    assert few["made_up"] is True


class CountedTables(dict[str, Table]):
    """Tables that count how often somebody walks over them all."""

    walks = 0

    def values(self):
        self.walks += 1
        return super().values()


def test_a_listed_table_has_its_own_rows_and_others_name_them():
    code = Column("code", ColumnType.TEXT, nullable=False)
    name = Column("name", ColumnType.TEXT)
    rows = (("N", "North"), ("S", None))
    regions = Table("regions", (code, name), key=("code",), listed=True, rows=rows)
    unit = Column("unit", ColumnType.INTEGER, nullable=False)
    people = Table("people", (unit, code), "unit", 1)
    tables = {table.name: table for table in (people, regions)}
    dataset = replace(DATASET, tables=tables)
    assert made_up_sample(dataset, regions, 20)["rows"] == [list(row) for row in rows]
    named = {row[1] for row in made_up_sample(dataset, people, 20)["rows"]}
    assert named == {"N", "S"}


def test_all_tables_are_walked_for_a_column_and_not_for_each_of_its_cells():
    walks = []
    for rows in (1, 200):
        tables = CountedTables(DATASET.tables)
        made_up_sample(replace(DATASET, tables=tables), TABLE, rows)
        walks.append(tables.walks)
    assert walks[0] == walks[1] <= 2 * len(COLUMNS)


def test_values_are_those_that_are_declared():
    assert set(column("sex")) == {"F", "M", "other"}
    assert set(column("age")) == {None, *range(-3, 8)}
    assert set(column("weight")) == {"1.50", "1.51", "1.52", "1.53"}
    assert set(column("day")) == {"2024-05-01"}
    assert all("T12:" in text or "T13:00" in text for text in column("seen"))
    assert set(column("area")) == {"A", "B"}
    assert set(column("dead")) == {True, False}
    assert len(set(column("code"))) > 100


def test_only_nullable_columns_have_nulls():
    for declared in COLUMNS:
        nulls = column(declared.name).count(None)
        assert (nulls > 0) == declared.nullable, declared.name


def test_units_keys_and_constant_columns_are_as_promised():
    units, visits, sexes = column("unit"), column("visit"), column("sex")
    assert max(units.count(unit) for unit in units) == 2
    assert len(set(zip(units, visits, strict=True))) == len(units)
    assert len(set(zip(units, sexes, strict=True))) == len(set(units))


def declared(name, kind, domain=None, **facts):
    return Column(name, kind, nullable=False, domain=domain, **facts)


SEX = declared("sex", ColumnType.TEXT, ValuesDomain(("F", "M", "x")))
STAYS = Table(
    "stays",
    (
        declared("pid", ColumnType.TEXT),
        declared("stay", ColumnType.INTEGER),
        SEX,
        declared("ward", ColumnType.TEXT),
        declared("home", ColumnType.TEXT),
    ),
    "pid",
    5,
    key=("stay",),
)
CODES = Table(
    "codes",
    (
        declared("stay", ColumnType.INTEGER),
        declared("pid", ColumnType.TEXT),
        declared("rank", ColumnType.INTEGER, RangeDomain(1, 9)),
    ),
    "pid",
    20,
    key=("stay", "rank"),
)
NOTES = Table(
    "notes",
    (declared("pid", ColumnType.TEXT), Column("stay", ColumnType.INTEGER)),
    "pid",
    9,
)
PERSONS = Table(
    "persons",
    (
        declared("pid", ColumnType.TEXT),
        declared("sex", ColumnType.TEXT, SEX.domain, constant_in_unit=True),
        declared("home", ColumnType.TEXT, constant_in_unit=True),
    ),
    "pid",
    1,
    key=("pid",),
)
WARDS = Table("wards", (declared("ward", ColumnType.TEXT),), key=("ward",))
HOMES = Table("homes", (declared("home", ColumnType.TEXT),), key=("home",))
TABLES = (STAYS, CODES, NOTES, PERSONS, WARDS, HOMES)
JOINED = Dataset("joined", "people", "patient", DAY, {t.name: t for t in TABLES}, {})


def made(table, rows, *names):
    sample = made_up_sample(JOINED, table, rows)
    places = [[c["name"] for c in sample["columns"]].index(name) for name in names]
    return [tuple(row[place] for place in places) for row in sample["rows"]]


@pytest.mark.parametrize("table", [CODES, NOTES])
def test_what_names_a_row_of_another_table_finds_one_of_the_same_unit(table):
    stays = set(made(STAYS, 300, "pid", "stay"))
    named = [row for row in made(table, 300, "pid", "stay") if row[1] is not None]
    assert set(named) <= stays
    assert len(set(named)) > 100
    whole = made(CODES, 300, "pid", *CODES.key)
    assert len(set(whole)) == len(whole)


def test_keys_are_told_apart_in_the_whole_table():
    assert len(set(made(STAYS, 1000, "stay"))) == 1000
    assert len(set(made(WARDS, 1000, "ward"))) == 1000


def test_public_rows_that_are_named_are_among_the_first_that_are_shown():
    assert set(made(STAYS, 300, "ward")) == set(made(WARDS, 10, "ward"))
    assert set(made(PERSONS, 300, "home")) == set(made(HOMES, 10, "home"))


def test_what_is_constant_in_a_unit_is_the_same_in_every_table():
    persons = made(PERSONS, 100, "pid", "sex", "home")
    assert {(pid, sex) for pid, sex, _ in persons} == set(
        made(STAYS, 300, "pid", "sex")
    )
    assert {(pid, home) for pid, _, home in persons} == set(
        made(STAYS, 300, "pid", "home")
    )


def test_made_up_texts_are_as_short_as_declared():
    short = Column("note", ColumnType.TEXT, nullable=False, max_length=3)
    table = replace(TABLE, columns=(*COLUMNS, short))
    sample = made_up_sample(DATASET, table, 300)
    assert {len(row[-1]) <= 3 for row in sample["rows"]} == {True}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("sample")).create()
    installation.load()
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        yield installation, http


def test_another_snapshot_of_other_patients_changes_no_byte(served):
    installation, http = served
    before = http.get("/v1/datasets/clinic/sample?table=visits&rows=100").content
    installation.load(["7,F,30,north,2024-03-03,canarynote"])
    assert (
        http.get("/v1/datasets/clinic/sample?rows=100&table=visits").content == before
    )


def test_a_datasets_page_tells_the_declared_sizes(served):
    _, http = served
    page = http.get("/v1/datasets/clinic").json()
    (visits,) = page["tables"]
    assert (page["max_units"], visits["max_rows"]) == (50_000, 200_000)
    lengths = {c["name"]: c.get("max_length") for c in visits["columns"]}
    assert lengths["note"] == lengths["sex"] == 1_000
    assert lengths["age"] is lengths["patient_id"] is None


def test_made_up_rows_can_be_loaded_as_they_are(served):
    installation, http = served
    sample = http.get("/v1/datasets/clinic/sample", params={"rows": 200}).json()
    assert ",".join(c["name"] for c in sample["columns"]) == HEADER
    rows = [
        ",".join("" if v is None else str(v) for v in row) for row in sample["rows"]
    ]
    assert installation.load(rows, dataset="copy", cap="100000")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 200), ("?rows=1", 200), ("?rows=1000", 200), ("?rows=0", 422),
        ("?rows=1001", 422), ("?rows=-1", 422), ("?rows=x", 422), ("?rows=", 422),
        ("?table=nowhere", 404), ("?table=%00", 404), ("?table=", 404),
    ],
)  # fmt: skip
def test_parameters_off_their_form_are_refused(served, query, status):
    _, http = served
    reply = http.get(f"/v1/datasets/clinic/sample{query}")
    assert reply.status_code == status, reply.text
    if status == 404:
        absent = http.get(f"/v1/datasets/nowhere/sample{query}")
        assert absent.content == reply.content
