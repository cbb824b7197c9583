"""Comparing two snapshots leaves processors and memory to whoever answers."""

import duckdb
import pytest

from upstream.ingestion.likeness import limited_database, same_rows


@pytest.fixture
def snapshot(tmp_path):
    def written(name, rows):
        path = tmp_path / name
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE codes (code INTEGER)")
            connection.execute(f"INSERT INTO codes SELECT * FROM range({rows})")
        return path

    return written


def test_it_has_one_thread_and_as_much_memory_as_a_load():
    with limited_database() as connection:
        found = connection.execute(
            "SELECT current_setting('threads'), current_setting('memory_limit')"
        ).fetchone()
    assert found == (1, "488.2 MiB")  # 512 MB


def test_the_same_rows_are_the_same(snapshot):
    first, second, other = (
        snapshot(name, rows) for name, rows in (("a", 5), ("b", 5), ("c", 6))
    )
    assert same_rows(first, second)
    assert not same_rows(first, other)
