"""Rows of exports as they come: separators, encodings, Parquet, flaws."""

import duckdb
import pytest

from upstream.errors import IngestionError
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.registers.keyed import write_keyed
from upstream.linkage.registers.records import Fields, record_rows
from upstream.linkage.registers.register import opened
from upstream.linkage.registers.tables import read_table
from upstream.linkage.sources import TableSource

SPEC = LinkageSpec.model_validate({"fields": {"name": {"kind": "name"}}})


def source(**more):
    told = {
        "kind": "table",
        "name": "people",
        "files": ["*.csv"],
        "id": ["no"],
        "fields": {"name": ["first", "last"]},
        **more,
    }
    return TableSource.model_validate(told)


def read(folder, told, spec=SPEC):
    """Return the rows of a source, and its records."""
    with opened(folder / "register.duckdb") as register:
        register.create(spec)
        rows = read_table(register, told, folder, lambda *_: None)
        fields = {name: told.columns_of(name) for name in told.fields}
        recorded = record_rows(register, spec, [Fields(rows, told.id, fields)])
        records = register.connection.execute(
            "SELECT number, id, name FROM record ORDER BY number"
        ).fetchall()
    return rows, recorded, records


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_what_the_header_has_most_of(tmp_path, separator):
    lines = ["no,first,last", '1,Ada,"x;y,z"', "2,,Bo"]
    quoted = [line.replace(",", separator) for line in lines]
    quoted[1] = separator.join(["1", "Ada", '"x;y,z\t|"'])
    (tmp_path / "a.csv").write_text("\r\n".join(quoted))
    _, _, records = read(tmp_path, source())
    assert records == [(1, "1", "Ada x;y,z\t|"), (2, "2", "Bo")]


def test_a_declared_encoding_is_read_and_a_mark_is_no_name(tmp_path):
    (tmp_path / "a.csv").write_bytes("no,first,last\n1,Zoë,Weiß\n".encode("cp1252"))
    told = source(encoding="windows-1252")
    assert read(tmp_path, told)[2] == [(1, "1", "Zoë Weiß")]
    (tmp_path / "register.duckdb").unlink()
    (tmp_path / "a.csv").write_bytes("\ufeffno,first,last\n1,Zoë,Weiß\n".encode())
    assert read(tmp_path, source())[2] == [(1, "1", "Zoë Weiß")]


def test_files_of_several_years_are_one_source(tmp_path):
    (tmp_path / "2023.csv").write_text("no,first,last,ward\n1,Ada,Ash,n\n")
    (tmp_path / "2024.csv").write_text("last,no,first\nBow,2,Bob\nAsh,1,Ada\n")
    rows, recorded, records = read(tmp_path, source())
    assert rows.columns == ["no", "first", "last", "ward"]
    assert (rows.count, recorded.records) == (3, 2)
    assert records == [(1, "1", "Ada Ash"), (2, "2", "Bob Bow")]
    assert [one["name"] for one in rows.files] == ["2023.csv", "2024.csv"]


def test_parquet_is_read_as_text(tmp_path):
    path = tmp_path / "a.parquet"
    duckdb.connect().sql(
        "SELECT 7 AS no, 'Ada' AS first, DATE '2024-01-02' AS last"
    ).write_parquet(str(path))
    told = source(files=["*.parquet"])
    assert read(tmp_path, told)[2] == [(1, "7", "Ada 2024-01-02")]
    path.write_bytes(b"PAR1 no")
    (tmp_path / "register.duckdb").unlink()
    with pytest.raises(IngestionError, match="no Parquet file"):
        read(tmp_path, told)


