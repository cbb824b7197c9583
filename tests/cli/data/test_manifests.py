"""``manifest draft`` and ``manifest check``: no installation, nothing of the data."""

import json
import re

import duckdb
import pytest

STAYS = """\
Patient ID,Age (years),Stay Days,Weight,Admitted,Diagnosis,Cause,Ward,Ended,Note
7,17,37,81.25,2003-04-05,E11.9,C7A.00,blue,true,x
7,93,41,-7.5,2017-11-23,I10,Z3A.1,green,false,
9,44,39,66.125,2009-02-28,?,c4a.1,blue,true,y
"""
CODES = "code,label\nblue,north side\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "Stays 2024.csv").write_text(STAYS)
    (tmp_path / "codes.csv").write_text(CODES)
    return [tmp_path / "Stays 2024.csv", tmp_path / "codes.csv"]


def columns(text):
    """Return each drafted column's text by its name."""
    return {m[1]: m[0] for m in re.finditer(r"  - \{name: (\w+).*", text)}


def test_a_draft_guesses_types_and_proposes_rungs_of_public_ladders(bare, files):
    text = bare.run("manifest", "draft", *files, "--unit", "Patient ID").stdout
    found = columns(text)
    assert (
        found["patient_id"]
        == '  - {name: patient_id, from: "Patient ID", type: integer}'
    )
    assert "domain: {min: 0, max: 120}" in found["age_years"]
    assert "domain: {min: 0, max: 50}" in found["stay_days"]
    assert "type: decimal, scale: 3, domain: {min: -10, max: 100}" in found["weight"]
    assert "domain: {min: 2000-01-01, max: 2019-12-31}" in found["admitted"]
    assert "domain: {hierarchy: icd10}" in found["diagnosis"]
    assert "domain: {hierarchy: icd10cm}" in found["cause"]
    assert found["ward"] == '  - {name: ward, from: "Ward", type: text}'
    assert found["ended"] == '  - {name: ended, from: "Ended", type: boolean}'
    assert "- name: stays_2024" in text
    assert "public: TODO" in text


def test_a_draft_shows_no_end_and_no_value_of_the_data(bare, files):
    text = bare.run("manifest", "draft", *files, "--unit", "Patient ID").stdout
    words = set(re.findall(r"[\w.-]+", text))
    cells = {cell for line in STAYS.splitlines()[1:] for cell in line.split(",")}
    assert not words & (cells - {"", "true", "7", "9", "x", "y"})
    assert not words & {"blue", "green", "north", "17", "93", "37", "41", "66.125"}
    assert not re.search(r"max_rows_per_unit: \d", text)


def test_a_draft_guesses_the_format_of_days(bare, tmp_path):
    days = "31/12/2011", "01/01/1993", "05/06/2004"
    (tmp_path / "t.csv").write_text("left\n" + "\n".join(days) + "\n")
    text = bare.run("manifest", "draft", tmp_path / "t.csv").stdout
    assert 'type: date, format: "%d/%m/%Y"' in text
    assert "domain: {min: 1990-01-01, max: 2019-12-31}" in text


@pytest.mark.parametrize("zone", ["Z", ".250Z", "+00:00", ""])
def test_a_draft_reads_times_in_utc(bare, tmp_path, zone):
    times = (f"2024-05-06T07:08:09{zone}", f"2023-12-31T23:59:01{zone}")
    (tmp_path / "t.csv").write_text("seen,at\n" + "".join(f"a,{t}\n" for t in times))
    text = bare.run("manifest", "draft", tmp_path / "t.csv").stdout
    assert "name: at, type: timestamp" in text
    form = f"%Y-%m-%dT%H:%M:%S{zone.replace('250', '%f')}"
    assert (f'format: "{form}"' in text) == bool(zone)


@pytest.mark.parametrize("ends", [("2000-01-01", "2009-12-31"), ("1", "50")])
def test_a_draft_steps_beyond_ends_that_are_rungs_themselves(bare, tmp_path, ends):
    (tmp_path / "t.csv").write_text("size\n" + "\n".join(ends) + "\n")
    text = bare.run("manifest", "draft", tmp_path / "t.csv").stdout
    assert not set(ends) - {"1"} & set(re.findall(r"[\w-]+", text))


