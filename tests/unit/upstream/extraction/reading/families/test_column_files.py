"""Columns of CSV, Parquet and databases."""

import sqlite3

import duckdb
import pytest
from pydantic import ValidationError
from sqlalchemy import create_engine

from upstream.errors import IngestionError
from upstream.extraction.reading.outcomes import END, Position, Quarantined

CSV = 'id,who,note\n1,7,"said ""hi"", left"\n2,8,"two\r\nlines"\n3,9,K\u00f6ln\n'
KEYS = {"texts": ["note"], "id": ["id"], "fields": {"patient": "who"}}


def original(imports, document, start, end):
    raw = (imports.path / document.place.file).read_bytes()
    first, behind = document.original_range(start, end)
    return raw[first:behind]


def test_each_value_of_a_text_column_is_a_document(imports):
    imports.put("a.csv", CSV)
    found = imports.all("columns", **KEYS)
    assert [(each.id, each.text) for each in found] == [
        ("1", 'said "hi", left'),
        ("2", "two\r\nlines"),
        ("3", "Köln"),
    ]
    assert found[0].fields == {"patient": "7"}
    assert found[1].place.item == "row 2, column note"


def test_characters_of_a_cell_keep_their_bytes_in_the_file(imports):
    imports.put("a.csv", "\ufeff" + CSV)
    first, second, third = imports.all("columns", **KEYS)
    assert original(imports, first, 5, 9) == b'""hi""'
    assert original(imports, first, 0, len(first.text)) == b'said ""hi"", left'
    assert original(imports, second, 3, 10) == b"\r\nlines"
    assert original(imports, third, 1, 3) == "öl".encode()


def test_each_cell_has_its_own_encoding(imports):
    imports.put("a.csv", b"note\n" + "Köln\n".encode() + "Köln\n".encode("cp1252"))
    found = imports.all("columns", texts=["note"])
    assert [each.encoding for each in found] == ["utf-8", "windows-1252"]
    assert [each.id for each in found] == ["a.csv#1", "a.csv#2"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"2,8", "bad_structure"),
        (b"2,8,a,b", "bad_structure"),
        (b'2,8,a "b" c', "bad_structure"),
        (b'2,8,"a"b', "bad_structure"),
        (b"2,8,a\rb", "bad_structure"),
        (b"2,8,", "empty"),
        (b"2,8,a\0b\0c", "binary"),
        (b",8,note", "no_id"),
        (b"1,8,note", "duplicate_id"),
        (b"2,8," + b"x" * 1001, "too_long"),
        (b"2,8," + b"x" * 2_000_000, "too_long"),
    ],
)
def test_a_bad_row_is_set_aside_and_the_rows_around_it_are_read(imports, row, reason):
    imports.put("a.csv", b"id,who,note\n1,7,first\n" + row + b"\n3,9,last\n")
    first, bad, last = imports.all("columns", max_characters=1000, **KEYS)
    assert (first.text, last.text) == ("first", "last")
    assert bad.reason == reason
    assert bad.place.item.startswith("row 2")


def test_a_quote_that_is_never_closed_costs_its_own_row_alone(imports):
    imports.put("a.csv", 'id,who,note\n1,7,"open\n2,8,next\n3,9,last\n')
    assert imports.reasons("columns", **KEYS) == ["bad_structure", None, None]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"id;who;note\n1;2;3\n", "bad_structure"),
        (b"id,who,note,note\n1,2,3,4\n", "bad_structure"),
        (CSV.encode("utf-16"), "bad_encoding"),
        (b"PK\x03\x04rest", "other_format"),
        (bytes(1000), "bad_encoding"),
    ],
)
def test_a_file_without_the_columns_is_set_aside(imports, content, reason):
    imports.put("a.csv", content)
    imports.put("b.csv", CSV)
    found = imports.reasons("columns", **KEYS)
    assert found == [reason, None, None, None]


def test_other_separators_are_declared(imports):
    imports.put("a.csv", "id;note\n1;a,b\n")
    found = imports.texts("columns", texts=["note"], id=["id"], separator=";")
    assert found == {"1": "a,b"}


def test_several_text_columns_name_their_documents(imports):
    imports.put("a.csv", "id,day,plan,note\n1,2,p,n\n")
    found = imports.texts("columns", texts=["plan", "note"], id=["id", "day"])
    assert found == {"1/2/plan": "p", "1/2/note": "n"}


def parquet(path, query):
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def test_parquet_is_read_as_csv_is(imports):
    parquet(
        imports.path / "a.parquet",
        "SELECT * FROM (VALUES (1, 7, 'Köln'), (2, 8, NULL), (3, 9, repeat('x', 1001)),"
        " (4, 9, 'last')) AS t(id, who, note)",
    )
    found = imports.all("columns", max_characters=1000, **KEYS)
    assert [getattr(each, "reason", None) for each in found] == [
        None,
        "empty",
        "too_long",
        None,
    ]
    assert found[0].original_range(1, 2) == (1, 2)
    assert (found[0].place.unit, found[0].fields) == ("character", {"patient": "7"})


