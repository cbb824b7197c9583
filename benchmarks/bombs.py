"""A victim's latency while another client sends two hundred hostile texts.

Run: ``python -m benchmarks.bombs [--rounds 3]``. Three kinds of stretches alternate on
one server with slots off: the victim is alone, beside a client that sends ordinary
questions, and beside one that sends as many bombs. Prints the victim's median and 99th
percentile in each; exits 1 where bombs make its 99th percentile twice that beside
ordinary questions, or more. (A second client of any kind takes its share of the cores.)
"""

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from tests.support.data.bombs import BOMBS
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_process,
)

BOUND = 2.0
CHUNKS = 8  # quiet and hostile stretches of one round
ALONE, BESIDE, ATTACKED = "alone", "beside ordinary questions", "beside bombs"
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
            sys.exit(report(alternated(victim, other, rounds)))


def alternated(
    victim: httpx.Client, other: httpx.Client, rounds: int
) -> dict[str, list[float]]:
    """Return the victim's seconds in each kind of stretch."""
    plain = [ORDINARY.format(age=number % 100) for number in range(len(BOMBS))]
    found: dict[str, list[float]] = {ALONE: [], BESIDE: [], ATTACKED: []}
    for _ in range(rounds):
        for chunk in range(CHUNKS):
            found[ALONE] += [asked(victim) for _ in range(len(plain) // CHUNKS)]
            found[BESIDE] += beside(victim, other, plain[chunk::CHUNKS])
            found[ATTACKED] += beside(victim, other, BOMBS[chunk::CHUNKS])
    return found


def asked(victim: httpx.Client) -> float:
    """Return the seconds that one question of the victim takes."""
    start = time.perf_counter()
    ask(victim, epsilon="0.001").raise_for_status()
    return time.perf_counter() - start


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
        found.append(asked(victim))
    thread.join()
    return found


def report(found: Mapping[str, Sequence[float]]) -> int:
    """Print the table; return 1 where the bound is passed."""
    print("| the victim is | questions | median, ms | 99th percentile, ms |")
    print("|---|---:|---:|---:|")
    for name, seconds in found.items():
        median, high = statistics.median(seconds) * 1e3, percentile(seconds) * 1e3
        print(f"| {name} | {len(seconds)} | {median:.1f} | {high:.1f} |")
    ratio = percentile(found[ATTACKED]) / percentile(found[BESIDE])
    print(f"\nratio of the 99th percentiles: {ratio:.2f}, bound {BOUND}")
    return int(ratio >= BOUND)


def percentile(found: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return statistics.quantiles(found, n=100)[98]


if __name__ == "__main__":
    main()
