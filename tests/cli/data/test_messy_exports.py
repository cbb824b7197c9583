"""Four messy exports, from files to a dataset: what docs/custodians.md promises."""

import re
import time
import zipfile

from tests.support.messy_exports import PATIENTS, write_exports

UNITS = ("--unit", "PatNr", "--unit", "Patient ID")
DRAFTED = (
    "aufenthalte_2022.csv",
    "aufenthalte_2023.csv",
    "labs.csv.gz",
    "pflege.xlsx",
)
SEEN = (
    "semicolons between fields",
    "in windows-1252",
    'files: ["aufenthalte_*.csv"]',
    'formats: ["%d.%m.%Y", "%Y-%m-%d"]',
    'null_values: ["", "-", "31.12.9999"]',
    'format: "%m/%d/%Y"',
    "optional: true",
    'values: ["w", "m"], other: true',
    'excel: {sheet: "Patienten", skip_rows: 2}',
)
DIAGNOSES = """\
- name: diagnoses
  database: {url_variable: HIS_URL, table: dx}
  unit_column: patnr
  max_rows_per_unit: 10
  source: protocol 7
  columns:
  - {name: patnr, from: pid, type: integer}
  - name: seen
    type: date
    domain: {min: 2020-01-01, max: 2029-12-31}
    source: protocol 7
  - {name: icd, type: text, domain: {hierarchy: icd10}, source: WHO ICD-10}
"""


def answered(draft):
    """Return a draft with what a custodian says in place of each TODO."""
    text = draft.replace(
        "  id: TODO", "  id: people\n  epsilon_cap: 5\n  source: board"
    )
    text = text.replace("dataset: TODO", "dataset: messy")
    text = text.replace("snapshot_date: TODO", "snapshot_date: 2024-01-01")
    text = text.replace("max_rows_per_unit: TODO", "max_rows_per_unit: 10")
    text = text.replace("public: TODO", "public: true")
    text = re.sub(r"source: TODO which.*", "source: protocol 7", text)
    text = text.replace('"TODO proposed: ', '"protocol 7, ')
    return text.replace("name: patient_id,", "name: patnr,").replace(
        "unit_column: patient_id", "unit_column: patnr"
    )


def test_messy_exports_become_a_dataset_without_a_script(
    curator, tmp_path, monkeypatch
):
    folder = tmp_path / "export"
    folder.mkdir()
    write_exports(folder)
    monkeypatch.setenv("HIS_URL", "sqlite:///his.db")
    curator.installation.environment["HIS_URL"] = "sqlite:///his.db"
    began = time.monotonic()
    draft = curator.run(
        "manifest", "draft", *(folder / name for name in DRAFTED), *UNITS
    ).stdout
    assert [words for words in SEEN if words not in draft] == []
    manifest = folder / "messy.yaml"
    manifest.write_text(answered(draft) + DIAGNOSES)
    assert curator.json("manifest", "check", manifest)["ok"]
    report = curator.json("dataset", "load", manifest)["report"]
    drafted_and_loaded = time.monotonic() - began
    tables = {table["name"]: table for table in report["tables"]}
    assert {name: table["rows_kept"] for name, table in tables.items()} == {
        "aufenthalte": 2 * PATIENTS,
        "labs": PATIENTS,
        "patienten": PATIENTS,
        "stationen": 2,
        "diagnoses": PATIENTS,
    }
    stays = {column["name"]: column for column in tables["aufenthalte"]["columns"]}
    assert stays["erloes"]["to_null"] == stays["aufnahme"]["to_null"] == 0
    assert stays["aufnahme"]["values"] == 2 * PATIENTS
    assert 0 < stays["entlassung"]["values"] < 2 * PATIENTS
    assert 0 < stays["station"]["values"] < PATIENTS
    assert curator.json("dataset", "show", "messy")["population"] == "people"
    assert drafted_and_loaded < 180  # by hand it took 19 minutes, with a script


def test_a_draft_asks_which_of_two_formats_is_meant(bare, tmp_path):
    rows = "".join(f"{n},{n % 12 + 1:02}/{n % 9 + 1:02}/2023\n" for n in range(40))
    (tmp_path / "t.csv").write_text(f"pid,came\n{rows}")
    text = bare.run("manifest", "draft", tmp_path / "t.csv", "--unit", "pid").stdout
    assert "# each value can be read as %d/%m/%Y and as %m/%d/%Y: which is it?" in text
    assert 'format: "TODO %d/%m/%Y"' in text
    (tmp_path / "m.yaml").write_text(answered(text))
    said = bare.said("manifest", "check", tmp_path / "m.yaml")
    assert "format is still to do: say which of the two it is" in said


def test_a_draft_of_a_file_without_header_asks_for_names(bare, tmp_path):
    (tmp_path / "t.csv").write_text("1,2023-05-06,3.5\n2,2023-05-07,4.5\n")
    text = bare.run("manifest", "draft", tmp_path / "t.csv").stdout
    assert "no header: name the columns" in text
    assert 'csv: {names: ["column_1", "column_2", "column_3"]}' in text