def test_bytes_in_parquet_are_decoded_and_counted(imports):
    parquet(imports.path / "a.parquet", "SELECT 1 AS id, encode('Köln') AS note")
    (found,) = imports.all("columns", texts=["note"], id=["id"])
    assert (found.text, found.place.unit) == ("Köln", "byte")
    assert found.original_range(1, 2) == (1, 3)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.parquet", b"PAR1" + bytes(100), "unreadable"),
        ("a.parquet", b"", "unreadable"),
        ("a[1].parquet", b"PAR1", "bad_name"),
    ],
)
def test_what_is_no_parquet_is_set_aside(imports, name, content, reason):
    imports.put(name, content)
    assert imports.reasons("columns", **KEYS) == [reason]


def test_parquet_without_the_columns_is_set_aside(imports):
    parquet(imports.path / "a.parquet", "SELECT 1 AS id")
    (bad,) = imports.all("columns", **KEYS)
    assert "'note' is not in the file" in bad.sentence


def database(imports, rows):
    with sqlite3.connect(imports.path / "notes.db") as connection:
        connection.execute("CREATE TABLE notes (id INTEGER, who TEXT, note)")
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", rows)
    connection.close()


URL = {"url": "sqlite:///notes.db"}


def test_a_database_is_read_in_the_order_of_its_ids(imports):
    rows = [(3, "9", "c"), (1, "7", "Köln"), (2, "8", None), (4, "9", "Ä".encode())]
    database(imports, rows)
    one, two, three, four = imports.all("database", table="notes", **URL, **KEYS)
    assert (one.id, one.text, one.fields) == ("1", "Köln", {"patient": "7"})
    assert (two.reason, three.text) == ("empty", "c")
    assert (four.text, four.encoding, four.place.unit) == ("Ä", "utf-8", "byte")
    assert one.place.file == "notes"


def test_a_select_of_the_custodians_own_is_read(imports):
    database(imports, [(1, "7", "a:b"), (2, "8", "b")])
    select = "SELECT id, who, upper(note) AS note FROM notes WHERE note LIKE 'a:%'"
    assert imports.texts("database", select=select, **URL, **KEYS) == {"1": "A:B"}


def test_text_of_a_database_that_is_not_utf8_is_one_bad_document(imports):
    database(imports, [(1, "7", "a"), (2, "8", "b"), (3, "9", "c")])
    with sqlite3.connect(imports.path / "notes.db") as connection:
        connection.execute("UPDATE notes SET note = CAST(x'FF41' AS TEXT) WHERE id = 2")
    connection.close()
    found = imports.reasons("database", table="notes", **URL, **KEYS)
    assert found == [None, "bad_encoding", None]


@pytest.mark.parametrize(
    "keys",
    [
        {"table": "none"},
        {"select": "SELECT id FROM notes"},
        {"select": "SELECT nonsense"},
        {"select": "WITH x AS (SELECT 1) DELETE FROM notes"},
        {"table": "notes", "url": "sqlite:///../outside.db"},
        {"table": "notes", "url": "nodriver://host/db"},
    ],
)
def test_a_database_that_fails_is_refused_without_its_drivers_words(imports, keys):
    database(imports, [(1, "7", "a")])
    with pytest.raises(IngestionError) as caught:
        imports.all("database", **(URL | KEYS | keys))
    (problem,) = caught.value.problems
    assert problem.file == "notes"
    assert "nonsense" not in problem.sentence
    with sqlite3.connect(imports.path / "notes.db") as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    connection.close()


def test_a_postgresql_table_is_streamed_and_cannot_be_written_to(
    imports, empty_database, monkeypatch
):
    engine = create_engine(empty_database)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE notes (id int, who text, note text)")
        connection.exec_driver_sql(
            "INSERT INTO notes SELECT i, 'w', 'K\u00f6ln ' || i"
            " FROM generate_series(1, 100) AS s(i)"
        )
    monkeypatch.setenv("NOTES_URL", empty_database)
    keys = {"url_variable": "NOTES_URL", **KEYS}
    whole = imports.all("database", table="notes", **keys)
    assert [each.text for each in whole] == [f"K\u00f6ln {n}" for n in range(1, 101)]
    after = whole[41].position
    assert imports.all("database", table="notes", after=after, **keys) == whole[42:]
    writing = "WITH x AS (DELETE FROM notes RETURNING *) SELECT * FROM x"
    with pytest.raises(IngestionError, match="the database or its statement failed"):
        imports.all("database", select=writing, **keys)
    casting = "SELECT id, who, note::text AS note FROM notes WHERE id = 7 ORDER BY id"
    assert imports.texts("database", select=casting, **keys) == {"7": "K\u00f6ln 7"}
    engine.dispose()


