from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from engines.duckdb.snapshots import CountedSnapshots, SnapshotLimits, Snapshots
from privacy.errors import StoppingError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snapshots")
    for name in ("one", "two", "three"):
        connection = duckdb.connect(folder / f"{name}.duckdb")
        connection.execute("CREATE TABLE named AS SELECT ? AS name", [name])
        connection.close()
    return folder


@pytest.fixture
def snapshots(folder):
    snapshots = Snapshots(folder, SnapshotLimits())
    yield snapshots
    snapshots.close()


def read(snapshots, name, timeout_seconds=5):
    with snapshots.cursor(name, timeout_seconds=timeout_seconds) as cursor:
        return name_in(cursor)


def name_in(cursor):
    return cursor.execute("SELECT name FROM named").fetchone()[0]


def test_a_query_finishes_on_the_file_it_began_on(snapshots):
    with snapshots.cursor("one", timeout_seconds=1) as old:
        assert read(snapshots, "two") == "two"
        assert read(snapshots, "three") == "three"
        assert name_in(old) == "one"


def test_at_most_two_are_open_and_the_longest_idle_is_closed(snapshots):
    for name in ("one", "two", "one", "three"):
        assert read(snapshots, name) == name
    assert list(snapshots._open) == ["one", "three"]


def test_a_third_waits_until_one_is_given_back(snapshots):
    with ThreadPoolExecutor(1) as pool, snapshots.cursor("two", timeout_seconds=1):
        with snapshots.cursor("one", timeout_seconds=1):
            third = pool.submit(read, snapshots, "three")
            with pytest.raises(TimeoutError):
                third.result(timeout=0.05)
        assert third.result(timeout=5) == "three"


def test_a_third_does_not_wait_for_ever(snapshots):
    with (
        snapshots.cursor("one", timeout_seconds=1),
        snapshots.cursor("two", timeout_seconds=1),
        pytest.raises(TimeoutError),
    ):
        read(snapshots, "three", timeout_seconds=0.01)


def test_a_file_that_cannot_be_opened_takes_no_place(snapshots):
    for _ in range(3):
        with pytest.raises(duckdb.Error):
            read(snapshots, "missing")
    assert read(snapshots, "one") == "one"
    assert list(snapshots._open) == ["one"]


def test_closing_lets_a_running_query_finish(snapshots):
    assert read(snapshots, "two") == "two"
    with snapshots.cursor("one", timeout_seconds=1) as cursor:
        snapshots.close()
        assert list(snapshots._open) == ["one"]
        assert name_in(cursor) == "one"
    assert not snapshots._open
    with pytest.raises(StoppingError):
        read(snapshots, "one")


def test_a_removed_snapshot_is_let_go_of_once_nobody_reads_it(tmp_path):
    """An open file keeps its rows after it was deleted: erasure must end that."""
    file = tmp_path / "s_1.duckdb"
    with duckdb.connect(file) as database:
        database.execute("CREATE TABLE t AS SELECT 7 AS x")
    snapshots = Snapshots(tmp_path, SnapshotLimits())
    with snapshots.cursor("s_1", timeout_seconds=5) as reading:
        file.unlink()
        snapshots.close_removed()
        assert reading.execute("SELECT x FROM t").fetchall() == [(7,)]
        assert held(file)
    snapshots.close_removed()
    assert not held(file)
    with (
        pytest.raises(duckdb.Error),
        snapshots.cursor("s_1", timeout_seconds=5),
    ):
        pass


def held(file):
    """Whether this process still has a deleted file open."""
    links = Path("/proc/self/fd").iterdir()
    return any(
        link.is_symlink() and str(link.readlink()) == f"{file} (deleted)"
        for link in links
    )


def hash_key(cursor):
    sql = "SELECT getvariable('hash_key'), typeof(getvariable('hash_key'))"
    return cursor.execute(sql).fetchone()


def test_every_session_has_a_key_for_its_hashes_that_another_process_has_not(folder):
    engines = [Snapshots(folder, SnapshotLimits()) for _ in range(2)]
    found = []
    for engine in (*engines, engines[0]):
        with engine.cursor("one", timeout_seconds=5) as cursor:
            found.append(hash_key(cursor))
        engine.close_removed()
    for engine in engines:
        engine.close()
    counted = CountedSnapshots(folder, SnapshotLimits())
    for _ in range(2):
        with counted.opened("one") as connection:
            found.append(hash_key(connection))
    assert {kind for _, kind in found} == {"UBIGINT"}
    assert found[0] == found[2]
    assert len({key for key, _ in found}) == 4
