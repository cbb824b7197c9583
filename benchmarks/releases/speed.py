"""How long publishing takes, and how much memory, by strategy and number of cells.

    python -m benchmarks.releases.speed [--only published|curves]

``published``: whole runs of ``curator release publish`` on a real installation: read
the rows, charge, measure, write and sign the files; what a command costs that does
nothing stands first. ``curves``: the strategy alone,
raw counts in, estimates out, over three decades. Each line is a process of its own:
seconds by the clock, seconds of all its processors, and its peak memory.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.releases.cancer import NAMES, PATIENTS, SHAPE, registry
from benchmarks.releases.histograms import release
from privacy.counts import SparseCounts
from privacy.losses import Loss
from privacy.schema import ColumnType
from privacy.sealed import Exact
from release.contract.domain import CubeDomain, Dimension
from release.contract.sealed_cube import SealedCube

ROWS = 10**6
SIDES = {"a": 100, "b": 100, "c": 1_000, "d": 1_000, "e": 1_000, "f": 1_000}
PUBLISHED = (
    ("registry", NAMES, "cells"),
    ("registry", NAMES, "dpcube"),
    ("registry", NAMES, "sparse_cells"),
    ("registry", NAMES, "auto"),
    ("points", ("a", "b", "c"), "cells"),
    ("points", ("a", "b", "c"), "auto"),
    ("points", ("c", "d", "e", "f"), "sparse_cells"),
)
CURVES = {
    "cells": ((10, 10, 100), (10, 100, 100), (100, 100, 100), (100, 100, 1_000)),
    "hb": ((10_000,), (100_000,), (1_000_000,), (10_000_000,)),
    "agrid": ((100, 100), (100, 1_000), (1_000, 1_000), (1_000, 10_000)),
    "dpcube": ((10, 10, 100), (10, 100, 100), (100, 100, 100), (100, 100, 1_000)),
    "privtree": ((10, 10, 100), (10, 100, 100), (100, 100, 100), (100, 100, 1_000)),
    "auto": ((10, 10, 100), (10, 100, 100), (100, 100, 100), (100, 100, 1_000)),
    "sparse_cells": (
        (100, 100, 100),
        (1_000,) * 3,
        (1_000, 1_000, 10**5),
        (1_000,) * 4,
    ),
}
COLUMNS = (
    "cells | rows | seconds | of processors | peak MB |\n|---|---|---|---|---|---|"
)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("published", "curves"))
    parser.add_argument("--curve", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.curve:
        _measure_one(json.loads(told.curve))
        return
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    if told.only != "curves":
        print_published()
    if told.only != "published":
        print_curves()


def print_published():
    """Print seconds and peak memory, in MB, of whole publishing commands."""
    print(f"\n| curator release publish | {COLUMNS}")
    with tempfile.TemporaryDirectory(prefix="curator-speed-") as place:
        environment = _installation(Path(place))
        nothing = ["-m", "server.main", "release", "key"]
        _print_line("the command itself (release key)", ((), 0), nothing, environment)
        for number, (table, names, strategy) in enumerate(PUBLISHED):
            spec = Path(place) / f"cube{number}.json"
            spec.write_text(json.dumps(_spec(f"cube{number}", table, names, strategy)))
            sides = SHAPE if table == "registry" else [SIDES[name] for name in names]
            rows = PATIENTS if table == "registry" else ROWS
            words = ["-m", "server.main", "release", "publish", str(spec), "--json"]
            _print_line(strategy, (sides, rows), words, environment)


def print_curves():
    """Print seconds and peak memory, in MB, of each strategy by number of cells."""
    print(f"\n| strategy alone | {COLUMNS}")
    for strategy, shapes in CURVES.items():
        for shape in shapes:
            case = json.dumps({"strategy": strategy, "shape": shape})
            words = ["-m", "benchmarks.releases.speed", "--curve", case]
            _print_line(strategy, (shape, ROWS), words, dict(os.environ))


def _print_line(name, case, words, environment):
    shape, rows = case
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, *words], env=environment, stdout=said, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        words = said.read().decode()
    if process.returncode:
        print(f"| {name} | {np.prod(shape, dtype=object):,} | failed: {words[-300:]} |")
        return
    memory, processor = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
    if "{" in words and '"strategy_seconds"' in words:
        own = json.loads(words)
        seconds, processor = own["strategy_seconds"], own["processor"]
    print(
        f"| {name} | {np.prod(shape, dtype=object):,} | {rows:,} | {seconds:.1f} | "
        f"{processor:.1f} | {memory:,.0f} |",
        flush=True,
    )


def _measure_one(case):
    """Run one strategy in this process; the parent reads its peak memory."""
    shape = tuple(case["shape"])
    cube = _cube(shape)
    clock, processor = time.perf_counter(), time.process_time()
    model = release(case["strategy"], cube, Loss.parse("1"), {})
    if case["strategy"] != "sparse_cells":
        model.estimates()
    print(
        json.dumps(
            {
                "strategy_seconds": time.perf_counter() - clock,
                "processor": time.process_time() - processor,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
        )
    )


def _cube(shape):
    """A sealed cube of ROWS patients in a few clusters."""
    places = [_clustered(side, axis) for axis, side in enumerate(shape)]
    flat = np.ravel_multi_index(tuple(places), shape)
    cells, counts = np.unique(flat, return_counts=True)
    dimensions = tuple(
        Dimension(f"d{axis}", ColumnType.INTEGER, tuple(range(side)), ordered=True)
        for axis, side in enumerate(shape)
    )
    raw = SparseCounts(cells.astype(np.int64), counts.astype(np.int64))
    return SealedCube(CubeDomain(dimensions, bound=1), Exact(raw))


def _clustered(side, axis):
    """Half of the rows evenly, half around one place."""
    dice = np.random.default_rng(axis)
    spread = np.where(np.arange(ROWS) % 2, 10.0, 0.05)
    drawn = (dice.normal(0.3, spread) % 1.0 * side).astype(np.int64)
    return np.minimum(drawn, side - 1)


def _installation(folder):
    """Make an installation with both tables loaded; return its environment."""
    image = registry()
    cells = np.repeat(np.flatnonzero(image), image.ravel()[image.ravel() > 0])
    _write(folder / "registry.csv", NAMES, np.unravel_index(cells, SHAPE))
    points = [_clustered(side, axis) for axis, side in enumerate(SIDES.values())]
    _write(folder / "points.csv", tuple(SIDES), points)
    tables = {"registry": dict(zip(NAMES, SHAPE, strict=True)), "points": SIDES}
    (folder / "clinic.yaml").write_text(_manifest(tables))
    environment = {
        **os.environ,
        "CURATOR_DATA": str(folder / "data"),
        "CURATOR_ANCHOR": str(folder / "anchor" / "anchor"),
        "CURATOR_IMPORT": str(folder),
        "CURATOR_LOG_LEVEL": "warning",
    }
    for words in (
        ("init", "--single-custodian"),
        ("dataset", "load", str(folder / "clinic.yaml"), "--json"),
    ):
        subprocess.run(
            [sys.executable, "-m", "server.main", *words],
            env=environment,
            capture_output=True,
            check=True,
        )
    return environment


def _write(path, names, columns):
    rows = np.stack([np.arange(len(columns[0])), *columns], axis=1)
    header = ",".join(("patient_id", *names))
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=header, comments="")


def _manifest(tables):
    lines = [
        "version: 1",
        "population: {id: people, unit: patient, unit_type: integer,",
        '  epsilon_cap: "100", source: benchmark}',
        "dataset: clinic",
        "snapshot_date: 2024-12-31",
        "tables:",
    ]
    for table, sides in tables.items():
        lines += [
            f"- name: {table}",
            f"  files: [{table}.csv]",
            "  unit_column: patient_id",
            "  max_rows_per_unit: 1",
            "  source: benchmark",
            "  columns:",
            "  - {name: patient_id, type: integer, nullable: false}",
        ]
        lines += [
            f"  - {{name: {name}, type: integer, nullable: false, "
            f"domain: {{min: 0, max: {side - 1}}}, source: benchmark}}"
            for name, side in sides.items()
        ]
    return "\n".join(lines) + "\n"


def _spec(name, table, columns, strategy):
    return {
        "release": {
            "name": name,
            "dataset": "clinic",
            "kind": "cube",
            "strategy": strategy,
            "dimensions": [{"column": column} for column in columns],
            "from": table,
            "count": "rows",
            "epsilon": "0.5",
            "readers": "public",
        }
    }


if __name__ == "__main__":
    main()