def test_the_url_may_come_from_the_environment(imports, monkeypatch):
    database(imports, [(1, "7", "a")])
    keys = {"table": "notes", "url_variable": "NOTES_URL", **KEYS}
    with pytest.raises(IngestionError, match="set the variable NOTES_URL"):
        imports.all("database", **keys)
    monkeypatch.setenv("NOTES_URL", "sqlite:///notes.db")
    assert imports.texts("database", **keys) == {"1": "a"}


@pytest.mark.parametrize(
    "keys",
    [
        {"url": "postgresql://ada:secret@host/db", "table": "t"},
        {"url": "no url", "table": "t"},
        {"url": "sqlite:///a.db"},
        {"url": "sqlite:///a.db", "table": "t", "select": "SELECT 1"},
        {"url": "sqlite:///a.db", "select": "DELETE FROM t"},
        {"url": "sqlite:///a.db", "select": "SELECT 1", "table_schema": "s"},
        {"table": "t"},
        {"url": "sqlite:///a.db", "table": "t", "files": ["a"]},
        {"url": "sqlite:///a.db", "table": "t", "id": []},
    ],
)
def test_a_declaration_of_a_database_that_cannot_be_meant_is_refused(imports, keys):
    with pytest.raises(ValidationError):
        imports.source("database", **(KEYS | keys))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"table": "note"}, "there is no table 'note': did you mean 'notes'"),
        ({"table": "zzz"}, r"there is no table 'zzz'\Z"),
        ({"table": "notes", "texts": ["nte"]}, "no column 'nte': did you mean 'note'"),
    ],
)
def test_a_table_or_a_column_that_a_database_has_not_is_named(imports, keys, said):
    database(imports, [(1, "w", "n")])
    with pytest.raises(IngestionError, match=said):
        imports.all("database", **KEYS | URL | keys)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["csv", "parquet", "database"])
def test_reading_rows_goes_on_behind_any_position(imports, kind):
    keys = {"texts": ["note", "who"], "id": ["id"]}
    if kind == "csv":
        imports.put("a.csv", CSV)
        imports.put("b.csv", CSV.replace("\n", "\n\n"))
    elif kind == "parquet":
        query = "SELECT i AS id, 'w' AS who, 'n' || i AS note FROM range(5) AS r(i)"
        parquet(imports.path / "a.parquet", query)
    else:
        database(imports, [(n, "w", f"n{n}") for n in range(50)])
        keys |= {"table": "notes", **URL}
    family = "database" if kind == "database" else "columns"
    whole = imports.all(family, **keys)
    for number, each in enumerate(whole):
        behind = imports.all(family, after=each.position, **keys)
        assert [b.place for b in behind] == [w.place for w in whole[number + 1 :]]


def test_a_file_that_changed_since_is_not_read_on(imports):
    imports.put("a.csv", CSV)
    first, *_ = imports.all("columns", **KEYS)
    imports.put("a.csv", CSV + "4,9,new\n")
    with pytest.raises(IngestionError, match="begin anew"):
        imports.all("columns", after=first.position, **KEYS)


def test_a_source_without_texts_is_refused(imports):
    imports.put("a.csv", "id,who,note\n")
    with pytest.raises(IngestionError, match="holds no texts"):
        imports.all("columns", **KEYS)
    assert imports.all("columns", after=Position("a.csv", END), **KEYS) == []


def test_rows_are_read_one_at_a_time(imports):
    imports.put("a.csv", b"note\n" + b"x" * 300_000 + b"\n" + b"y\n" * 1000)
    found = imports.all("columns", texts=["note"], max_characters=1000)
    assert sum(isinstance(each, Quarantined) for each in found) == 1
    assert len(found) == 1001


def test_numbers_and_times_are_text_and_other_values_are_set_aside(imports):
    parquet(
        imports.path / "a.parquet",
        "SELECT DATE '2024-01-02' AS id, 1.50 AS note, uuid() AS who UNION ALL "
        "SELECT DATE '2024-01-03', 2.25, NULL",
    )
    first, second = imports.all("columns", **KEYS)
    assert [(each.id, each.text) for each in (first, second)] == [
        ("2024-01-02", "1.50"),
        ("2024-01-03", "2.25"),
    ]
    assert (len(first.fields["patient"]), second.fields["patient"]) == (36, "")
    parquet(imports.path / "a.parquet", "SELECT 1 AS id, [1, 2] AS note, 3 AS who")
    assert imports.reasons("columns", **KEYS) == ["bad_structure"]


def test_a_row_whose_id_is_no_text_is_set_aside(imports):
    imports.put("a.csv", b"id,who,note\n1\0,7,a\n2,8,b\n")
    assert imports.reasons("columns", **KEYS) == ["binary", None]
