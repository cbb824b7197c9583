import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from datetime import date
from pathlib import Path
from threading import Barrier

import duckdb
import pytest

from engines.duckdb.engine import DuckDbEngine
from engines.duckdb.snapshots import SnapshotLimits, Snapshots
from privacy.errors import ExecutionError, StoppingError
from privacy.sealed import SATURATION
from query_lang.plans.rendered import RenderedPlan, Statement
from query_lang.specs.cubes import CubeStatement

SLOW = (
    "SELECT COUNT(*) FROM range(10000000) a, range(100000) b "
    "WHERE (a.range * b.range) % 7 = 3"
)
BY_WARD = "SELECT ward, COUNT(*), COUNT(DISTINCT unit_key) FROM visits GROUP BY ward"


def plan(sql, cells=((),), vectors=1, parameters=()):
    return plan_of(Statement(sql, parameters, cells, tuple(range(vectors))))


def plan_of(*statements, vectors=None):
    count = vectors or sum(len(statement.vectors) for statement in statements)
    return RenderedPlan(statements, ((),), count, ("visits",))


def counting(*vectors, sql="SELECT COUNT(*) FROM visits"):
    return Statement(sql, (), ((),), vectors)


def write_snapshot(path, rows):
    connection = duckdb.connect(path)
    connection.execute(
        "CREATE TABLE visits (unit_key BIGINT, ward VARCHAR, day DATE, ok BOOLEAN)"
    )
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
    connection.close()


