"""How far tables of synthetic rows are from the true ones: `marginals`.

    python -m benchmarks.releases.marginal_tables --data DIR --runs 5
    python -m benchmarks.releases.marginal_tables --shares 0.3,0.5,0.7 --only chain,star

Total variation distance, the mean over all tables of one, two and three dimensions
with up to 10,000 cells. Made-up data: independent columns, a chain of them, classes
that rule all, many columns of two values, long ordered ones. `--data` names the folder
that has `adult_encoded` (Adult, 10 columns). Noise is seeded.
"""

import argparse
import csv
import gzip
import itertools
import json
from pathlib import Path

import numpy as np

from privacy.counts import SparseCounts
from privacy.schema import ColumnType
from privacy.sealed import Exact
from release.contract.domain import CubeDomain, Dimension
from release.contract.sealed_cube import SealedCube
from release.cubes.strategies.marginals.marginals import MarginalTables
from tests.support.noise.meters import epsilon, run

COLUMNS = (
    *("age", "workclass", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "hours-per-week", "income>50K"),
)
ORDERED = {"age", "education-num", "hours-per-week"}
MOST_CELLS = 10_000


def domain_of(sizes, ordered):
    """A domain of columns of numbers, one row a unit."""
    dimensions = tuple(
        Dimension(f"c{n}", ColumnType.INTEGER, tuple(range(size)), ordered=in_order)
        for n, (size, in_order) in enumerate(zip(sizes, ordered, strict=True))
    )
    return CubeDomain(dimensions, 1)


def adult(folder):
    """Adult's ten columns."""
    sizes = json.loads((folder / "adult-domain.json").read_text())
    with gzip.open(folder / "adult.csv.gz", "rt") as lines:
        rows = [[int(row[c]) for c in COLUMNS] for row in csv.DictReader(lines)]
    ordered = [column in ORDERED for column in COLUMNS]
    return np.array(rows), domain_of([sizes[c] for c in COLUMNS], ordered)


def _skewed(generator, size, lines):
    """Shares of values for each of some lines, each line in an order of its own."""
    shares = 1 / (1 + np.arange(size)) ** 1.2
    found = np.stack([generator.permutation(shares) for _ in range(lines)])
    return found / found.sum(axis=1, keepdims=True)


def _draw(generator, shares, given):
    ends = np.cumsum(shares, axis=1)[given]
    places = (generator.random((len(given), 1)) > ends).sum(axis=1)
    return np.minimum(places, shares.shape[1] - 1)


def made_up(name, count, seed=5):
    """Rows and domain of a made-up table."""
    generator = np.random.default_rng([seed, *name.encode()])
    sizes = {"wide": (2,) * 16, "long": (100, 80, 60, 8, 4)}.get(
        name, (12, 8, 6, 16, 3, 2, 20, 5, 9)
    )
    ordered = [name == "long" and size > 8 for size in sizes]
    none = np.zeros(count, dtype=np.int64)
    classes = generator.choice(5, count, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    columns = []
    for size in sizes:
        if name == "independent":
            columns.append(_draw(generator, _skewed(generator, size, 1), none))
        elif name == "chain":
            given = columns[-1] if columns else none
            shares = _skewed(generator, size, int(given.max()) + 1) ** 1.5
            shares /= shares.sum(axis=1, keepdims=True)
            columns.append(_draw(generator, shares, given))
        elif name == "long":
            middles = (classes + 0.5) / 5 * size
            near = generator.normal(middles, size / 12)
            columns.append(np.clip(near.astype(np.int64), 0, size - 1))
        else:
            columns.append(_draw(generator, _skewed(generator, size, 5), classes))
    return np.stack(columns, axis=1), domain_of(sizes, ordered)


MADE_UP = ("independent", "chain", "star", "wide", "long")


def mean_distance(rows, drawn, shape, ways):
    """Mean total variation distance of all tables of so many dimensions."""
    distances = []
    for axes in itertools.combinations(range(len(shape)), ways):
        sizes = [shape[axis] for axis in axes]
        if np.prod(sizes) > MOST_CELLS:
            continue
        one, other = (
            np.bincount(
                np.ravel_multi_index(tuple(table[:, axes].T), sizes),
                minlength=int(np.prod(sizes)),
            )
            / len(table)
            for table in (rows, drawn)
        )
        distances.append(np.abs(one - other).sum() / 2)
    return np.mean(distances)


def errors(table, loss, runs, parameters, ways=(1, 2, 3)):
    """Mean distances over some releases, one for each number of dimensions."""
    rows, domain = table
    flat = np.ravel_multi_index(tuple(rows.T), domain.shape)
    cells, counts = np.unique(flat, return_counts=True)
    cube = SealedCube(domain, Exact(SparseCounts(cells, counts)))
    found = []
    for seed in range(runs):
        model, _ = run(MarginalTables(), cube, epsilon(loss), parameters, seed=seed)
        drawn = model.synthetic(max(1_000, min(len(rows), round(model.fit.total))))
        found.append([mean_distance(rows, drawn, domain.shape, n) for n in ways])
    return np.mean(found, axis=0)


def tables(asked):
    """Yield each table with its name and size."""
    if asked.data and (not asked.only or "adult" in asked.only):
        table = adult(Path(asked.data) / "adult_encoded")
        yield "adult", len(table[0]), table
    for name in MADE_UP:
        for count in asked.counts:
            if not asked.only or name in asked.only:
                yield name, int(count), made_up(name, int(count))


def main():
    """Print a row for each table, epsilon and share."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    listed = {"type": lambda text: text.split(",")}
    parser.add_argument("--data")
    parser.add_argument("--only", default=[], **listed)
    parser.add_argument("--counts", default=["2000", "20000"], **listed)
    parser.add_argument("--epsilons", default=["0.1", "1"], **listed)
    parser.add_argument("--shares", default=[""], help="one_way_share", **listed)
    parser.add_argument("--rounds", default=[""], **listed)
    parser.add_argument("--runs", default=3, type=int)
    parser.add_argument("--ways", default=["1", "2", "3"], **listed)
    asked = parser.parse_args()
    ways = tuple(map(int, asked.ways))
    print("data rows epsilon one_way_share rounds", *(f"{n}-way" for n in ways))
    for name, count, table in tables(asked):
        settings = itertools.product(asked.epsilons, asked.shares, asked.rounds)
        for loss, share, rounds in settings:
            parameters = {"one_way_share": share} if share else {}
            parameters |= {"rounds": int(rounds)} if rounds else {}
            found = errors(table, loss, asked.runs, parameters, ways)
            figures = " ".join(f"{error:.3f}" for error in found)
            print(name, count, loss, share or "-", rounds or "-", figures, flush=True)


if __name__ == "__main__":
    main()
