"""Files as hospitals write them are stored as the same rows written plainly are."""

import csv
import gzip
import io
import sqlite3
import zipfile
from datetime import date

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from tests.support.workbooks import write_workbook
from upstream.drafting.drafting import draft_manifest
from upstream.errors import IngestionError
from upstream.files.exports.delimited import delimited_records
from upstream.manifests.file_specs import CsvSpec, kind_of
from upstream.manifests.manifest import ManifestError

COLUMNS = [
    {"name": "pid", "from": "PatNr", "type": "integer"},
    {"name": "size", "from": "Größe", "type": "decimal", "scale": 2},
    {"name": "day", "from": "Tag", "type": "date", "formats": ["%d.%m.%Y", "%Y-%m-%d"]},
    {"name": "smokes", "from": "Raucher", "type": "boolean"},
    {"name": "ward", "from": "Station", "type": "text"},
]
HEADER = "PatNr;Größe;Tag;Raucher;Station"
GERMAN = (
    f"{HEADER}\n"
    '1;1.234,5;03.01.2024;ja;"Süd; ""A"""\n'
    "2;2,25;2024-01-05;N;-\n"
    "3;;;J;Nord\n"
)
QUOTED = '"Süd; ""A"""'
ROWS = [
    (123450, date(2024, 1, 3), True, 'Süd; "A"'),
    (225, date(2024, 1, 5), False, None),
    (None, None, True, "Nord"),
]
WORDS = {
    "decimal": ",",
    "thousands": ".",
    "true_values": ["ja", "J"],
    "false_values": ["nein", "N"],
    "null_values": ["", "-"],
}


@pytest.fixture
def german(hospital):
    hospital.csv = None
    hospital.columns = [dict(column) for column in COLUMNS]
    hospital.table = {**WORDS, "csv": {"delimiter": ";"}}
    return hospital


def write(hospital, content, name="stays.csv"):
    (hospital.folder / name).write_bytes(content)
    hospital.table["files"] = [name]


def stored(hospital):
    return sorted(hospital.rows(), key=str)


def problems(hospital):
    with pytest.raises(IngestionError) as refusal:
        hospital.load()
    return refusal.value.problems


ENCODINGS = ["utf-8", "utf-8-sig", "cp1252", "latin-1", "iso-8859-15", "utf-16"]


@pytest.mark.sampled
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_same_rows_are_stored_in_any_encoding(german, encoding):
    write(german, GERMAN.encode(encoding))
    german.table["csv"]["encoding"] = encoding
    assert stored(german) == sorted(ROWS, key=str)


def packed_by(kind, content):
    if kind == "gz":
        return gzip.compress(content)
    return zstd.compress(content)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["gz", "zst", "zip"])
def test_a_compressed_file_is_read_as_it_is_unpacked(german, kind):
    name = f"stays.csv.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(german.folder / name, "w") as archive:
            archive.writestr("export.txt", GERMAN)
        german.table["files"] = [name]
    else:
        write(german, packed_by(kind, GERMAN.encode()), name)
    assert stored(german) == sorted(ROWS, key=str)


@pytest.mark.parametrize("kind", ["gz", "zst", "zip"])
def test_a_file_that_cannot_be_unpacked_is_refused(german, kind):
    write(german, b"PK no archive", f"stays.csv.{kind}")
    (problem,) = problems(german)
    assert "cannot be unpacked" in problem.sentence


def test_lines_around_a_table_are_left_out(german):
    lines = GERMAN.splitlines()
    content = ["Export; 1", "", *lines[:2], "# note; x", *lines[2:], "Summe", "", ""]
    write(german, "\r\n".join(content).encode())
    german.table["csv"] |= {"skip_rows": 2, "footer_rows": 1, "comment": "#"}
    assert stored(german) == sorted(ROWS, key=str)


def test_a_file_without_header_is_read_by_names(german):
    write(german, GERMAN.split("\n", 1)[1].encode())
    german.table["csv"]["names"] = HEADER.split(";")
    assert stored(german) == sorted(ROWS, key=str)


def test_files_of_years_may_lack_an_optional_column_and_order_them_otherwise(german):
    write(german, GERMAN.encode(), "stays_1.csv")
    later = "Station;PatNr;Größe;Tag;Raucher;Neu\nOst;4;1;01.02.2024;J;x\n"
    write(german, later.encode(), "stays_2.csv")
    german.table["files"] = ["stays_*.csv"]
    german.columns.append(
        {"name": "new", "from": "Neu", "type": "text", "optional": True}
    )
    more = (100, date(2024, 2, 1), True, "Ost", "x")
    expected = [*((*row, None) for row in ROWS), more]
    assert stored(german) == sorted(expected, key=str)


