"""One thread interrupts what runs past its deadline, and nothing else."""

import threading
import time

from engines.duckdb.deadlines import Deadlines


class Running:
    def __init__(self):
        self.interrupts = []

    def interrupt(self):
        self.interrupts.append(time.monotonic())


def waited_for(condition):
    end = time.monotonic() + 10
    while time.monotonic() < end and not condition():
        time.sleep(0.01)
    return condition()


def test_what_ends_in_time_is_never_interrupted():
    deadlines, running = Deadlines(), Running()
    with deadlines.within(running, 60) as watch:
        time.sleep(0.2)
    assert not watch.passed
    assert running.interrupts == []


def test_what_is_late_is_interrupted_again_and_again():
    deadlines, running = Deadlines(), Running()
    started = time.monotonic()
    with deadlines.within(running, 0.1) as watch:
        assert waited_for(lambda: len(running.interrupts) > 2)
    assert watch.passed
    assert running.interrupts[0] >= started + 0.1


def test_nothing_is_interrupted_after_its_block():
    deadlines, running, other = Deadlines(), Running(), Running()
    with deadlines.within(running, 0.1):
        assert waited_for(lambda: running.interrupts)
    after = len(running.interrupts)
    with deadlines.within(other, 0.1):
        assert waited_for(lambda: len(other.interrupts) > 2)
    assert len(running.interrupts) == after


def test_a_sleeping_watcher_wakes_for_the_next_query():
    deadlines, running = Deadlines(), Running()
    with deadlines.within(Running(), 60):
        pass
    time.sleep(0.3)  # long enough to fall asleep
    with deadlines.within(running, 0.05):
        assert waited_for(lambda: running.interrupts)


def test_many_queries_share_one_thread():
    deadlines = Deadlines()
    before = threading.active_count()
    with deadlines.within(Running(), 60), deadlines.within(Running(), 60):
        assert threading.active_count() == before + 1
