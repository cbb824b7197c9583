import re
from datetime import date

import pytest

from upstream.errors import IngestionError, ManifestError
from upstream.manifests.derived import broken_derived_rules
from upstream.manifests.manifest import load_manifest

PEOPLE = {
    "name": "people",
    "files": ["people.csv"],
    "unit_column": "pid",
    "max_rows_per_unit": 1,
    "source": "test",
    "columns": [{"name": "pid", "type": "integer"}, {"name": "born", "type": "date"}],
}
STAY = {
    "name": "stay_days",
    "expression": "gone - day",
    "type": "integer",
    "domain": {"min": 0, "max": 60},
    "source": "protocol",
}
AGE = {
    "name": "age",
    "expression": "EXTRACT(YEAR FROM AGE(day, people.born))",
    "type": "integer",
    "domain": {"min": 0, "max": 110},
    "source": "protocol",
}


def derived(hospital, *columns):
    hospital.column("gone", type="date")
    hospital.table = {"derived": list(columns)}
    hospital.more_tables = [PEOPLE]
    (hospital.folder / "people.csv").write_text(
        "pid,born\n1,1950-03-02\n3,1990-01-01\n"
    )
    hospital.csv = (
        "pid,day,ward,gone\n"
        "1,2024-03-01,A,2024-03-05\n"
        "1,2024-03-02,B,2024-08-05\n"
        "2,2024-01-09,A,2024-01-02\n"
        "2,2024-01-09,B,\n"
    )


def problems(hospital):
    manifest = hospital.manifest()
    found = broken_derived_rules(manifest.tables, manifest.schema())
    return [(at, said) for at, said in found]


def test_each_row_has_its_value_within_the_declared_bounds(hospital):
    derived(hospital, STAY)
    assert sorted(hospital.rows("ward, stay_days"), key=str) == [
        ("A", 0),  # left before it came: clamped
        ("A", 4),
        ("B", 60),
        ("B", None),
    ]


def test_a_unit_s_constants_are_read_from_another_table(hospital):
    derived(hospital, AGE)
    assert sorted(hospital.rows("day, age")) == [
        (date(2024, 1, 9), None),
        (date(2024, 1, 9), None),
        (date(2024, 3, 1), 73),
        (date(2024, 3, 2), 74),
    ]


def test_a_list_keeps_what_it_names(hospital):
    column = {
        "name": "long_stay",
        "expression": "CASE WHEN gone - day > 3 THEN 'long' WHEN gone = day THEN 'day' "
        "WHEN gone < day THEN 'before' END",
        "type": "text",
        "domain": {"values": ["long"], "other": True},
        "source": "protocol",
    }
    derived(hospital, column)
    values = sorted(hospital.rows("long_stay"), key=str)
    assert values == [("long",), ("long",), ("other",), (None,)]


def test_what_became_of_values_is_reported(hospital):
    derived(hospital, STAY, AGE)
    told = {column.name: column for column in hospital.report().columns}
    stay, age = told["stay_days"], told["age"]
    assert (stay.clamped, stay.to_null, stay.values) == (2, 0, 3)
    assert (age.clamped, age.to_null, age.values) == (0, 0, 2)


def test_buckets_change_nothing(hospital):
    derived(hospital, STAY, AGE)
    whole = hospital.rows("*")
    hospital.target, hospital.bucket_bytes = "again.duckdb", 1
    assert hospital.rows("*") == whole


def test_the_row_hash_is_of_what_the_files_hold(hospital):
    derived(hospital, STAY)
    before = hospital.rows("row_hash")
    hospital.table, hospital.target = {}, "again.duckdb"
    assert hospital.rows("row_hash") == before