def test_each_todo_of_a_draft_is_refused_with_what_to_do(bare, files, tmp_path):
    text = bare.run("manifest", "draft", *files, "--unit", "Patient ID").stdout
    (tmp_path / "m.yaml").write_text(text)
    said = bare.said("manifest", "check", tmp_path / "m.yaml")
    for words in ("id: start with", "snapshot_date: write", "max_rows_per_unit: write"):
        assert words in said
    sources = re.findall(r'source: "?TODO', text)
    assert len(sources) > 3
    assert said.count("source is still to do") == len(sources)
    said_first = re.sub(r"TODO(?= #|$)", "todo", text, flags=re.MULTILINE)
    done = said_first.replace("snapshot_date: todo", "snapshot_date: 2024-12-31")
    done = done.replace("max_rows_per_unit: todo", "max_rows_per_unit: 20")
    done = done.replace("public: todo", "public: true")
    (tmp_path / "m.yaml").write_text(done)
    assert "source is still to do" in bare.said(
        "manifest", "check", tmp_path / "m.yaml"
    )
    done = done.replace("TODO", "protocol")
    (tmp_path / "m.yaml").write_text(done)
    assert bare.json("manifest", "check", tmp_path / "m.yaml") == {
        "ok": True,
        "problems": [],
    }
    assert "ok" in bare.run("manifest", "check", tmp_path / "m.yaml").stdout


def test_a_parquet_file_is_drafted_from_its_types(bare, tmp_path):
    path = tmp_path / "lab.parquet"
    duckdb.connect().sql(
        "SELECT 17 AS pid, 3.5 AS Potassium, true AS fasting"
    ).write_parquet(str(path))
    done = bare.json("manifest", "draft", path, "--unit", "pid")
    found = columns(done["manifest"])
    assert "type: decimal, scale: 1, domain: {min: 0, max: 5}" in found["potassium"]
    assert found["fasting"] == "  - {name: fasting, type: boolean}"
    assert bare.json("manifest", "draft", path)["manifest"].count("unit_column: TODO")


def test_a_file_that_is_no_table_cannot_be_drafted(bare, tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"no parquet")
    assert "cannot be read" in bare.said("manifest", "draft", tmp_path / "x.parquet")


MANIFEST = """\
version: 1
population: {id: p, unit: patient, unit_type: integer}
dataset: d
snapshot_date: 2024-12-31
tables:
- name: stays
  files: [stays*.csv, more/*.parquet]
  unit_column: pid
  max_rows_per_unit: 9
  source: protocol
  columns:
  - {name: pid, type: integer}
  - {name: ward, from: WARD, type: text}
"""