ROWS = [
    (1, "north", date(2024, 1, 1), True),
    (1, "north", date(2024, 1, 2), False),
    (2, "north", date(2024, 1, 1), None),
    (2, "south", None, True),
    (3, None, date(2024, 1, 1), True),
    (3, "attic", date(2024, 1, 1), True),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snapshots")
    write_snapshot(folder / "one.duckdb", ROWS)
    return folder


@pytest.fixture
def engine(folder):
    engine = DuckDbEngine(folder)
    yield engine
    engine.close()


def opened(engine, snapshot, asked):
    return [vector.unseal() for vector in engine.execute(snapshot, asked)]


def test_a_count_over_all_is_one_cell(engine):
    assert opened(engine, "one", plan("SELECT COUNT(*) FROM visits")) == [(6,)]


def test_groups_fill_the_declared_cells_in_declared_order(engine):
    cells = (("south",), ("east",), ("north",), (None,))
    assert opened(engine, "one", plan(BY_WARD, cells, 2)) == [
        (1, 0, 3, 1),
        (1, 0, 2, 1),
    ]


def test_a_row_whose_key_is_no_cell_is_dropped(engine):
    assert opened(engine, "one", plan(BY_WARD, (("attic",),), 2)) == [(1,), (1,)]


def test_keys_of_several_types_find_their_cells(engine):
    sql = "SELECT day, ok, COUNT(*) FROM visits GROUP BY day, ok"
    cells = (
        (date(2024, 1, 1), True),
        (date(2024, 1, 1), None),
        (date(2024, 1, 2), False),
        (None, True),
    )
    assert opened(engine, "one", plan(sql, cells)) == [(3, 1, 1, 1)]


def test_literals_reach_the_engine_as_parameters(engine):
    sql = "SELECT COUNT(*) FROM visits WHERE ward = ? AND day <= ?"
    asked = plan(sql, parameters=("north", date(2024, 1, 1)))
    assert opened(engine, "one", asked) == [(2,)]


def test_the_sum_of_nothing_is_zero(engine):
    asked = plan("SELECT SUM(unit_key) FROM visits WHERE unit_key > 9")
    assert opened(engine, "one", asked) == [(0,)]


@pytest.mark.parametrize(
    ("value", "sealed"),
    [
        (2**62 - 1, 2**62 - 1),
        (2**62 + 1, SATURATION),
        (2**100, SATURATION),
        (-(2**62) - 1, -SATURATION),
        (-(2**100), -SATURATION),
    ],
)
def test_a_value_saturates_and_is_never_refused(engine, value, sealed):
    assert opened(engine, "one", plan(f"SELECT {value}::HUGEINT")) == [(sealed,)]


def test_each_statement_fills_its_own_vectors(engine):
    by_ward = Statement(BY_WARD, (), (("south",), ("north",)), (2, 0))
    asked = plan_of(by_ward, counting(1))
    assert opened(engine, "one", asked) == [(1, 2), (6,), (1, 3)]


def test_a_histogram_fills_its_bins_cell_by_cell(engine):
    sql = "SELECT ward, DAY(day), COUNT(*) FROM visits GROUP BY ward, DAY(day)"
    places = tuple((ward, day) for ward in ("south", "north") for day in (1, 2, 3))
    asked = plan_of(Statement(sql, (), places, (0,)))
    assert opened(engine, "one", asked) == [(0, 0, 0, 2, 1, 0)]


def test_more_rows_than_are_fetched_at_once_find_their_places(engine):
    asked = plan("SELECT range, range FROM range(25000)", ((24_999,), (3,), (10_000,)))
    assert opened(engine, "one", asked) == [(24_999, 3, 10_000)]


def test_answers_are_sealed(engine):
    (vector,) = engine.execute("one", plan("SELECT COUNT(*) FROM visits"))
    assert repr(vector) == "Exact(sealed)"


@pytest.mark.parametrize(
    "faulty",
    [
        plan("SELECT CAST(ward AS INTEGER) FROM visits"),  # the message quotes a value
        plan("SELECT error('secret ' || ward) FROM visits"),
        plan("SELECT nothing FROM visits"),
        plan("SELECT 1.5"),  # not a count
        plan("SELECT 1 UNION ALL SELECT 2"),  # two rows for one cell
        plan_of(counting(0), counting(0), vectors=1),  # two statements for one vector
        plan("SELECT 1", ((), ())),  # two places with one key
        plan_of(counting(0), vectors=2),  # a vector that nothing fills
        plan_of(counting(0), counting(), vectors=1),  # a statement that fills nothing
    ],
)
def test_a_failure_says_nothing_of_its_cause_and_is_counted(engine, faulty, caplog):
    with pytest.raises(ExecutionError) as failure:
        engine.execute("one", faulty)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
    shown = "".join(traceback.format_exception(failure.value, chain=True))
    assert "north" not in shown + caplog.text
    assert "duckdb.Error" not in shown
    assert str(failure.value) == ""
    assert engine.incidents == 1


def test_a_snapshot_that_is_not_there_is_a_failure_like_any_other(engine):
    with pytest.raises(ExecutionError):
        engine.execute("unknown", plan("SELECT 1"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
        "SELECT COUNT(*) FROM read_text('/etc/hostname')",
        "SELECT COUNT(*) FROM '/etc/passwd'",
        "SELECT COUNT(*) FROM glob('/*')",
        "ATTACH '/tmp/elsewhere.duckdb'",
        "COPY visits TO '/tmp/curator-copied.csv'",
        "EXPORT DATABASE '/tmp/curator-exported'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 4",
        "SET memory_limit = '9GB'",
        "SET lock_configuration = false",
        "SET enable_external_access = true",
        "PRAGMA enable_profiling",
        "INSERT INTO visits VALUES (9, 'x', NULL, NULL)",
        "CREATE TABLE stolen (a INTEGER)",
        "DELETE FROM visits",
        "SELECT COUNT(*) FROM folder",  # a variable of this process
    ],
)
def test_the_second_wall_stands(folder, sql):
    snapshots = Snapshots(folder, SnapshotLimits())
    with (
        snapshots.cursor("one", timeout_seconds=1) as cursor,
        pytest.raises(duckdb.Error),
    ):
        cursor.execute(sql).fetchall()
    snapshots.close()


def test_limits_reach_the_engine(folder):
    snapshots = Snapshots(folder, SnapshotLimits(memory_limit="64MiB", threads=1))
    with snapshots.cursor("one", timeout_seconds=1) as cursor:
        row = cursor.execute(
            "SELECT current_setting('memory_limit'), current_setting('threads'), "
            "current_setting('temp_directory'), current_setting('lock_configuration'), "
            "current_setting('python_enable_replacements')"
        ).fetchone()
    snapshots.close()
    assert row == ("64.0 MiB", 1, "", True, False)


def test_too_much_memory_is_a_failure(folder):
    engine = DuckDbEngine(folder, limits=SnapshotLimits(memory_limit="32MB"))
    with pytest.raises(ExecutionError):
        engine.execute("one", plan("SELECT LEN(LIST(range)) FROM range(50000000)"))
    assert opened(engine, "one", plan("SELECT COUNT(*) FROM visits")) == [(6,)]
    engine.close()


def test_the_deadline_interrupts_one_query_and_no_other(folder):
    engine = DuckDbEngine(folder, deadline_seconds=0.1)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(engine.execute, "one", plan(SLOW))
        while not slow.done():
            assert opened(engine, "one", plan("SELECT COUNT(*) FROM visits")) == [(6,)]
        with pytest.raises(ExecutionError):
            slow.result()
    assert engine.incidents == 1
    engine.close()


def test_a_deadline_that_has_passed_before_the_start_interrupts_too(folder):
    engine = DuckDbEngine(folder, deadline_seconds=0.0)
    with pytest.raises(ExecutionError):
        engine.execute("one", plan(SLOW))
    engine.close()


def test_the_deadline_holds_for_all_statements_together(folder):
    engine = DuckDbEngine(folder, deadline_seconds=0.2)
    busy = "SELECT COUNT(*) FROM range(2000000) a WHERE (a.range * a.range) % 7 = 3"
    with pytest.raises(ExecutionError):
        engine.execute("one", plan_of(*(counting(i, sql=busy) for i in range(2_000))))
    engine.close()


def test_two_threads_read_one_snapshot_at_once(folder):
    snapshots = Snapshots(folder, SnapshotLimits())
    meet = Barrier(2, timeout=10)

    def read():
        with snapshots.cursor("one", timeout_seconds=5) as cursor:
            meet.wait()  # both hold a cursor now
            count = cursor.execute("SELECT COUNT(*) FROM visits").fetchone()
            meet.wait()
            return count

    with ThreadPoolExecutor(2) as pool:
        answers = [future.result() for future in [pool.submit(read) for _ in "ab"]]
    assert answers == [(6,), (6,)]
    snapshots.close()


WARDS = CubeStatement(
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward", (), (("north", "south"),)
)


def held_files(name):
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return [link for link in links if str(link.readlink()).endswith(f"{name}.duckdb")]


def test_no_count_waits_for_another_however_many_there_are(tmp_path):
    names = ["one", "two", "three", "four", "five"]
    for name in names:
        write_snapshot(tmp_path / f"{name}.duckdb", ROWS)
    engine = DuckDbEngine(tmp_path)
    meet = Barrier(len(names), timeout=30)

    @contextmanager
    def all_at_once(_):
        meet.wait()  # each has its snapshot open now
        yield
        meet.wait()

    with ThreadPoolExecutor(len(names)) as pool:
        counts = [pool.submit(engine.count_cube, n, WARDS, all_at_once) for n in names]
        found = [future.result().unseal().counts.tolist() for future in counts]
    assert found == [[3, 1]] * len(names)
    engine.close()


def test_a_count_keeps_no_snapshot_open(tmp_path):
    write_snapshot(tmp_path / "counted.duckdb", ROWS)
    engine = DuckDbEngine(tmp_path)
    held = []

    @contextmanager
    def looking(_):
        held.append(len(held_files("counted")))
        yield

    engine.count_cube("counted", WARDS, looking)
    assert held[0] > 0
    assert held_files("counted") == []
    engine.close()


def test_a_snapshot_that_questions_read_is_counted_too(engine):
    assert opened(engine, "one", plan("SELECT COUNT(*) FROM visits")) == [(6,)]
    counted = engine.count_cube("one", WARDS, nullcontext)
    assert counted.unseal().counts.tolist() == [3, 1]
    assert opened(engine, "one", plan("SELECT COUNT(*) FROM visits")) == [(6,)]


def test_a_closed_engine_counts_nothing_and_nothing_failed(folder):
    engine = DuckDbEngine(folder)
    engine.close()
    with pytest.raises(StoppingError):
        engine.count_cube("one", WARDS, nullcontext)
    assert engine.incidents == 0
