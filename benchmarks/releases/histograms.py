"""Accuracy of release strategies on histograms, as ratios to published methods.

    python -m benchmarks.releases.histograms --anchors anchors.json
    python -m benchmarks.releases.histograms --table 2d --strategies agrid,privtree

Noise is the product's own, from the operating system; each figure is the mean over
samples x runs. Constants were chosen on the rows marked with a star; the others are
reported as they came.
"""

import argparse
import os
from math import exp, log
from time import perf_counter

import numpy as np

from benchmarks.releases import anchors
from benchmarks.releases.samples import Row, error_per_question, histogram, sample
from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.charges import Charge
from privacy.counts import SparseCounts
from privacy.losses import Loss
from privacy.schema import ColumnType
from privacy.sealed import Exact
from release.contract.domain import CubeDomain, Dimension
from release.contract.sealed_cube import SealedCube
from release.cubes.strategies.registry import STRATEGIES

TUNED_ON = {"ADULT", "HEPTH", "INCOME", "STROKE", "DIAB-2D"}
LINES = (
    "ADULT",
    "HEPTH",
    "INCOME",
    "MDSALARY",
    "MEDCOST",
    "NETTRACE",
    "PATENT",
    "SEARCHLOGS",
)
PLANES = ("ADULT-2D", "DIAB-2D", "GOWALLA", "MDSALARY-OVERT", "STROKE")
SQUARE = (128, 128)
PUBLISHED = None
GRIDS = ("AGRID", "DAWA")
TABLES = {
    "1d-1e3": ([Row(name, 10**3, "0.1") for name in LINES], PUBLISHED),
    "1d-1e5": ([Row(name, 10**5, "0.1") for name in LINES], PUBLISHED),
    "1d-1e7": ([Row(name, 10**7, "0.1") for name in LINES], ("HB",)),
    "2d-1e4": ([Row(name, 10**4, "0.1", SQUARE) for name in PLANES], GRIDS),
    "2d-1e6": (
        [
            *(Row(name, 10**6, "0.1", SQUARE) for name in PLANES),
            Row("DIAB-2D", 10**5, "0.1", SQUARE),
        ],
        GRIDS,
    ),
    "3d": (
        [
            Row("DIAB-3D", 10**4, "0.1"),
            Row("DIAB-3D", 10**5, "0.1"),
            Row("DIAB-3D", 10**5, "1.0"),
        ],
        ("own-identity",),
    ),
}


def sealed(image):
    """A sealed cube of one row a unit."""
    dimensions = tuple(
        Dimension(f"d{axis}", ColumnType.INTEGER, tuple(range(side)), ordered=True)
        for axis, side in enumerate(image.shape)
    )
    flat = image.ravel()
    cells = np.flatnonzero(flat)
    raw = SparseCounts(cells.astype(np.int64), flat[cells].astype(np.int64))
    return SealedCube(CubeDomain(dimensions, bound=1), Exact(raw))


def release(name, cube, loss, parameters=None):
    """Publish once, without a ledger; returns the model."""
    strategy = STRATEGIES[name]
    parts = strategy.parts(cube.domain, loss, parameters or {})
    meter = Meter(Charge("benchmark", loss), parts, OsVectorSampler())
    return strategy.measure(cube, meter, parameters or {})


def mean_error(name, row, options, parameters=None):
    """Return the mean error per question and the mean seconds of a release."""
    image = histogram(options.data, row.data, row.shape)
    errors, seconds = [], []
    for seed in range(options.samples):
        drawn = sample(image, row.scale, seed)
        cube = sealed(drawn)
        for _ in range(options.runs):
            start = perf_counter()
            model = release(name, cube, Loss.parse(row.epsilon), parameters)
            estimate = model.estimates()
            seconds.append(perf_counter() - start)
            errors.append(error_per_question(drawn, estimate))
    return float(np.mean(errors)), float(np.mean(seconds))


def print_table(title, options):
    """Print one table: for each data set, each strategy's error, ratio and seconds.

    Errors are in records for each question; a ratio is to the smallest error among
    the published methods. Data sets that are not in the folder are left out, and those
    that a strategy was tuned on have a star.
    """
    rows, only = TABLES[title]
    records = anchors.read(options.anchors)
    only = tuple(options.against.split(",")) if options.against else only
    ratios = {name: [] for name in options.strategies}
    print(f"\n{title}: error per question in records (ratio to the least anchor)")
    for row in rows:
        if histogram(options.data, row.data, row.shape) is None:
            continue
        if options.only and row.data not in options.only:
            continue
        axes = 1 if row.data in LINES else 2
        best, bar = anchors.best_published(anchors.columns(records, row, axes), only)
        cells = []
        for name in options.strategies:
            error, seconds = mean_error(name, row, options)
            ratio = error / bar if bar else float("nan")
            ratios[name].append(ratio)
            cells.append(f"{name} {error:7.3f} ({ratio:4.2f}) {seconds:5.2f} s")
        star = "*" if row.data in TUNED_ON else " "
        anchor = f"{best} {bar:.3f}" if best else "no anchor"
        line = f"{star}{row.data:15}{row.scale:>9} e {row.epsilon}  {anchor:24}"
        print(f"{line} | {' | '.join(cells)}", flush=True)
    for name, found in ratios.items():
        kept = [ratio for ratio in found if ratio == ratio and ratio > 0]  # noqa: PLR0124 - NaN
        if kept:
            middle = exp(sum(map(log, kept)) / len(kept))
            print(f"  {name}: geometric mean {middle:.2f}, worst {max(kept):.2f}")


def arguments():
    """Return the options of the command line, with lists instead of their commas."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("CURATOR_TEST_DATA", "."))
    parser.add_argument("--anchors", help="a JSON file of records")
    parser.add_argument("--against", help="columns; the least one is the bar")
    parser.add_argument("--table", default="1d-1e3,1d-1e5,1d-1e7")
    parser.add_argument("--strategies", default="auto")
    parser.add_argument("--only", help="data sets", default="")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--samples", type=int, default=2)
    options = parser.parse_args()
    options.strategies = options.strategies.split(",")
    options.only = set(filter(None, options.only.split(",")))
    return options


if __name__ == "__main__":
    chosen = arguments()
    for table in chosen.table.split(","):
        print_table(table, chosen)