COLUMNS = {
    "plz": (["01067", "80331", "10115"], "type: text}"),
    "bmi": ([*["21.75", "30.1"] * 60, "n.d."], "type: decimal, scale: 2, domain"),
    "beds": ([*["12", "30"] * 60, "many"], "type: integer, domain"),
    "paid": (["1.500", "12.250"], 'type: decimal, scale: 3, thousands: "TODO ."'),
    "dose": (["0.125", "0.250"], "type: decimal, scale: 3, domain"),
    "cost": (["1,500", "12,250"], 'type: decimal, scale: 3, decimal: "TODO ,"'),
    "size": (["1,5", "12,25"], 'type: decimal, scale: 2, decimal: ","'),
    "sum": (["1.234.567", "7.000.000"], 'type: integer, thousands: "."'),
    "crp": (["1.5", "2.5", "<0.5", "7"], 'scale: 1, map: {"<0.5": TODO 0.5}'),
    "seen": (
        ["2024-01-01T10:00:00+01:00", "2024-07-01T10:00:00+02:00"],
        "type: timesta",
    ),
}
"""Values of a column, and what a draft makes of them."""


def test_a_draft_guesses_no_mark_that_is_not_there(bare, tmp_path):
    rows = max(len(values) for values, _ in COLUMNS.values())
    lines = [";".join(["PatNo", *COLUMNS])]
    for n in range(rows):
        cells = (values[n % len(values)] for values, _ in COLUMNS.values())
        lines.append(";".join([f"{n:06}", *cells]))
    (tmp_path / "t.csv").write_text("\n".join([*lines, ""]))
    text = bare.run("manifest", "draft", tmp_path / "t.csv", "--unit", "PatNo").stdout
    found = {m[1]: m[0] for m in re.finditer(r"  - \{name: (\w+).*", text)}
    assert {
        name: found[name]
        for name, (_, words) in COLUMNS.items()
        if words not in found[name]
    } == {}
    assert 'from: "PatNo", type: text}' in found["patno"]
    assert "decimal point, or points between thousands: which?" in text
    assert "results that say less or more than a number" in text
    assert "times with an offset" in text
    (tmp_path / "m.yaml").write_text(answered(text))
    said = bare.said("manifest", "check", tmp_path / "m.yaml")
    assert said.count("still to do: say which of the two it is") == 2


def test_a_draft_proposes_a_key_that_no_two_rows_share(bare, tmp_path):
    rows = "".join(f"{n % 9},{n},{n % 7},x\n" for n in range(40))
    (tmp_path / "t.csv").write_text("pid,visit_id,ward_id,note\n" + rows)
    text = bare.run("manifest", "draft", tmp_path / "t.csv", "--unit", "pid").stdout
    assert "  # key: [visit_id], if rows that share it are one row" in text


def test_files_of_other_names_are_told_what_to_do(bare, tmp_path):
    for name, words in (
        ("labs.psv.gz", "rename it to end in .txt.gz, and declare csv"),
        ("dump.sql", "restore it into one, and give the database's"),
        ("his.sqlite", "sqlite:///his.sqlite"),
        ("notes.pdf", "can be read: export the table as one"),
    ):
        (tmp_path / name).write_bytes(b"x")
        assert words in bare.said("manifest", "draft", tmp_path / name)


def test_an_archive_of_months_with_other_ends_becomes_one_table(curator, tmp_path):
    ends = ("Summe;;;31\n", "Summe;;;31\nQuelle: KIS, Stand heute;;;\n", "")
    path = tmp_path / "months.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.pdf", b"%PDF")
        for month, end in enumerate(ends, 1):
            days = (f"2023-0{month}-{n + 10}" for n in range(20))
            rows = "".join(f"{n};{day};A;{n}\n" for n, day in enumerate(days))
            text = f"PatNr;came;ward;beds\n{rows}{end}"
            archive.writestr(f"aufnahmen_2023_0{month}.csv", text)
    draft = curator.run("manifest", "draft", path, "--unit", "PatNr").stdout
    assert 'csv: {delimiter: ";", footer_rows: "auto"}' in draft
    manifest = tmp_path / "m.yaml"
    manifest.write_text(answered(draft))
    assert curator.json("manifest", "check", manifest)["ok"]
    report = curator.json("dataset", "load", manifest)["report"]
    assert report["tables"][0]["rows_kept"] == 60
    told = [one for one in report["warnings"] if "left out" in one]
    assert told[0] == "months.zip: 'readme.pdf' left out: no kind of file that is read"
    inner = "months.zip/aufnahmen_2023_0"
    assert told[1:] == [
        f"{inner}1.csv: 1 line at the end left out by footer_rows: auto: 22",
        f"{inner}2.csv: 2 lines at the end left out by footer_rows: auto: 22, 23",
    ]
