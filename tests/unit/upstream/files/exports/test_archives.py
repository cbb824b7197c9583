"""The files of an archive are read as the files of a pattern are, or refused."""

import json
import zipfile

import pytest

from tests.support.workbooks import write_workbook
from tests.unit.upstream.public_check.test_published_ids import IDS
from upstream.drafting.drafting import draft_manifest
from upstream.drafting.manifest_check import manifest_problems
from upstream.errors import IngestionError
from upstream.files.exports import packed

HEADER = "pid;day;ward;beds;n\n"
ENDS = ("Summe;;;;31\n", "\nSumme;;;;20\nQuelle: KIS, Stand heute;;;;\n", "")


def month(number, end=""):
    rows = "".join(
        f"{number * 20 + n};2024-0{number}-0{n % 9 + 1};{'AB'[n % 2]};{n % 7};{n}\n"
        for n in range(20)
    )
    return HEADER + rows + end


def archive(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return path


@pytest.fixture
def months(hospital):
    hospital.csv = None
    hospital.table = {"files": ["months.zip"], "csv": {"delimiter": ";"}}
    return hospital


def put(hospital, files):
    return archive(hospital.folder / "months.zip", files)


def refusal(hospital):
    with pytest.raises(IngestionError) as refused:
        hospital.load()
    return str(refused.value)


JUNK = {
    "__MACOSX/._a_1.csv": b"\0\1",
    ".DS_Store": b"\0",
    "a/.hidden/x.csv": b"x",
    "folder/": b"",
    "readme.pdf": b"%PDF",
}


def test_files_of_an_archive_are_one_table(months):
    put(months, {"a/a_2.csv": month(2), "a/a_1.csv": month(1), **JUNK})
    loaded = months.load().report
    assert loaded.tables[0].rows_kept == 40
    (left_out,) = [one for one in loaded.warnings if "left out" in one]
    assert left_out == "months.zip: 'readme.pdf' left out: no kind of file that is read"


def test_a_problem_names_the_file_within_its_archive(months):
    put(months, {"a_1.csv": month(1), "a_2.csv": month(2) + "41;soon;A;1;2\n"})
    assert refusal(months).startswith("months.zip/a_2.csv:22")
    put(months, {"a_1.csv": month(1), "a_2.csv": month(2).replace("day", "when")})
    assert "months.zip/a_2.csv: has no column 'day'" in refusal(months)


def test_a_check_reads_the_header_of_each_file_in_an_archive(months):
    put(months, {"a_1.csv": month(1), "a_2.csv": month(2).replace("ward", "unit")})
    manifest = months.folder / "m.yaml"
    manifest.write_text(months.manifest().canonical_json())
    (problem,) = manifest_problems(manifest)
    assert problem.file == "months.zip/a_2.csv"


def test_archives_hold_json_and_workbooks_too(months):
    rows = [{"pid": n, "day": "2024-01-02", "ward": "A"} for n in range(3)]
    lines = "\n".join(map(json.dumps, rows))
    months.table = {"files": ["months.zip"]}
    put(months, {"1.ndjson": lines, "2.json": json.dumps([*rows, *rows])})
    assert months.load().report.tables[0].rows_kept == 9
    books = {}
    for pid in (7, 8):
        cells = [["title"], ["pid", "day", "ward"], [pid, "2024-01-02", "A"]]
        write_workbook(months.folder / "w.xlsx", {"T": cells})
        books[f"{pid}.xlsx"] = (months.folder / "w.xlsx").read_bytes()
    put(months, books)
    months.table["excel"], months.target = {"skip_rows": 1}, "other.duckdb"
    assert months.load().report.tables[0].rows_kept == 2


def test_one_json_file_is_read_whatever_its_archive_is_called(months):
    months.table = {"files": ["months.zip"]}
    put(months, {"x.ndjson": '{"pid": 1, "day": "2024-01-02", "ward": "A"}'})
    assert months.load().report.tables[0].rows_kept == 1


BROKEN = [
    ({"a.csv": month(1), "b.zip": b"PK"}, "the archive holds 'b.zip': unpack it"),
    ({"a.csv": month(1), "b.parquet": b"x"}, "holds 'b.parquet': unpack it"),
    ({"a.pdf": b"x", "b.doc": b"x"}, "holds 2 files, none of which can be read"),
    ({".hidden": b"x"}, "the archive holds 0 files"),
]


@pytest.mark.parametrize(("files", "words"), BROKEN)
def test_an_archive_that_is_no_table_is_refused(months, files, words):
    put(months, files)
    assert words in refusal(months)


def test_a_name_that_stands_twice_in_an_archive_is_refused(months):
    path = put(months, {"a.csv": month(1)})
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(path, "a") as target,
    ):
        target.writestr("a.csv", month(2))
    assert "holds 'a.csv' twice: unpack it" in refusal(months)


def test_an_archive_that_grows_beyond_all_tables_is_refused(months, monkeypatch):
    monkeypatch.setattr(packed, "_SMALL_BYTES", 1 << 20)
    put(months, {"a.csv": HEADER + "1;;;;\n" * (1 << 19), "b.csv": month(1)})
    assert "more than 200 times its own size: it is no export" in refusal(months)
    monkeypatch.setattr(packed, "MOST_MEMBERS", 2)
    put(months, {f"{n}.csv": month(1) for n in range(3)})
    assert "holds more than 2 files: unpack it" in refusal(months)


