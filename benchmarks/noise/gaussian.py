"""Seconds that a vector of exact Gaussian noise takes, beside OpenDP's sampler.

Run: ``python -m benchmarks.noise.gaussian [--cells 1000000] [--rounds 5]``. Both draw
discrete Gaussian noise of the same scale, OpenDP a hundredth of the cells, its time
taken a hundred times. Times are of the processor, the ratio is median to median.
``alike`` is the p-value of a chi-squared test that both samples have one law.
"""

import argparse
import os
from collections.abc import Callable
from fractions import Fraction
from typing import cast

import numpy as np
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian
from opendp.metrics import l2_distance
from scipy.stats import chi2_contingency, norm

from benchmarks.noise.samplers import processor_seconds
from mechanisms.samplers.gaussian import gaussian
from privacy.counts import IntArray

SCALES = {
    "0.5": 0.5,
    "1": 1.0,
    "10": 10.0,
    "1,000": 1000.0,
    "2^20": 2.0**20,
    "2^40": 2.0**40,
}
PARTS = 100


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(f"{asked.cells:,} draws of discrete Gaussian noise\n")
    print("| scale | ours, cpu s | OpenDP, cpu s | ratio | alike |")
    print("|---|---:|---:|---:|---:|")
    for name, scale in SCALES.items():
        print(row(name, scale, asked.cells, asked.rounds))


def row(name: str, scale: float, cells: int, rounds: int) -> str:
    """Return one line of the table."""
    variance, theirs = Fraction(scale) ** 2, of_opendp(scale)
    zeros = [0] * (cells // PARTS)
    gaussian(1, variance, os.urandom)  # its tables
    own = processor_seconds(lambda: gaussian(cells, variance, os.urandom), rounds)
    other = PARTS * processor_seconds(lambda: theirs(zeros), 3)
    p_value = alike(
        gaussian(len(zeros), variance, os.urandom), np.array(theirs(zeros)), scale
    )
    return f"| {name} | {own:.3f} | {other:.1f} | {other / own:.0f} | {p_value:.2f} |"


def of_opendp(scale: float) -> Callable[[list[int]], list[int]]:
    """Return OpenDP's measurement of vectors."""
    domain = vector_domain(atom_domain(T="i64"))
    return cast(
        "Callable[[list[int]], list[int]]",
        make_gaussian(domain, l2_distance(T="f64"), scale=scale),
    )


def alike(one: IntArray, other: IntArray, scale: float) -> float:
    """Return the p-value of two samples' counts in bins of about equal weight."""
    cuts = np.unique(np.round(norm.ppf(np.linspace(0.02, 0.98, 25)) * scale))
    counts = np.array(
        [
            np.bincount(np.searchsorted(cuts, some), minlength=len(cuts) + 1)
            for some in (one, other)
        ]
    )
    return float(chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue)


if __name__ == "__main__":
    main()
