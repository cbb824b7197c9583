"""Plans in executors: what leaves them, what ends them, and what they cannot harm."""

import logging
import os
import signal
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import duckdb
import pytest

import engines.duckdb.executors
from engines.duckdb.executors import ExecutorEngine, Shares
from engines.duckdb.snapshots import SnapshotLimits
from privacy.errors import ExecutionError, StoppingError
from query_lang.plans.rendered import RenderedPlan, Statement

SLOW = (
    "SELECT COUNT(*) FROM range(10000000) a, range(100000) b "
    "WHERE (a.range * b.range) % 7 = 3"
)
HUNGRY = "SELECT LEN(LIST(range)) FROM range(200000000)"
PATIENT = "P0005978"  # of a patient: nothing shows it
PATIENCE_SECONDS = 60


def plan_of(*statements):
    count = sum(len(statement.vectors) for statement in statements)
    return RenderedPlan(statements, ((),), count, ("visits",))


def plan(sql, cells=((),), parameters=()):
    return plan_of(Statement(sql, parameters, cells, (0,)))


ROWS = plan("SELECT COUNT(*) FROM visits")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("snapshots")
    write_snapshot(folder / "one.duckdb")
    return folder


def write_snapshot(path):
    connection = duckdb.connect(path)
    connection.execute("CREATE TABLE visits (ward VARCHAR, day DATE, ok BOOLEAN)")
    connection.executemany(
        "INSERT INTO visits VALUES (?, ?, ?)",
        [
            ("north", date(2024, 1, 1), True),
            ("north", date(2024, 1, 2), False),
            (PATIENT, None, None),
        ],
    )
    connection.close()


@pytest.fixture
def make(folder):
    """Make engines that are closed afterwards."""
    with ExitStack() as stack:

        def made(executors=2, **more):
            engine = ExecutorEngine(folder, shares=Shares(executors), **more)
            stack.callback(engine.close)
            return engine

        yield made


def opened(engine, asked, snapshot="one"):
    return [vector.unseal() for vector in engine.execute(snapshot, asked)]


def idle_pids(engine):
    return [executor.pid for executor in engine._idle._idle if executor is not None]


def wait_until(holds):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cpu_ticks(pid):
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(stat[11]) + int(stat[12])


def wait_until_all_work(pids):
    """Until each takes processor time: its plan is there, not only lent for.

    An executor that dies before its plan was sent is replaced, and the plan runs.
    """
    before = [cpu_ticks(pid) for pid in pids]
    wait_until(
        lambda: all(
            cpu_ticks(pid) > ticks + 2 for pid, ticks in zip(pids, before, strict=True)
        )
    )


def is_gone(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def test_vectors_come_back_sealed_in_their_order_whatever_their_keys(make):
    days = ((date(2024, 1, 2),), (None,), (date(1999, 1, 1),))
    asked = RenderedPlan(
        (
            Statement("SELECT day, COUNT(*) FROM visits GROUP BY 1", (), days, (1,)),
            Statement(
                "SELECT COUNT(*), COUNT(day) FROM visits WHERE ward = ?",
                ("north",),
                ((),),
                (2, 0),
            ),
        ),
        ((),),
        3,
        ("visits",),
    )
    engine = make()
    assert opened(engine, asked) == [(2,), (1, 1, 0), (2,)]
    assert "north" not in repr(engine.execute("one", asked))


def test_of_a_failure_nothing_leaves_but_its_kind(make, caplog):
    engine = make()
    quoting = plan("SELECT SUM(CAST(ward AS INTEGER)) FROM visits")
    with caplog.at_level(logging.DEBUG), pytest.raises(ExecutionError) as caught:
        engine.execute("one", quoting)
    told = "".join(traceback.format_exception(caught.value))
    assert PATIENT not in told + caplog.text + str(caplog.records[-1].__dict__)
    assert caught.value.__cause__ is None
    assert caplog.records[-1].error == "ConversionException"
    assert (engine.incidents, engine.limit_incidents) == (1, 0)
    assert opened(engine, ROWS) == [(3,)]


def test_no_executor_runs_before_it_is_needed_and_none_after_the_end(make):
    engine = make()
    engine.close_removed()
    assert idle_pids(engine) == []
    engine.start(["one"])
    pids = idle_pids(engine)
    assert len(set(pids)) == 2
    engine.close()
    assert all(is_gone(pid) for pid in pids)
    with pytest.raises(StoppingError):
        engine.execute("one", ROWS)
    assert engine.incidents == 0


def test_an_executor_gives_way_and_knows_no_setting(make, monkeypatch):
    monkeypatch.setenv("CURATOR_DATABASE_URL", "postgresql://password@host/db")
    engine = make(1)
    engine.start()
    (pid,) = idle_pids(engine)
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    assert int(stat[16]) >= min(19, os.nice(0) + 10)
    assert b"CURATOR" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")


def test_an_executor_killed_amid_a_plan_fails_that_plan_alone(make):
    engine = make(1)
    opened(engine, ROWS)
    (pid,) = idle_pids(engine)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(engine.execute, "one", plan(SLOW))
        wait_until_all_work([pid])
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ExecutionError):
            slow.result(PATIENCE_SECONDS)
    assert (engine.incidents, engine.limit_incidents) == (1, 1)
    assert opened(engine, ROWS) == [(3,)]
    assert idle_pids(engine) != [pid]