def test_rows_of_one_id_are_one_record_by_its_first_values(tmp_path):
    lines = ["no,first,last", "1,,Ash", "1,Ada,", "1,Eve,Ash", " 1 ,Ada,Ash"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    told = source(fields={"name": "first"})
    _, recorded, records = read(tmp_path, told)
    assert records == [(1, "1", "Ada")]
    assert recorded.divided == {"people": 1}


def test_an_id_of_several_columns_needs_all_of_them(tmp_path):
    lines = ["site,no,first,last", "a,1,Ada,Ash", "b,1,Bob,Bow", ",1,Cy,Cox"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    _, recorded, records = read(tmp_path, source(id=["site", "no"]))
    assert [one[1] for one in records] == ["a/1", "b/1"]
    assert recorded.without_id == {"people": 1}


def test_a_row_of_another_width_is_set_aside_with_its_line(tmp_path):
    lines = ["no,first,last", "1,Ada,Ash", '2,"B', 'ob",Bow', "3,x", "4,Di,Dow"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    rows, _, records = read(tmp_path, source())
    assert rows.told == ["a.csv:5: 2 fields where the header has 3"]
    assert [one[1] for one in records] == ["1", "2", "4"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"no,first\n", "has no column 'last'"),
        (b"no,no,first,last\n", "stands twice"),
        (b'no,first,last\n1,"Ada,Ash\n2,Bob,Bow\n', "broken quoting"),
        (b"no,first,last\n1,\xff\xfe,x\n", "not in UTF-8: declare the encoding"),
        (b"\x1f\x8b\x08\x00", "gzip"),
    ],
)
def test_what_is_no_such_table_is_refused(tmp_path, content, said):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(IngestionError, match=said) as refused:
        read(tmp_path, source())
    assert "a.csv" in str(refused.value)


def test_a_value_is_never_sql(tmp_path):
    evil = "'; DROP TABLE record; --"
    (tmp_path / "a.csv").write_text(f'no,first,last,"c""; --"\n"{evil}","{evil}",x,y\n')
    _, _, records = read(tmp_path, source())
    assert records == [(1, evil, f"{evil} x")]


@pytest.mark.parametrize(
    "content",
    ["880000,Rossison,Nora\n2,Bow,Bob\n", "7,Rossison,Rossison\n", "no,Nora,Nora\n"],
)
def test_a_file_without_a_header_is_refused_without_its_values(tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(IngestionError, match="has to be a header") as refused:
        read(tmp_path, source())
    assert "has 3 fields" in str(refused.value)
    for value in ("8800", "Ross", "Nora", "7"):
        assert value not in str(refused.value)


def test_a_name_that_differs_by_case_and_signs_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("No.,first,last\n1,Ada,Ash\n")
    with pytest.raises(IngestionError, match=r"no column 'no'.*did you mean 'No\.'"):
        read(tmp_path, source())


def test_a_name_that_stands_twice_is_told_if_it_is_declared(tmp_path):
    (tmp_path / "a.csv").write_text("no,first,last,Nora,Nora\n")
    with pytest.raises(IngestionError, match=r"a name stands twice.*fields 4 and 5"):
        read(tmp_path, source())
    (tmp_path / "register.duckdb").unlink()
    (tmp_path / "a.csv").write_text("no,first,first,last\n")
    with pytest.raises(IngestionError, match=r"'first' stands twice.*fields 2 and 3"):
        read(tmp_path, source())


@pytest.mark.parametrize("end", [",", ",,", ', ,""'])
def test_a_column_without_a_name_is_left_out(tmp_path, end):
    lines = ["no,first,last" + end, "1,Ada,Ash" + end, "2,Bob,Bow" + end]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    rows, _, records = read(tmp_path, source())
    assert rows.columns == ["no", "first", "last"]
    assert records == [(1, "1", "Ada Ash"), (2, "2", "Bob Bow")]
    with opened(tmp_path / "register.duckdb") as register:
        assert write_keyed(register, rows, "key", tmp_path / "keyed.csv") == 2
    header = (tmp_path / "keyed.csv").read_text().splitlines()[0]
    assert header == "key,no,first,last"


def test_no_two_ids_of_several_columns_are_one(tmp_path):
    parts = [("A", "1/2"), ("A/1", "2"), ("A\\", "1"), ("A", "\\1"), ("A\\/1", "2")]
    parts += [("A/", "B"), ("A", "/B"), ("A\\", "/B"), ("A/1\\", "2")]
    lines = ["site,no,first,last", *(f"{site},{no},Ada,Ash" for site, no in parts)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    _, recorded, records = read(tmp_path, source(id=["site", "no"]))
    assert recorded.records == len(parts)
    assert [one[1] for one in records][:2] == ["A/1\\/2", "A\\/1/2"]


def test_an_id_of_one_column_is_as_it_is_written(tmp_path):
    (tmp_path / "a.csv").write_text("no,first,last\nA/1\\2,Ada,Ash\n")
    assert read(tmp_path, source())[2] == [(1, "A/1\\2", "Ada Ash")]
