import csv
import io

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.drafting.drafting import draft_manifest
from upstream.errors import IngestionError
from upstream.files.csv_structure import (
    MAX_RECORD_BYTES,
    _Checker,
    check_csv,
    read_csv_records,
)
from upstream.manifests.declarations import ColumnSpec, TableSpec
from upstream.staging.raw_rows import raw_rows_sql


def write(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    return path


LINES = (b"1," + b"2" * 100 + b"\n") * 15_000  # more than one block

SOUND = [
    b"a,b\n1,2\n3,4\n",
    b"a,b\r\n1,2\r\n3,4",
    b"\xef\xbb\xbfa,b\n1,2\n",
    b'a,b\n1,"x\ny"\n"","z""z"\n',
    b'"a","b"\n,\n',
    b'a,b\n1,"x\r\ny\rz"\n3,4\n',
    "a,b\n\u00e9,\U0001f600\n".encode(),
    b"a\n1\n2\n",
    b"a,b\n",
    b"a,b",
    b'a,b\r\n"x\ny","\n"\r\n3,4\r\n',
    b'"a;""c",b\n1,"x\r\n"\n3,4\n',
    b'a,b\n"x\r\n,",""\n"a""","""a"\n',
    b"a\n\n1\n\n",
    b'a\r\n""\r\n1',
    b"a,b\n\n1,2\n\n\n3,4\n\n",
    b"a,b\n 1 ,\t\n#1,'x'\n\\,NULL\n",
    b"a,b\n1,x\x00y\n",
    b"a,b\n" + LINES + b'3,"4"\n5,6',
]


@pytest.mark.parametrize("content", SOUND, ids=range(len(SOUND)))
def test_a_sound_file_is_read_as_by_pythons_library(tmp_path, content):
    path = write(tmp_path, content)
    checked = check_csv(path, "t.csv")
    text = content.decode("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    blank = [[""]] if len(header) == 1 else []  # a blank line is a value or nothing
    rows = [fields for row in rows for fields in ([row] if row else blank)]
    assert checked.header == tuple(header)
    assert checked.records == len(rows)
    assert [fields for _, fields in read_csv_records(path)] == rows


@pytest.mark.parametrize("content", SOUND, ids=range(len(SOUND)))
def test_duckdb_reads_a_sound_file_as_the_strict_pass_does(tmp_path, content):
    path = write(tmp_path, content)
    checked = check_csv(path, "t.csv")
    columns = [
        ColumnSpec.model_validate({"name": f"c{i}", "from": name, "type": "text"})
        for i, name in enumerate(checked.header)
    ]
    table = TableSpec.model_construct(name="t", columns=tuple(columns))
    texts = ", ".join(f"r{i}" for i in range(len(columns)))
    rows = duckdb.connect().sql(
        f"SELECT {texts} FROM ({raw_rows_sql(table, [checked])})"
    )
    assert rows.fetchall() == [tuple(fields) for _, fields in read_csv_records(path)]


def test_threads_share_no_file_in_which_a_line_end_can_be_quoted(tmp_path):
    table = TableSpec.model_construct(name="t", columns=())
    plain = check_csv(write(tmp_path, b"a,b\n1,2\n"), "t.csv")
    assert "parallel=true" in raw_rows_sql(table, [plain])
    quoted = check_csv(write(tmp_path, LINES + b'1,"2"\n'), "t.csv")
    assert "parallel=false" in raw_rows_sql(table, [quoted])


def test_records_know_their_true_first_line(tmp_path):
    path = write(tmp_path, b'a,b\n1,"x\ny\nz"\n\n3,4\n')
    assert [line for line, _ in read_csv_records(path)] == [2, 6]


CELLS = st.sampled_from(
    ["e", "1", '""', '"x"', '"a,b"', '"a""b"', '""""', '"\u00e9"', 'x"', '"', '"x"y',
     ' "x"', '"\n"', '"\r\n"', "\r", "\u00e9", ""]
)  # fmt: skip


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4), st.booleans())
def test_a_block_is_found_plain_only_where_every_record_is_sound(rows, windows):
    ending = "\r\n" if windows else "\n"
    block = "".join(f"{a},{b}{ending}" for a, b in rows).encode()
    checker = _Checker("t.csv")
    checker.width, checker.ending = 2, ending.encode()
    if checker._is_plain(block):
        records = [r for _, r in checker.records(io.BytesIO(block))]
        assert len(records) == len(rows) == block.count(b"\n")


@pytest.mark.parametrize(
    ("content", "line", "column", "words"),
    [
        (b"", 1, None, "empty"),
        (b"\na,b\n", 1, None, "header"),
        (b'"a\nc",b\n', 1, None, "line break"),
        (b"a,b\n1\n", 2, 2, "1 fields"),
        (b"a,b\n1,2,\n", 2, 3, "3 fields"),
        (b"a,b\n1,2,3\n", 2, 3, "3 fields"),
        (b'a,b\n1,x"y"\n', 2, None, "broken quoting"),
        (b'a,b\n1,"x"y\n', 2, None, "never closed|broken quoting"),
        (b'a,b\n1, "x"\n', 2, None, "broken quoting"),
        (b'a,b\n1,"x" \n', 2, None, "broken quoting"),
        (b'a,b\n1,2\n3,"x\n4,5\n', 3, None, "never closed"),
        (b"a,b\n1,\xff\n", 2, 2, "UTF-8"),
        (b'a,b\n1,"\xc3\n"\n', 2, 2, "UTF-8"),
        (b"a,b\n1,\xed\xa0\x80\n", 2, 2, "UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), 1, 1, "UTF-8"),
        (b"a,b\n1,2\r\n", 2, None, "two ways"),
        (b"a,b\r\n1,2\n", 2, None, "two ways"),
        (b"a,b\r1,2\r", 1, None, "bare CR"),
        (b"a,b\n1,x\ry\n", 2, None, "bare CR"),
        (b"a,b\n1," + b"x" * MAX_RECORD_BYTES + b"\n", 2, None, "mebibyte"),
        (b'a,b\n1,"' + b"x\n" * MAX_RECORD_BYTES + b'"\n', 2, None, "never closed"),
        (b"a,b\n" + LINES + b"1\n", 15_002, 2, "1 fields"),
    ],
    ids=range(22),
)
def test_a_flaw_refuses_the_file_at_its_line(tmp_path, content, line, column, words):
    with pytest.raises(IngestionError, match=words) as refusal:
        check_csv(write(tmp_path, content), "t.csv")
    (problem,) = refusal.value.problems
    assert (problem.file, problem.line, problem.column) == ("t.csv", line, column)


@pytest.mark.parametrize(
    ("header", "words"),
    [("pid;ward", "semicolons"), ("pid\tward", "tabs"), ("pid|ward", "bars")],
)
def test_a_file_that_no_comma_separates_is_refused_and_drafted(tmp_path, header, words):
    path = write(tmp_path, f"\ufeff{header}\n1{header[3]}x\n".encode())
    with pytest.raises(IngestionError, match=words) as refused:
        check_csv(path, "t.csv")
    assert refused.value.problems[0].line == 1
    assert f"{words} between fields" in draft_manifest([path])
