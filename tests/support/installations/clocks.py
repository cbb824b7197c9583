"""Clocks that a test moves, for its own thread alone."""

import itertools
import threading
import time

CLOCKS = ("monotonic", "perf_counter", "process_time", "thread_time", "time")


def pass_hours(patched, clocks=CLOCKS):
    """Let an hour pass at each look at a clock, in the thread that calls this.

    Other threads keep their time: the loop of a server that runs beside the test would
    otherwise sleep until an hour that never comes.
    """
    ticks = itertools.count(0, 3_600)
    for clock in clocks:
        set_clock(patched, clock, lambda: float(next(ticks)))


def set_clock(patched, clock, told):
    """Let a clock say what ``told`` returns, in the thread that calls this.

    Others keep their time: a loop that looked at an earlier one would wait until its
    own came, for hours.
    """
    true, here = getattr(time, clock), threading.get_ident()
    patched.setattr(
        time, clock, lambda: told() if threading.get_ident() == here else true()
    )
