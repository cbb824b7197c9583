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
    ticks, here = itertools.count(0, 3_600), threading.get_ident()
    for clock in clocks:
        true = getattr(time, clock)
        patched.setattr(
            time,
            clock,
            lambda true=true: (
                float(next(ticks)) if threading.get_ident() == here else true()
            ),
        )
