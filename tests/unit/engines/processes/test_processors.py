import os
import subprocess
import sys
import threading

import pytest

from engines.duckdb.executors import Shares
from engines.processes.processors import (
    Processors,
    has_quota_below,
    keep_process_to,
    starting_on,
    usable_processors,
)


@pytest.fixture
def kept():
    """Give every thread of this process its processors back afterwards."""
    before = os.sched_getaffinity(0)
    yield before
    keep_process_to(frozenset(before))


def divided(usable, topology):
    made = Processors.divided(usable, topology)
    return sorted(made.servers), sorted(made.executors)


@pytest.mark.parametrize(
    ("usable", "expected"),
    [
        ([0, 1], ([0], [1])),
        ([5, 3], ([3], [5])),  # a container's mask
        ([0, 1, 2], ([0, 1], [2])),
        (range(8), ([0, 1, 2, 3], [4, 5, 6, 7])),
        ([6], ([6], [6])),  # nothing to divide
    ],
)
def test_row_work_has_a_half_of_its_own_where_there_are_two(usable, expected, tmp_path):
    assert divided(usable, tmp_path) == expected


def test_threads_of_one_core_stay_together(tmp_path):
    """As many machines number them: 0 and 2 are one core, 1 and 3 the other."""
    for processor in range(4):
        folder = tmp_path / f"cpu{processor}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text("0\n")
        (folder / "core_id").write_text(f"{processor % 2}\n")
    assert divided(range(4), tmp_path) == ([0, 2], [1, 3])


def test_a_process_keeps_all_its_threads_to_some_processors(kept):
    one = frozenset([min(kept)])
    ready, go_on, seen = threading.Event(), threading.Event(), []

    def look():
        ready.set()
        go_on.wait(30)
        seen.append(usable_processors())

    thread = threading.Thread(target=look)
    thread.start()
    ready.wait(30)
    assert keep_process_to(one)
    go_on.set()
    thread.join()
    assert [*seen, usable_processors()] == [one, one]


def started(processors):
    with starting_on(processors):
        told = subprocess.run(
            [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    return {int(word) for word in told.split()}


def test_what_a_thread_starts_runs_where_it_is_told_from_its_start(kept):
    assert started(frozenset([max(kept)])) == {max(kept)}
    assert usable_processors() == kept
    assert started(frozenset()) == kept


def test_a_system_that_cannot_or_may_not_goes_on_with_all(monkeypatch):
    def forbidden(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    assert not keep_process_to(frozenset([0]))
    assert started(frozenset([0])) == usable_processors()
    monkeypatch.delattr(os, "sched_setaffinity")
    monkeypatch.delattr(os, "sched_getaffinity")
    assert not keep_process_to(frozenset([0]))
    assert usable_processors() == frozenset(range(os.cpu_count()))


@pytest.mark.parametrize(
    ("written", "expected"),
    [("max 100000", False), ("200000 100000", False), ("150000 100000", True)],
)
def test_a_quota_of_less_than_the_processors_is_seen(written, expected, tmp_path):
    (tmp_path / "cpu.max").write_text(written + "\n")
    assert has_quota_below(2, tmp_path / "cpu.max") == expected
    assert not has_quota_below(2, tmp_path / "nothing")


def test_executors_share_the_processors_of_row_work_alone():
    few, many = (
        Shares(2, 1, frozenset(range(count))).limits().threads for count in (2, 16)
    )
    assert (few, many) == (1, 2)
