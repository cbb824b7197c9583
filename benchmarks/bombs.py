"""A victim's latency while another client sends two hundred hostile texts.

Run: ``python -m benchmarks.bombs [--rounds 3]``. Quiet and hostile stretches alternate
on one server with slots off. In the quiet ones the other client sends an ordinary
question for each bomb, so that only what the texts do is compared. Prints the victim's
median and 99th percentile of both, and the ratios; exits 1 where the ratio of the 99th
percentiles is 2 or more.
"""

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.bombs import BOMBS
from tests.harness import Installation, ask, client, serve_in_process

BOUND = 2.0
CHUNKS = 8  # quiet and hostile stretches of one round
ORDINARY = "SELECT sex, COUNT(*) AS visits FROM visits WHERE age >= {age} GROUP BY sex"


def main() -> None:
    """Measure, print, and exit 1 where the bound is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder)).create()
        installation.load()
        keys = installation.analyst("ada", "study"), installation.analyst("eve", "raid")
        with (
            serve_in_process(installation) as url,
            client(url, keys[0]) as victim,
            client(url, keys[1]) as other,
        ):
            sys.exit(report(*alternated(victim, other, rounds)))


def alternated(
    victim: httpx.Client, other: httpx.Client, rounds: int
) -> tuple[list[float], list[float]]:
    """Return the victim's seconds beside ordinary questions, and beside bombs."""
    quiet: list[float] = []
    hostile: list[float] = []
    plain = [ORDINARY.format(age=number % 100) for number in range(len(BOMBS))]
    for _ in range(rounds):
        for chunk in range(CHUNKS):
            quiet += beside(victim, other, plain[chunk::CHUNKS])
            hostile += beside(victim, other, BOMBS[chunk::CHUNKS])
    return quiet, hostile


def beside(
    victim: httpx.Client, other: httpx.Client, texts: Sequence[str]
) -> list[float]:
    """Return the victim's seconds while the other client sends these texts."""
    ended = threading.Event()

    def send() -> None:
        for text in texts:
            ask(other, text, epsilon="0.001")
        ended.set()

    thread = threading.Thread(target=send)
    thread.start()
    found = []
    while not ended.is_set():
        start = time.perf_counter()
        ask(victim, epsilon="0.001").raise_for_status()
        found.append(time.perf_counter() - start)
    thread.join()
    return found


def report(quiet: Sequence[float], hostile: Sequence[float]) -> int:
    """Print the table; return 1 where the bound is passed."""
    ratio = percentile(hostile) / percentile(quiet)
    print("| beside | questions | median, ms | 99th percentile, ms |")
    print("|---|---:|---:|---:|")
    for name, found in (("ordinary questions", quiet), ("bombs", hostile)):
        median = statistics.median(found) * 1e3
        high = percentile(found) * 1e3
        print(f"| {name} | {len(found)} | {median:.1f} | {high:.1f} |")
    print(f"\nratio of the 99th percentiles: {ratio:.2f}, bound {BOUND}")
    return int(ratio >= BOUND)


def percentile(found: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return statistics.quantiles(found, n=100)[98]


if __name__ == "__main__":
    main()