def test_a_column_that_a_year_lacks_is_refused_with_what_to_do(german):
    write(german, GERMAN.encode(), "stays_1.csv")
    write(german, b"PatNr;Tag;Raucher;Station\n4;;;\n", "stays_2.csv")
    german.table["files"] = ["stays_*.csv"]
    (problem,) = problems(german)
    assert problem.file == "stays_2.csv"
    assert "optional: true" in problem.sentence


def test_an_optional_column_that_no_file_has_is_refused(german):
    write(german, GERMAN.encode())
    german.columns.append({"name": "nwe", "type": "text", "optional": True})
    (problem,) = problems(german)
    assert "no file has the optional column 'nwe'" in problem.sentence


def test_escaped_quotes_and_other_quotes_are_read(german):
    lines = GERMAN.replace(QUOTED, "'Süd; \"A\"'")
    write(german, lines.encode())
    german.table["csv"] |= {"quote": "'", "escape": "\\"}
    assert stored(german) == sorted(ROWS, key=str)


def test_a_file_that_quotes_nothing_is_read_to_the_letter(hospital):
    hospital.csv = 'pid;day;ward\n1;2024-01-01;5" "tube\n'
    hospital.table = {"csv": {"delimiter": ";", "quote": "none"}}
    assert hospital.rows() == [(date(2024, 1, 1), '5" "tube')]


def test_lines_may_end_in_several_ways_where_that_is_declared(hospital):
    hospital.csv = "pid,day,ward\r\n1,2024-01-01,A\n2,2024-01-02,B\r3,,C\r\n"
    hospital.table = {"csv": {"line_ends": "any"}}
    assert len(hospital.rows()) == 3


SHEET = [
    ["Labor 2024"],
    [],
    ["PatNr", "Größe", "Tag", "Raucher", "Station", None],
    [1, 1234.5, date(2024, 1, 3), True, 'Süd; "A"', None],
    [2, 2.25, "2024-01-05", "N", "-", None],
    [None, None, None, None, None, None],
    [3, None, None, "J", "Nord", None],
    ["Summe", 1236.75],
]


def test_a_sheet_is_read_below_its_title_and_above_its_totals(german):
    book = {"Labor": SHEET, "Notizen": [["x"]], "Leer": []}
    write_workbook(german.folder / "lab.xlsx", book)
    german.table = {"files": ["lab.xlsx"], **WORDS}
    german.table["excel"] = {"sheet": "Labor", "skip_rows": 2, "footer_rows": 1}
    german.table["decimal"] = None
    german.table["thousands"] = None
    assert stored(german) == sorted(ROWS, key=str)


@pytest.mark.parametrize(("size", "stored_size"), [(1234.5, 123450), (1.234, 123)])
def test_a_decimal_comma_is_of_text_cells_and_numbers_are_what_they_are(
    german, size, stored_size
):
    header, first, second, *_ = SHEET[2:]
    rows = [header, [1, size, *first[2:]], [2, "2,25", *second[2:]], SHEET[6]]
    write_workbook(german.folder / "lab.xlsx", {"Labor": rows})
    german.table = {"files": ["lab.xlsx"], **WORDS}
    sizes = [size for size, *_ in german.rows()]
    assert sorted(sizes, key=str) == sorted([stored_size, 225, None], key=str)


def test_several_sheets_are_one_table(german):
    first, second = SHEET[:5], [*SHEET[:3], *SHEET[6:]]
    book = {"Januar": first, "Notizen": [["x"]], "Februar": [*second[:4], SHEET[-1]]}
    write_workbook(german.folder / "lab.xlsx", {**book, "2024": second[:4]})
    german.table = {"files": ["lab.xlsx"], **WORDS}
    german.table |= {"decimal": None, "thousands": None}
    german.table["excel"] = {"skip_rows": 2, "sheet": ["Januar", 2024]}
    assert stored(german) == sorted(ROWS, key=str)


def test_a_row_that_is_refused_is_named_by_its_sheet(german):
    book = {"Januar": SHEET[:5], "Februar": [*SHEET[:3], SHEET[6], SHEET[-1]]}
    write_workbook(german.folder / "lab.xlsx", book)
    german.table = {"files": ["lab.xlsx"], **WORDS}
    german.table |= {"decimal": None, "thousands": None}
    german.table["excel"] = {"skip_rows": 2, "sheet": ["Januar", "Februar"]}
    (problem,) = problems(german)  # the total below the second one
    assert (problem.file, problem.line) == ("lab.xlsx:Februar", 5)