def test_an_executor_killed_while_idle_fails_nothing(make):
    engine = make(1)
    opened(engine, ROWS)
    (pid,) = idle_pids(engine)
    (executor,) = engine._idle._idle
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not executor.is_alive())  # its last thread has ended
    assert opened(engine, ROWS) == [(3,)]
    assert engine.incidents == 0


def test_the_deadline_ends_a_plan_and_not_its_executor(make):
    engine = make(1, deadline_seconds=0.3)
    engine.start(["one"])
    before = idle_pids(engine)
    with pytest.raises(ExecutionError):
        engine.execute("one", plan(SLOW))
    assert (engine.incidents, engine.limit_incidents) == (1, 1)
    assert idle_pids(engine) == before
    assert opened(make(1), ROWS) == [(3,)]


def test_an_executor_that_does_not_answer_is_killed_and_replaced(make, monkeypatch):
    monkeypatch.setattr(engines.duckdb.executors, "GRACE_SECONDS", 0.1)
    engine = make(1, deadline_seconds=0.3)
    engine.start(["one"])
    (pid,) = idle_pids(engine)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(ExecutionError):
        engine.execute("one", ROWS)
    assert is_gone(pid)
    assert idle_pids(engine) not in ([], [pid])
    assert (engine.incidents, engine.limit_incidents) == (1, 1)


def test_one_that_meets_its_memory_limit_harms_no_other(folder, monkeypatch, make):
    monkeypatch.setattr(
        Shares, "limits", lambda _: SnapshotLimits(memory_limit="100MB", threads=1)
    )
    engine = make(2)
    with ThreadPoolExecutor(1) as pool:
        hungry = pool.submit(engine.execute, "one", plan(HUNGRY))
        counts = [opened(engine, ROWS)]
        while not hungry.done():
            counts.append(opened(engine, ROWS))
        with pytest.raises(ExecutionError):
            hungry.result()
    assert counts == [[(3,)]] * len(counts)
    assert (engine.incidents, engine.limit_incidents) == (1, 1)


def test_two_plans_run_at_once_each_in_an_executor_of_its_own(make):
    engine = make(2, deadline_seconds=PATIENCE_SECONDS)
    engine.start(["one"])
    pids = idle_pids(engine)
    with ThreadPoolExecutor(2) as pool:
        slow = [pool.submit(engine.execute, "one", plan(SLOW)) for _ in pids]
        wait_until_all_work(pids)
        assert not any(future.done() for future in slow)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for future in slow:
            with pytest.raises(ExecutionError):
                future.result(PATIENCE_SECONDS)


def test_a_removed_snapshot_is_let_go_by_every_executor(tmp_path):
    write_snapshot(tmp_path / "two.duckdb")
    engine = ExecutorEngine(tmp_path)
    try:
        engine.start(["two"])
        assert all(held_files(pid) for pid in idle_pids(engine))
        (tmp_path / "two.duckdb").unlink()
        engine.close_removed()
        assert [held_files(pid) for pid in idle_pids(engine)] == [[], []]
        with pytest.raises(ExecutionError):
            engine.execute("two", ROWS)
    finally:
        engine.close()


def test_an_executor_that_died_holds_nothing_to_let_go(tmp_path):
    """Recovery, which asks for it now and then, told of a bug."""
    write_snapshot(tmp_path / "two.duckdb")
    engine = ExecutorEngine(tmp_path)
    try:
        engine.start(["two"])
        dead = idle_pids(engine)
        for pid in dead:
            os.kill(pid, signal.SIGKILL)
        for _ in dead:
            engine.close_removed()
        assert engine.execute("two", ROWS)
    finally:
        engine.close()


def held_files(pid):
    links = Path(f"/proc/{pid}/fd").iterdir()
    return [link for link in links if "two.duckdb" in str(link.readlink())]


def test_an_executor_that_cannot_start_is_told_before_any_plan(make, monkeypatch):
    monkeypatch.setattr(
        "engines.duckdb.executor_process.child_command",
        lambda *_: [sys.executable, "-c", "raise SystemExit(1)"],
    )
    with pytest.raises(ExecutionError):
        make(1).start()


ENDLESS = """\
import sys
from pathlib import Path
from threading import Thread
from engines.duckdb.executors import ExecutorEngine
from tests.integration.executing.test_executors import SLOW, plan

engine = ExecutorEngine(Path(sys.argv[1]))
engine.start(["one"])
pids = [executor.pid for executor in engine._idle._idle]
Thread(target=engine.execute, args=("one", plan(SLOW)), daemon=True).start()
while len(engine._idle._idle) == 2:
    pass
print(*pids, flush=True)
sys.stdin.read()
"""


def test_executors_end_with_the_server_however_it_dies(folder):
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        pids = [int(word) for word in server.stdout.readline().split()]
        assert len(pids) == 2
        assert not any(is_gone(pid) for pid in pids)
        server.kill()
    wait_until(lambda: all(is_gone(pid) for pid in pids))