def test_check_lists_every_problem_of_files_and_headers(bare, tmp_path):
    (tmp_path / "m.yaml").write_text(MANIFEST)
    (tmp_path / "stays1.csv").write_text("pid,WARD\nno number,x\n")
    (tmp_path / "stays2.csv").write_text("pid,ward\n1,x\n")
    (tmp_path / "stays3.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "stays4.csv").symlink_to("/etc/passwd")
    done = bare.run("manifest", "check", tmp_path / "m.yaml", "--json", code=1)
    found = json.loads(done.stdout)
    assert not found["ok"]
    assert [(p["file"], p["line"]) for p in found["problems"]] == [
        ("stays2.csv", 1),
        ("stays3.csv", 1),
        ("stays4.csv", None),
        ("more/*.parquet", None),
    ]
    said = bare.said("manifest", "check", tmp_path / "m.yaml")
    assert "stays2.csv:1: the header lacks 'WARD' of table stays" in said
    assert "outside the import folder" in said


def test_check_reads_no_rows(bare, tmp_path):
    (tmp_path / "m.yaml").write_text(MANIFEST.replace(", more/*.parquet", ""))
    (tmp_path / "stays1.csv").write_text('pid,WARD\nno number,"broken\n')
    assert bare.json("manifest", "check", tmp_path / "m.yaml")["ok"]


def test_check_refuses_integer_ids_among_texts(bare, tmp_path):
    (tmp_path / "m.yaml").write_text(
        MANIFEST.replace("unit_type: integer", "unit_type: text")
    )
    (tmp_path / "stays1.csv").write_text("pid,WARD\n1,x\n")
    said = bare.said("manifest", "check", tmp_path / "m.yaml")
    assert "declare the same type in every table" in said


@pytest.mark.parametrize(
    ("ids", "kind", "why"),
    [
        (("00001", "00002"), "integer", "padding zeros are dropped"),
        (("00001", "A2"), "text", "007 and 7 are two"),
    ],
)
def test_a_draft_gives_unit_columns_one_type(bare, tmp_path, ids, kind, why):
    texts = ", ".join(f"('{one}')" for one in ids)
    duckdb.connect().sql(f"SELECT * FROM (VALUES {texts}) AS t(pid)").write_parquet(
        str(tmp_path / "people.parquet")
    )
    (tmp_path / "stays.csv").write_text("pid,ward\n1,x\n2,y\n")
    text = bare.run(
        "manifest", "draft", tmp_path / "people.parquet", tmp_path / "stays.csv",
        "--unit", "pid",
    ).stdout  # fmt: skip
    assert text.count(f"{{name: pid, type: {kind}}}") == 2
    assert re.search(rf"unit_type: {kind} # .*{why}", text)


def test_a_draft_refuses_a_unit_that_no_file_has(bare, files):
    said = bare.said("manifest", "draft", *files, "--unit", "patient_id")
    assert "no file has a column patient_id; columns are: Patient ID, Age" in said
    assert "did you mean Patient ID?" in said


@pytest.mark.parametrize("column", ["patient_no", "code"])
def test_a_draft_proposes_nothing_as_public_that_is_keyed_by_people(
    bare, tmp_path, column
):
    ids = [f"P{i:04}" for i in range(20)]
    for name, header, spelled in (
        ("stays", "pat_id", str), ("labs", "subject", str), ("marks", column, str.lower)
    ):  # fmt: skip
        rows = "".join(f"{spelled(uid)},x\n" for uid in ids)
        (tmp_path / f"{name}.csv").write_text(f"{header},note\n{rows}")
    (tmp_path / "wards.csv").write_text("ward,beds\nA,1\nB,2\n")
    files = [tmp_path / f"{n}.csv" for n in ("stays", "labs", "marks", "wards")]
    units = ("--unit", "pat_id", "--unit", "subject")
    text = bare.run("manifest", "draft", *files, *units).stdout
    said = [line for line in text.splitlines() if "unit_column" in line]
    assert said[:2] == ["  unit_column: pat_id", "  unit_column: subject"]
    assert f"TODO # {column} looks like ids of people" in said[2]
    assert text.count("public: TODO") == 1


def test_a_draft_proposes_nothing_as_public_whose_rows_another_file_joins_to_people(
    bare, tmp_path
):
    stays = "".join(f"P{i // 2:04},{500_000 + 7 * i},D{i % 9}\n" for i in range(60))
    (tmp_path / "stays.csv").write_text(f"pat_id,Encounter ID,drug\n{stays}")
    codes = "".join(f"{500_000 + 7 * i},E1{i % 10}\n" for i in range(50))
    (tmp_path / "diagnoses.csv").write_text(f"encounter_id,icd\n{codes}")
    drugs = "".join(f"D{i},name\n" for i in range(12))
    (tmp_path / "drugs.csv").write_text(f"drug,name\n{drugs}")
    files = [tmp_path / f"{n}.csv" for n in ("stays", "diagnoses", "drugs")]
    text = bare.run("manifest", "draft", *files, "--unit", "pat_id").stdout
    _, _, diagnoses, drugs = text.split("- name: ")
    assert "public: TODO" not in diagnoses
    assert 'unit_column: TODO # "pat_id", once it is in the file' in diagnoses
    assert '"diagnoses.csv" anew with the column "pat_id" that "stays.csv" has' in (
        " ".join(diagnoses.replace("#", " ").split())
    )
    assert 'for each "Encounter ID"' in " ".join(diagnoses.replace("#", " ").split())
    assert "public: TODO" in drugs
    assert "500007" not in text


@pytest.mark.parametrize("first", ["gene", "pat_id"])
def test_a_draft_leaves_out_columns_that_are_named_by_ids_of_people(
    bare, tmp_path, first
):
    ids = [f"P{i:07}" for i in range(5_900, 5_912)]
    stays = "".join(f"{uid},x\n" for uid in ids)
    (tmp_path / "stays.csv").write_text(f"pat_id,note\n{stays}")
    header = ",".join([first, "Chromosome", *map(str.lower, ids)])
    row = ",".join(["g1" if first == "gene" else ids[0], "7", *("3" for _ in ids)])
    (tmp_path / "genes.csv").write_text(f"{header}\n{row}\n")
    files = [tmp_path / "stays.csv", tmp_path / "genes.csv"]
    text = bare.run("manifest", "draft", *files, "--unit", "pat_id").stdout
    drafted = text[text.index("- name: genes") :]
    assert "public:" not in text
    assert "12 columns are named by ids of people" in drafted
    assert "Turn the file into long form" in drafted
    assert list(columns(drafted)) == [first, "chromosome"]
    assert not any(uid.lower() in text.lower() for uid in ids)


def test_a_draft_says_which_file_is_missing(bare, tmp_path):
    said = bare.said("manifest", "draft", tmp_path / "nope.csv")
    assert "there is no file nope.csv" in said