def test_who_is_read_is_stored_before_whoever_reads(hospital):
    derived(hospital, STAY)
    visited = {"name": "ward", "expression": "stays.ward", "type": "text"}
    hospital.more_tables = [{**PEOPLE, "derived": [visited]}]
    hospital.column("ward", constant_in_unit=True)
    assert sorted(hospital.rows("born, ward IN ('A', 'B')", "people")) == [
        (date(1950, 3, 2), True),
        (date(1990, 1, 1), None),
    ]


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ({"type": "date"}, "type", "declared as date, and its expression is integer"),
        ({"type": "decimal", "scale": 1}, "type", r"CAST\(... AS DECIMAL\(18, 1\)\)"),
        ({"constant_in_unit": True}, "constant_in_unit", "may differ between rows"),
        ({"expression": "gone - dya"}, "expression", "did you mean day"),
        ({"expression": "gone -"}, "expression", "one expression"),
        ({"expression": "COUNT(*)"}, "expression", "aggregate"),
        ({"expression": "pid"}, "expression", "unit key"),
        (
            {"expression": "pid = people.pid", "type": "boolean"},
            "expression",
            "the unit column is no value",
        ),
        ({"expression": "1 FROM people WHERE TRUE --"}, "expression", "one expression"),
        ({"expression": "gone - day AS x"}, "expression", "one expression"),
        ({"expression": "gone - day, 2"}, "expression", "one expression"),
        (
            {"expression": "day IN (SELECT born FROM people)", "type": "boolean"},
            "expression",
            "subquer",
        ),
    ],
)
def test_what_cannot_be_derived_is_refused_where_it_is_written(
    hospital, change, where, words
):
    column = {k: v for k, v in {**STAY, **change}.items() if k != "domain"}
    derived(hospital, column)
    ((place, said),) = problems(hospital)
    assert place == ("tables", 0, "derived", 0, where)
    assert re.search(words, said), said


def test_what_may_differ_between_rows_is_read_from_no_other_table(hospital):
    derived(hospital)
    hospital.table = {}
    seen = {"name": "seen", "expression": "stays.day", "type": "date"}
    hospital.more_tables = [{**PEOPLE, "derived": [seen]}]
    ((place, said),) = problems(hospital)
    assert place == ("tables", 1, "derived", 0, "expression")
    assert "stays.day may differ between rows of one unit" in said


def test_two_tables_do_not_read_each_other(hospital):
    derived(hospital, AGE)
    hospital.column("ward", constant_in_unit=True)
    ward = {"name": "ward", "expression": "stays.ward", "type": "text"}
    hospital.more_tables = [{**PEOPLE, "derived": [ward]}]
    said = [words for _, words in problems(hospital)]
    assert said
    assert all("read each other's tables" in words for words in said)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"derived": [{**STAY, "name": "day"}]}, "is a column of the files already"),
        ({"derived": [STAY, STAY]}, "stands twice"),
        ({"derived": [{**STAY, "source": None}]}, "source is missing"),
        ({"derived": [{**STAY, "expression": ""}]}, "is empty: write how the column"),
        ({"derived": [{**STAY, "name": "select"}]}, "word of the language"),
        ({"derived": [{**STAY, "name": "row_rank"}]}, "reserved"),
        ({"derived": [{**STAY, "domain": {"min": 3, "max": 1}}]}, "max must not lie"),
        ({"key": ["stay_days"], "derived": [STAY]}, "key names stay_days"),
        (
            {"unit_column": None, "max_rows_per_unit": None, "public": True},
            "only a private table has derived columns",
        ),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(hospital, table, words):
    hospital.column("gone", type="date")
    hospital.table = {"derived": [STAY], **table}
    with pytest.raises(ManifestError, match=words):
        hospital.manifest()


def test_a_manifest_file_is_refused_at_the_line_of_the_expression(tmp_path):
    path = tmp_path / "clinic.yaml"
    path.write_text(
        "version: 1\n"
        "population: {id: p, unit: patient, unit_type: integer}\n"
        "dataset: d\n"
        "snapshot_date: 2024-12-31\n"
        "tables:\n"
        "- name: stays\n"
        "  files: [stays.csv]\n"
        "  unit_column: pid\n"
        "  max_rows_per_unit: 9\n"
        "  source: test\n"
        "  columns: [{name: pid, type: integer}, {name: day, type: date}]\n"
        "  derived:\n"
        "  - name: year\n"
        "    type: integer\n"
        "    expression: EXTRACT(YEAR FROM dya)\n"
    )
    with pytest.raises(ManifestError) as refusal:
        load_manifest(path)
    (problem,) = refusal.value.problems
    assert (problem.line, "did you mean day" in problem.sentence) == (15, True)


def test_ids_in_an_expression_are_public_and_refused(hospital):
    derived(hospital)
    ids = range(1_000_001, 1_000_008)
    hospital.csv = "pid,day,ward,gone\n" + "".join(
        f"{uid},2024-01-01,A,2024-01-02\n" for uid in ids
    )
    listed = ", ".join(str(uid) for uid in ids)
    one = {
        **STAY,
        "expression": f"CASE WHEN gone - day IN ({listed}) THEN 1 ELSE 0 END",
    }
    hospital.table = {"derived": [one]}
    with pytest.raises(IngestionError, match=r"the expression of stays\.stay_days"):
        hospital.load()