@pytest.mark.parametrize(
    ("sheets", "said"),
    [
        (["Labor", "Nichts"], "has no sheet 'Nichts'"),
        (["Labor", "Labor"], "stands twice"),
        ([], "at least one sheet"),
    ],
)
def test_each_sheet_that_is_named_is_there_once(german, sheets, said):
    write_workbook(german.folder / "lab.xlsx", {"Labor": SHEET, "Notizen": [["x"]]})
    german.table = {"files": ["lab.xlsx"], "excel": {"sheet": sheets, "skip_rows": 2}}
    with pytest.raises((IngestionError, ManifestError)) as refused:
        stored(german)
    assert said in str(refused.value)


def test_a_refused_cell_is_named_by_the_row_of_its_sheet(german):
    rows = [*SHEET[:4], [2, "viel", "2024-01-05", "N", "-"]]
    write_workbook(german.folder / "lab.xlsx", {"Labor": rows})
    german.table = {"files": ["lab.xlsx"], "true_values": ["J"], "false_values": ["N"]}
    german.table["excel"] = {"skip_rows": 2}
    german.table["null_values"] = ["", "-"]
    (problem,) = problems(german)
    assert (problem.file, problem.line, problem.column) == ("lab.xlsx", 5, 2)


@pytest.mark.parametrize("sheet", [None, "labor"])
def test_a_workbook_of_several_sheets_needs_the_name_of_one(german, sheet):
    write_workbook(german.folder / "lab.xlsx", {"Labor": SHEET, "Notizen": [["x"]]})
    german.table = {"files": ["lab.xlsx"], "excel": {"sheet": sheet}}
    (problem,) = problems(german)
    assert "'Labor', 'Notizen'" in problem.sentence


def test_what_is_no_workbook_is_refused(german):
    german.table = {}
    write(german, b"no workbook", "lab.xlsx")
    (problem,) = problems(german)
    assert "is no workbook that can be read" in problem.sentence


def database(hospital, rows):
    with sqlite3.connect(hospital.folder / "his.db") as connection:
        connection.execute("CREATE TABLE stays (pid INT, day TEXT, ward TEXT, w REAL)")
        connection.executemany("INSERT INTO stays VALUES (?, ?, ?, ?)", rows)
    connection.close()
    hospital.csv = None
    hospital.table = {
        "files": None,
        "database": {"url": "sqlite:///his.db", "table": "stays"},
    }


def test_a_table_of_a_database_is_read_by_its_url(hospital, monkeypatch):
    database(hospital, [(1, "2024-01-01", None, 0.1), (2, None, "A", 3.0)])
    hospital.column("w", type="decimal", scale=1)
    hospital.table["database"] = {"url_variable": "HIS_URL", "table": "stays"}
    monkeypatch.setenv("HIS_URL", "sqlite:///his.db")
    assert stored(hospital) == sorted(
        [(date(2024, 1, 1), None, 1), (None, "A", 30)], key=str
    )


def test_a_column_that_a_database_lacks_is_named(hospital):
    database(hospital, [(1, "2024-01-01", None, 0.1)])
    hospital.column("wards", type="text")
    (problem,) = problems(hospital)
    assert "there is no column 'wards': did you mean 'ward'?" in problem.sentence


def test_a_public_table_of_a_database_is_compared_in_all_its_columns(hospital):
    people = range(1_000_000, 1_000_020)
    database(hospital, [(i, "2024-01-01", f"w{i}", 0) for i in people])
    hospital.csv = "pid,day,ward\n" + "".join(f"{i},2024-01-01,A\n" for i in people)
    hospital.table = {}
    hospital.more_tables = [
        {
            "name": "wards", "public": True,
            "database": {"url": "sqlite:///his.db", "table": "stays"},
            "columns": [{"name": "word", "from": "ward", "type": "text"}],
        }
    ]  # fmt: skip
    assert any("wards" in p.sentence for p in problems(hospital))


def test_a_copy_leaves_nothing_behind(german):
    write(german, GERMAN.encode())
    german.load()
    left = {path.name for path in german.folder.iterdir()}
    assert left == {"stays.csv", "snapshot.duckdb"}


