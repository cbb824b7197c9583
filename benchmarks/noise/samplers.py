"""Seconds that a vector of exact noise takes, beside OpenDP's sampler on the same day.

Run: ``python -m benchmarks.noise.samplers [--cells 1000000] [--rounds 5]``. Both draw
discrete Laplace noise at the same scale, OpenDP a tenth of the cells, its time taken
ten times. ``elapsed`` is by the clock; the ratio is of processor seconds, which other
work on the machine disturbs less, median to median. ``tables`` is what a law costs
once, when its scale is first used. A second table times the samplers that sparse
domains, choices and trees need.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from mechanisms.samplers.enclosures import Decay
from mechanisms.samplers.geometric import Geometric
from mechanisms.samplers.laplace import OpenDPSampler
from mechanisms.samplers.vectors import OsVectorSampler

SCALES = {
    "0.5": 0.5,
    "1": 1.0,
    "10": 10.000000000000002,
    "1,000": 1000.0,
    "2^20": 2.0**20,
    "2^40": 2.0**40,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(f"{asked.cells:,} draws of discrete Laplace noise\n")
    print(
        "| scale | elapsed, s | ours, cpu s | tables, cpu s | OpenDP, cpu s | ratio |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for name, scale in SCALES.items():
        print(row(name, scale, asked.cells, asked.rounds))
    print("\n| sampler | median, s |\n|---|---:|")
    for name, draw in others().items():
        print(f"| {name} | {median(draw, asked.rounds):.4f} |")


def row(name: str, scale: float, cells: int, rounds: int) -> str:
    """Return one line of the first table."""
    ours, theirs = OsVectorSampler(), OpenDPSampler()
    exact, zeros = Fraction(scale), [0] * (cells // 10)
    tables = processor_seconds(lambda: Geometric(Decay(exact)), 3)
    ours.discrete_laplace(1, exact)
    elapsed = median(lambda: ours.discrete_laplace(cells, exact), rounds)
    own = processor_seconds(lambda: ours.discrete_laplace(cells, exact), rounds)
    other = 10 * processor_seconds(lambda: theirs.discrete_laplace(zeros, scale), 3)
    return (
        f"| {name} | {elapsed:.3f} | {own:.3f} | {tables:.3f} | {other:.2f}"
        f" | {other / own:.0f} |"
    )


def others() -> dict[str, Callable[[], object]]:
    """Return what else is timed."""
    sampler, ten = OsVectorSampler(), Fraction(10)
    scores = np.arange(1000)
    return {
        "which of 10^12 cells reach 140 at scale 10 (about 435,000)": lambda: (
            sampler.positions(10**12, 140, ten)
        ),
        "how many of 10^12 cells do": lambda: sampler.binomial(10**12, 140, ten),
        "a choice among 1,000 scores 0..999 at scale 10": lambda: sampler.choose(
            scores, ten
        ),
    }


def median(work: Callable[[], object], rounds: int) -> float:
    """Return the median of some rounds, in seconds by the clock."""
    return statistics.median(lap(work, time.perf_counter) for _ in range(rounds))


def processor_seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median of some rounds, in seconds of this process alone."""
    return statistics.median(lap(work, time.process_time) for _ in range(rounds))


def lap(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return how long a piece of work takes by a clock."""
    start = clock()
    work()
    return clock() - start


if __name__ == "__main__":
    main()
