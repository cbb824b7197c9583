"""Which files and sheets are one table, and how a draft names what is unclear."""

import gzip

import duckdb
import pytest

from tests.support.workbooks import write_workbook
from upstream.drafting.drafting import draft_manifest
from upstream.errors import IngestionError

ROWS = "pid,age,ward\n1,30,blue\n2,40,green\n3,50,blue\n"


def refused(path):
    with pytest.raises(IngestionError) as refusal:
        draft_manifest([path], ["pid"])
    return str(refusal.value)


def test_packed_and_plain_files_of_like_names_are_one_table(tmp_path):
    (tmp_path / "x_2021.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    (tmp_path / "x_2022.csv").write_text(ROWS)
    files = [tmp_path / "x_2021.csv.gz", tmp_path / "x_2022.csv"]
    text = draft_manifest(files, ["pid"])
    assert text.count("- name: x\n") == text.count("  files: ") == 1
    assert 'files: ["x_*.csv.gz", "x_*.csv"]' in text
    (tmp_path / "x_2023.csv").write_text(ROWS)
    text = draft_manifest(files, ["pid"])
    assert 'files: ["x_2021.csv.gz", "x_2022.csv"]' in text


def test_sheets_of_like_names_and_columns_are_one_table(tmp_path):
    rows = [line.split(",") for line in ROWS.splitlines()]
    book = {"Labor 2022": rows, "Labor 2023": rows, "Notizen": [["a", "b"], ["c", "d"]]}
    write_workbook(tmp_path / "lab.xlsx", book)
    text = draft_manifest([tmp_path / "lab.xlsx"], ["pid"])
    assert 'excel: {sheet: ["Labor 2022", "Labor 2023"]}' in text
    assert text.count("- name: labor\n") == 1
    assert 'excel: {sheet: "Notizen"}' in text
    book["Labor 2023"] = [["pid", "x", "y", "z"], ["1", "2", "3", "4"]]
    write_workbook(tmp_path / "lab.xlsx", book)
    text = draft_manifest([tmp_path / "lab.xlsx"], ["pid"])
    assert 'excel: {sheet: "Labor 2022"}' in text


def test_workbooks_and_parquet_of_one_year_each_are_one_table(tmp_path):
    rows = [line.split(",") for line in ROWS.splitlines()]
    for year in (2022, 2023):
        write_workbook(tmp_path / f"lab_{year}.xlsx", {"Labor": rows})
        made = duckdb.connect().sql("SELECT 1 AS pid, 2 AS age")
        made.write_parquet(str(tmp_path / f"stay_{year}.parquet"))
    files = sorted(tmp_path.iterdir())
    text = draft_manifest(files, ["pid"])
    assert 'files: ["lab_*.xlsx"]' in text
    assert 'files: ["stay_*.parquet"]' in text
    duckdb.connect().sql("SELECT 1 AS pid").write_parquet(str(files[-1]))
    assert 'files: ["stay_2022.parquet"]' in draft_manifest(files, ["pid"])


def test_columns_of_one_name_or_none_are_named_apart(tmp_path):
    (tmp_path / "t.csv").write_text("pid,a,a,\n1,x,3,z\n2,y,4,z\n3,x,5,z\n")
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    assert "several columns are called 'a'" in text
    assert 'csv: {skip_rows: 1, names: ["pid", "a", "a_2", "column_4"]}' in text
    assert "name: a_2, type: integer" in text


def test_a_first_row_of_values_is_no_header(tmp_path):
    (tmp_path / "t.csv").write_text("m,m,yes\nf,m,no\nm,f,yes\n")
    text = draft_manifest([tmp_path / "t.csv"])
    assert "no header: name the columns" in text


def test_apostrophes_around_fields_are_quotes(tmp_path):
    (tmp_path / "t.csv").write_text("'pid','ward','age'\n'1','a, b','3'\n'2','c','4'\n")
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    assert 'csv: {quote: "\'"}' in text
    assert "name: age, type: integer" in text


def test_folders_and_columns_of_fixed_width_are_told_as_what_they_are(tmp_path):
    assert "is a folder: name the files in it" in refused(tmp_path)
    lines = ["pid  name       age", "1    Ann         30", "22   Bertha       7"]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    assert "t.txt:1: its columns seem to have a fixed width" in refused(
        tmp_path / "t.txt"
    )


def test_line_breaks_within_quotes_are_no_ends_of_lines(tmp_path):
    lines = "".join(f'{n},"chest\npain"\r\n' for n in range(9))
    (tmp_path / "t.csv").write_bytes(f"pid,note\r\n{lines}".encode())
    assert "line_ends" not in draft_manifest([tmp_path / "t.csv"], ["pid"])


def test_files_of_like_names_that_are_written_otherwise_say_so(tmp_path):
    (tmp_path / "x_2022.csv").write_text("pid;ward\n1;Süd\n2;Süd\n", encoding="utf-8")
    end = "1;Süd\n2;Süd\nSumme;\n"
    (tmp_path / "x_2023.csv").write_bytes(f"pid;ward\n{end}".encode("cp1252"))
    text = draft_manifest(sorted(tmp_path.iterdir()), ["pid"])
    assert text.count("so a table of its own: write them alike if they are one") == 2
    assert text.count("of a like name (encoding, footer_rows differ), so") == 2
    first, second = text.split("- name: x_2023")
    assert "left out by footer_rows" in second
    assert "left out by footer_rows" not in first


def test_a_row_of_units_is_met_where_dashes_stand_for_nothing(tmp_path):
    rows = "".join(f"{n},3{n % 8},---\n{n},---,6{n % 9}\n" for n in range(1, 20))
    (tmp_path / "icu.csv").write_text("pid,temp,hr\n,°C,bpm\n" + rows)
    text = draft_manifest([tmp_path / "icu.csv"], ["pid"])
    assert 'skip_rows: 2, names: ["pid", "temp", "hr"]' in text
    assert 'null_values: ["", "---"]' in text
    assert "name: temp, type: integer" in text


def test_a_file_whose_fields_are_quoted_is_not_read_without(tmp_path):
    rows = "".join(f'{n},"f","{n % 9}"\n' for n in range(1, 60))
    (tmp_path / "s.csv").write_text(f'pid,sex,los\n{rows}60,"f" since May,"3"\n')
    with pytest.raises(IngestionError):
        draft_manifest([tmp_path / "s.csv"], ["pid"])


def test_files_whose_quotes_enclose_no_fields_are_read_without(tmp_path):
    rows = "".join(f"{n},ok\n" for n in range(1, 40))
    note = '40,"dizzy" since May\n'
    (tmp_path / "k_1.csv").write_text("pid,note\n" + rows + note + rows)
    (tmp_path / "k_2.csv").write_text("pid,note\n" + rows)
    files = sorted(tmp_path.iterdir())
    text = draft_manifest(files, ["pid"])
    assert 'csv: {quote: "none"}' in text
    assert "# k_1.csv and 1 more: read as if nothing were quoted" in text
    assert text.count("- name: k") == 1
    (tmp_path / "k_2.csv").write_text("pid,note\n" + rows + '40,"a, b"\n')
    text = draft_manifest(files, ["pid"])
    assert text.count("- name: k") == 2  # quotes enclose fields of the other
    (tmp_path / "k_1.csv").write_text("pid,note\n" + rows + note + '41,"a, b"\n')
    assert "broken quoting" in refused(tmp_path / "k_1.csv")


def test_columns_without_name_and_value_are_left_out(tmp_path):
    (tmp_path / "t.csv").write_text("pid;;age;w;sex;;\n1;x;30;a;f;;\n2;;40;b;f;;\n")
    text = draft_manifest([tmp_path / "t.csv"], ["pid"])
    assert 'names: ["pid", "column_2", "age", "w", "sex", "column_6", "column_7"]' in (
        text
    )
    assert "name: column_2" in text
    assert "name: column_6" not in text
    assert '# left out: "column_7" has no name in the header, and no value' in text


def test_months_of_ascii_alone_are_one_table_with_those_of_another_encoding(tmp_path):
    names = {"1": "north", "2": "S\u00fcd", "3": "west"}
    for month, ward in names.items():
        text = f"pid;ward\n1;{ward}\n2;{ward}\n"
        (tmp_path / f"stays_{month}.csv").write_bytes(text.encode("cp1252"))
    drafted = draft_manifest(sorted(tmp_path.iterdir()), ["pid"])
    assert drafted.count("- name: stays") == 1
    assert 'encoding: "windows-1252"' in drafted
