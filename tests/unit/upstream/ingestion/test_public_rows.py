"""Words of public rows are the same only where the rows are."""

from datetime import date

import duckdb
import pytest

from privacy.schema import Column, ColumnType, Dataset, Table
from upstream.ingestion import public_rows as reading
from upstream.ingestion.public_rows import public_rows, public_rows_if_readable


@pytest.fixture
def words(tmp_path):
    """Return the words of a table of two columns with these rows."""

    def of(rows, kind="VARCHAR", columns=("a", "b")):
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.duckdb"
        one, other = columns
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                f"CREATE TABLE codes (_row BIGINT, {one} {kind}, {other} {kind})"
            )
            for number, row in enumerate(rows, 1):
                connection.execute("INSERT INTO codes VALUES (?, ?, ?)", [number, *row])
            connection.execute("CREATE TABLE visits (unit BIGINT)")
        return public_rows(path, schema(columns))

    return of


def schema(columns=("a", "b")):
    texts = tuple(Column(name, ColumnType.TEXT) for name in columns)
    codes = Table("codes", texts)
    visits = Table("visits", texts, "unit", max_rows_per_unit=1)
    tables = {"codes": codes, "visits": visits}
    return Dataset("d", "p", "patient", date(2024, 1, 1), tables)


ROWS = [("x", "y"), (None, ""), ("1:x", "N")]


def test_the_same_rows_have_the_same_words(words):
    assert words(ROWS) == words(ROWS)
    assert words(ROWS)["codes"].startswith("3 rows, sha256 ")
    assert words([])["codes"].startswith("0 rows, sha256 ")


def test_private_tables_have_no_words(words):
    assert words(ROWS).keys() == {"codes"}


@pytest.mark.sampled
@pytest.mark.parametrize(
    "other",
    [
        ROWS[:2],
        [*ROWS, ("x", "y")],
        [ROWS[1], ROWS[0], ROWS[2]],
        [("x", "y"), ("", None), ("1:x", "N")],
        [("xy", ""), (None, ""), ("1:x", "N")],
        [("x", "y"), (None, ""), ("1:x1", ":N")],
    ],
)
def test_other_rows_have_other_words(words, other):
    assert words(other) != words(ROWS)


def test_columns_and_their_types_count(words):
    numbers = [("1", "2")]
    assert words(numbers) != words(numbers, kind="BIGINT")
    assert words(numbers) != words(numbers, columns=("a", "c"))


@pytest.mark.long
def test_every_part_of_a_long_table_counts(words, monkeypatch):
    monkeypatch.setattr(reading, "_AT_ONCE", 2)
    rows = [(str(number), "x") for number in range(7)]
    for place in range(7):
        changed = [*rows]
        changed[place] = ("changed", "x")
        assert words(changed) != words(rows)


def test_a_file_that_cannot_be_read_has_no_words(tmp_path):
    path = tmp_path / "damaged.duckdb"
    path.write_bytes(b"damaged")
    assert public_rows_if_readable(path, schema()) is None