def test_rows_hash_alike_however_their_file_is_written(german):
    german.table = dict(WORDS)
    german.table["csv"] = {"delimiter": ";"}
    write(german, GERMAN.encode())
    hashes = german.rows("unit_key, row_hash")
    german.target = "other.duckdb"
    german.table["csv"] = {"delimiter": "tab", "encoding": "utf-16", "skip_rows": 1}
    tabbed = GERMAN.replace(QUOTED, "@").replace(";", "\t")
    write(german, ("x\n" + tabbed.replace("@", QUOTED)).encode("utf-16"))
    assert german.rows("unit_key, row_hash") == hashes


TROUBLES = [
    (b"PatNr;Tag\n1;x\n2\n3;4;5\n6\n", {}, [3, 4], ["2 records", "1 record has more"]),
    (b"PatNr;Tag\n1;x\nSumme\n", {}, [3], ["footer_rows: 1"]),
    (b'PatNr;Tag\n1;"x\n2;y\n', {}, [2], ["a quote opens here"]),
    (b'PatNr;Tag\n1;"x"y\n', {}, [2], ["broken quoting"]),
    (b"PatNr;Tag\n1;\xfc\n", {}, None, ["encoding: windows-1252"]),
    (b"PatNr;Tag\n1;\0\n", {}, [2], ["NUL bytes"]),
    (b"PatNr;Tag\n1;x\n", {"encoding": "utf-16"}, [1], ["byte order mark"]),
    (b"PatNr|Tag\n1|x\n", {}, [1], ["csv: {delimiter:"]),
    (b"", {}, [1], ["the file is empty"]),
    (b"1;x\n2;y\n", {}, [None], ["no header"]),
    (b"PatNr;Tag;Tag\n1;x;y\n", {}, [None], ["stands twice in the header"]),
    (b"patnr;TAG\n1;x\n", {}, [None], ["no column of table"]),
]


@pytest.mark.parametrize(("content", "spec", "lines", "words"), TROUBLES)
def test_each_trouble_has_its_own_words_and_place(german, content, spec, lines, words):
    german.columns = [COLUMNS[0], {"name": "day", "from": "Tag", "type": "text"}]
    german.table["csv"] |= spec
    write(german, content)
    found = problems(german)
    assert len(found) == len(words)
    for problem, said in zip(found, words, strict=True):
        assert said in problem.sentence
    if lines is not None:
        assert [problem.line for problem in found] == lines


CELLS = st.text(st.sampled_from("ab;,\"'\n\r\t# é"), max_size=5)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5))
def test_what_a_library_writes_is_read_back(rows):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerows([["x", "y"], *rows])
    content = io.BytesIO(text.getvalue().encode("cp1252"))
    spec = CsvSpec(delimiter=";", encoding="windows-1252")
    with delimited_records(content, "t.csv", spec) as records:
        found = [fields for _, fields in records]
    assert found[1:] == rows


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.csv", "csv"), ("a.TSV.gz", "csv"), ("a.gz", None), ("a.zip", "csv"),
     ("a.parquet", "parquet"), ("a.parquet.gz", None), ("a.xls", "workbook"),
     ("a.NDJSON", "json"), ("a.json.gz", "json"), ("a.json.zip", "json"),
     ("a.gz.json.zip", "json"), ("a", None)],
)  # fmt: skip
def test_what_a_file_is_shows_in_its_name(name, kind):
    assert kind_of(name) == kind


def test_columns_of_one_name_in_a_sheet_are_named_anew(german):
    rows = [["Title"], ["PatNr", "Wert", "Wert"], [1, 2.5, ""], [2, 3.5, 4]]
    write_workbook(german.folder / "t.xlsx", {"T": rows})
    german.csv, german.table = None, {"files": ["t.xlsx"], "excel": {"skip_rows": 1}}
    german.columns = [
        {"name": "pid", "from": "PatNr", "type": "integer"},
        {"name": "wert", "from": "Wert", "type": "decimal", "scale": 1},
    ]
    with pytest.raises(
        IngestionError, match=r"excel: \{skip_rows: 2, names: \[...\]\}"
    ):
        german.load()
    text = draft_manifest([german.folder / "t.xlsx"], ["PatNr"])
    assert 'excel: {skip_rows: 2, names: ["PatNr", "Wert", "Wert_2"]}' in text
    german.table["excel"] = {"skip_rows": 2, "names": ["PatNr", "Wert", "Wert_2"]}
    german.column("later", **{"from": "Wert_2", "type": "integer"})
    assert sorted(german.rows("wert, later"), key=str) == [(25, None), (35, 4)]
