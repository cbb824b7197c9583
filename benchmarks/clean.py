"""Timing on a machine that others use too: interleaved, by the undisturbed runs."""

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CLEAN_SHARE: Final = 0.05
"""A run is clean when its threads waited for a core under this share of its time."""
_LEAST_CLEAN = 5
_TASKS = Path("/proc/self/task")


@dataclass(frozen=True, slots=True)
class Run:
    """One timed call.

    Attributes:
        wall: Seconds from start to end.
        waited: Seconds that this process's threads stood ready without a core.
        cpu: Seconds of processor time, over all threads.
    """

    wall: float
    waited: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Timing:
    """What the runs of one call say.

    Attributes:
        wall: Median seconds of the clean runs, or of the third that waited least.
        cpu: Median processor seconds of the same runs.
        disturbed: Whether too few runs were clean.
    """

    wall: float
    cpu: float
    disturbed: bool


def timed(call: Callable[[], object]) -> Run:
    """Run a call once."""
    waited, cpu, start = _waited(), time.process_time(), time.perf_counter()
    call()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return Run(wall, _waited() - waited, cpu)


def interleaved(
    calls: Mapping[str, Callable[[], object]], *, seconds: float, rounds: int = 25
) -> dict[str, Timing]:
    """Time calls against each other, each round in another order.

    Args:
        calls: What to time, by name; each runs once unmeasured first.
        seconds: Stop after a round that ends later than this, three at least.
        rounds: Stop after as many.
    """
    for call in calls.values():
        call()
    names, runs = list(calls), {name: list[Run]() for name in calls}
    start = time.perf_counter()
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            runs[name].append(timed(calls[name]))
        if number >= 2 and time.perf_counter() - start > seconds:
            break
    return {name: summary(found) for name, found in runs.items()}


def summary(runs: Sequence[Run]) -> Timing:
    """Return the medians of the clean runs, or of the third that waited least."""
    used = [run for run in runs if run.waited <= CLEAN_SHARE * run.wall]
    disturbed = len(used) < min(_LEAST_CLEAN, len(runs))
    if disturbed:
        by_wait = sorted(runs, key=lambda run: run.waited / run.wall)
        used = by_wait[: max(3, len(runs) // 3)]
    wall = statistics.median(run.wall for run in used)
    return Timing(wall, statistics.median(run.cpu for run in used), disturbed)


def _waited() -> float:
    """Return for how long this process's threads have waited for a core so far."""
    total = 0
    for task in os.listdir(_TASKS):  # noqa: PTH208 - names alone, and fast
        try:
            total += int((_TASKS / task / "schedstat").read_text().split()[1])
        except OSError:
            continue  # it ended meanwhile, or this is no Linux
    return total / 1e9
