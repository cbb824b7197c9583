"""Tables and views of a database are drafted as files are, and then load."""

import re
import sqlite3

import pytest

from upstream.drafting.drafting import draft_manifest
from upstream.drafting.sources.database_drafts import DraftDatabase, _place
from upstream.errors import IngestionError
from upstream.files.exports.plain_copies import CopyArea
from upstream.files.sources import Folders, open_sources
from upstream.manifests.declarations import TableSpec


@pytest.fixture
def his(tmp_path):
    with sqlite3.connect(tmp_path / "his.db") as connection:
        connection.executescript(
            "CREATE TABLE stays (pid INT, came TEXT, weight REAL, picture BLOB);"
            "CREATE TABLE wards (ward TEXT, beds INT);"
            "CREATE VIEW long_stays AS SELECT pid, came FROM stays;"
        )
        connection.executemany(
            "INSERT INTO stays VALUES (?, ?, ?, ?)",
            [(n, f"0{n % 8 + 1}.05.2023", 60.5 + n, b"\xff") for n in range(30)],
        )
        connection.execute("INSERT INTO wards VALUES ('blue', 17)")
    connection.close()
    return tmp_path / "his.db"


def drafted(database):
    return draft_manifest([], ["pid"], [database])


def test_all_tables_and_views_of_a_database_are_drafted(his):
    text = drafted(DraftDatabase(f"sqlite:///{his}"))
    for table in ("stays", "wards", "long_stays"):
        place = f'{{"url": "sqlite:///his.db", "table": "{table}"}}'
        assert f"- name: {table}\n  database: {place}" in text.replace(
            '{url: "sqlite:///his.db", table:', '{"url": "sqlite:///his.db", "table":'
        )
    assert 'name: came, type: date, format: "%d.%m.%Y"' in text
    assert "name: weight, type: decimal, scale: 1, domain: {min: 0, max: 100}" in text
    assert '# left out: "picture" has bytes, lists or the like' in text
    assert "files:" not in text
    assert not set(re.findall(r"[\w.]+", text)) & {"blue", "60.5", "17", "89.5"}


def test_a_primary_key_is_declared_of_what_may_be_public(his):
    with sqlite3.connect(his) as connection:
        connection.execute(
            'CREATE TABLE codes (icd TEXT, "Jahr" INT, PRIMARY KEY (icd, "Jahr"))'
        )
        connection.execute("CREATE TABLE visits (v INT PRIMARY KEY, pid INT)")
    connection.close()
    text = drafted(DraftDatabase(f"sqlite:///{his}"))
    assert text.count("its primary key") == 2
    assert "\n  key: [icd, jahr] # its primary key, by which" in text
    assert "\n  # key: [v], its primary key, if rows that share it" in text


def test_a_unit_that_people_have_several_of_is_asked_about(his):
    with sqlite3.connect(his) as connection:
        connection.execute("CREATE TABLE cases (pid INT, patnr INT, pat_id INT)")
        rows = [(n, n // 3, n) for n in range(30)]
        connection.executemany("INSERT INTO cases VALUES (?, ?, ?)", rows)
    connection.close()
    text = drafted(DraftDatabase(f"sqlite:///{his}"))
    assert text.count("looks like ids of people, who have several") == 1
    assert "# patnr looks like ids of people" in text


def test_tables_are_chosen_by_name(his):
    text = drafted(DraftDatabase(f"sqlite:///{his}", tables=("long_stays",)))
    assert text.count("database: ") == 1
    with pytest.raises(IngestionError, match="no table or view stay: did you mean st"):
        drafted(DraftDatabase(f"sqlite:///{his}", tables=("stay",)))


def test_a_url_comes_from_a_variable_and_stays_there(his, monkeypatch):
    monkeypatch.chdir(his.parent)
    monkeypatch.setenv("WARD_URL", "sqlite:///his.db")
    text = drafted(DraftDatabase(url_variable="WARD_URL"))
    assert 'database: {url_variable: "WARD_URL", table: "stays"}' in text
    assert "sqlite" not in text


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://reader:s3cret@127.0.0.1:1/his",
        "postgresql+psycopg://127.0.0.1:1/his?password=s3cret",
        "nonsense://reader:s3cret@host/his",
        "sqlite:///s3cret/none.db",
        "://s3cret",
    ],
)
def test_no_refusal_quotes_a_password(url):
    with pytest.raises(IngestionError) as refusal:
        drafted(DraftDatabase(url))
    assert "s3cret" not in str(refusal.value)


def test_a_url_with_a_password_is_named_by_a_variable():
    for url in (
        "postgresql+psycopg://reader:s3cret@dbhost/his",
        "mssql+pyodbc:///?odbc_connect=PWD%3Ds3cret",
    ):
        spec, *_ = _place(DraftDatabase(url))
        assert (spec.url, spec.url_variable) == (None, "HIS_URL")
    plain = "postgresql+psycopg://reader@dbhost/his"
    assert _place(DraftDatabase(plain))[0].url == plain


def test_a_table_that_is_drafted_is_read_by_a_load(his, tmp_path):
    text = drafted(DraftDatabase(f"sqlite:///{his}", tables=("stays",)))
    found = re.search(r"database: \{url: \"(.*)\", table: \"(.*)\"\}", text)
    table = TableSpec.model_validate(
        {
            "name": "stays",
            "database": {"url": found[1], "table": found[2]},
            "unit_column": "pid",
            "max_rows_per_unit": 1,
            "source": "protocol",
            "columns": [{"name": "pid", "type": "integer"}],
        }
    )
    copies = CopyArea(tmp_path / "copies", tmp_path)
    with copies.reading():
        (file,) = open_sources(table, Folders(tmp_path, tmp_path, copies), None)
    assert file.records == 30