def test_a_damaged_file_of_an_archive_is_refused(months):
    path = put(months, {"a_1.csv": month(1), "a_2.csv": month(2)})
    content = bytearray(path.read_bytes())
    at = content.index(b"a_2.csv") + len("a_2.csv") + 9
    content[at] ^= 255
    path.write_bytes(content)
    assert "cannot be unpacked" in refusal(months)


def test_the_names_of_files_in_an_archive_of_a_public_table_are_compared(hospital):
    hospital.unit_type = "text"
    hospital.column("pid", type="text")
    hospital.csv = "pid,day,ward\n" + "".join(f"{uid},,A\n" for uid in IDS)
    hospital.more_tables = [
        {"name": "codes", "files": ["codes.zip"], "public": True,
         "columns": [{"name": "code", "type": "text"}]}
    ]  # fmt: skip
    archive(
        hospital.folder / "codes.zip",
        {f"{uid}.csv": f"code\nx{'y' * n}\n" for n, uid in enumerate(IDS)},
    )
    assert "hold ids of population p" in refusal(hospital)


def test_ends_that_differ_are_left_out_by_auto(months):
    months.table["csv"]["footer_rows"] = "auto"
    files = {f"a_{n}.csv": month(n, end) for n, end in enumerate(ENDS, 1)}
    put(months, files)
    report = months.load().report
    assert report.tables[0].rows_kept == report.tables[0].rows_read == 60
    assert [one for one in report.warnings if "footer_rows" in one] == [
        "months.zip/a_1.csv: 1 line at the end left out by footer_rows: auto: 22",
        "months.zip/a_2.csv: 2 lines at the end left out by footer_rows: auto: 23, 24",
    ]


def test_auto_leaves_out_no_row(months):
    months.table["csv"]["footer_rows"] = "auto"
    months.unit_type = "text"
    months.column("pid", type="text")
    rows = ("P 12;;;;\n", "Total hip;2024-01-02;A;1;2\n", "31;;;;\n")
    for number, row in enumerate(rows):
        put(months, {"a.csv": month(1, row), "b.csv": month(2)})
        months.target = f"{number}.duckdb"
        assert months.load().report.tables[0].rows_kept == 41


def test_auto_refuses_totals_among_rows(months):
    months.table["csv"]["footer_rows"] = "auto"
    among = month(2, "Summe;;;;7\n") + "77;2024-01-02;A;1;2\n"
    put(months, {"a.csv": month(1), "b.csv": among})
    said = refusal(months)
    assert said.startswith("months.zip/b.csv:22: totals or notes stand before rows")
    put(months, {"a.csv": month(1), "b.csv": month(2, "Summe;;;;7\n" * 7)})
    assert "b.csv:22: totals or notes stand before rows (lines 22, 23)" in refusal(
        months
    )


def test_a_draft_of_an_archive_finds_what_is_right_for_all_its_files(tmp_path):
    files = {f"a_{n}.csv": month(n, end) for n, end in enumerate(ENDS, 1)}
    path = archive(tmp_path / "months.zip", {**files, **JUNK})
    text = draft_manifest([path], ["pid"])
    assert text.count("\n- name: ") == 1
    assert "\n- name: months\n" in text
    assert 'files: ["months.zip"]' in text
    assert 'csv: {delimiter: ";", footer_rows: "auto"}' in text
    assert "the files end in other numbers of lines that are no rows" in text
    assert "'readme.pdf' left out" in text


def test_a_draft_of_files_with_other_ends_declares_auto(tmp_path):
    for number, end in enumerate(ENDS, 1):
        (tmp_path / f"a_{number}.csv").write_text(month(number, end))
    text = draft_manifest(sorted(tmp_path.glob("*.csv")), ["pid"])
    assert 'csv: {delimiter: ";", footer_rows: "auto"}' in text
    assert 'files: ["a_*.csv"]' in text


def test_a_draft_declares_no_auto_where_totals_stand_among_rows(tmp_path):
    among = month(1, "Summe;;;;7\n") + month(3, "Summe;;;;8\n").removeprefix(HEADER)
    (tmp_path / "a_1.csv").write_text(among)
    (tmp_path / "a_2.csv").write_text(month(2))
    text = draft_manifest(sorted(tmp_path.glob("*.csv")), ["pid"])
    assert 'footer_rows: "auto"' not in text
    assert "which lines at the ends are rows?" in text


def test_a_draft_asks_where_ends_tell_nothing(tmp_path):
    (tmp_path / "a_1.csv").write_text(month(1, "xyz\n"))
    (tmp_path / "a_2.csv").write_text(month(2))
    text = draft_manifest(sorted(tmp_path.glob("*.csv")), ["pid"])
    assert "which lines at the ends are rows?" in text
    assert "auto" not in text.replace("footer_rows: auto tells", "")


def test_a_draft_refuses_an_archive_of_several_tables(tmp_path):
    path = archive(tmp_path / "x.zip", {"a.csv": month(1), "b.csv": "x;y\n1;2\n2;3\n"})
    with pytest.raises(IngestionError, match="its files make no one table"):
        draft_manifest([path], ["pid"])
    path = archive(tmp_path / "y.zip", {"a.csv": month(1), "b.json": '{"a": 1}'})
    with pytest.raises(IngestionError, match="files of several kinds"):
        draft_manifest([path], ["pid"])


def test_archives_of_like_names_are_one_table(tmp_path):
    for year in (2023, 2024):
        files = {f"m{n}.csv": month(n) for n in (1, 2)}
        archive(tmp_path / f"stays_{year}.zip", files)
    text = draft_manifest(sorted(tmp_path.glob("*.zip")), ["pid"])
    assert "- name: stays\n" in text
    assert 'files: ["stays_*.zip"]' in text
