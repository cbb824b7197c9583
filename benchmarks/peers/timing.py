"""Times the calls of one tool, in its own environment: standard library only.

Every script beside this one is run by the Python of its tool's environment, and prints
one line of JSON for each question.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable

LEAST_CALLS = 3
MOST_CALLS = 200
SECONDS = 5.0


def measure(question: str, call: Callable[[], object]) -> None:
    """Call twice to warm up, then for some seconds; print the median."""
    try:
        for _ in range(2):
            call()
        taken = []
        begun = time.perf_counter()
        while len(taken) < LEAST_CALLS or (
            len(taken) < MOST_CALLS and time.perf_counter() - begun < SECONDS
        ):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    except Exception as error:  # noqa: BLE001 - a peer that cannot is a result too
        say(question, error=f"{type(error).__name__}: {str(error)[:200]}")
        return
    say(question, median_ms=statistics.median(taken) * 1e3, calls=len(taken))


def say(question: str, **facts: object) -> None:
    """Print one result."""
    print(json.dumps({"question": question, **facts}), flush=True)


def arguments() -> list[str]:
    """Return the folder of the tables, and whatever the tool is told more."""
    return sys.argv[1:]
