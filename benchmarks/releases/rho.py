"""Releases that are paid in rho: Gaussian noise beside Laplace noise of that price.

    python -m benchmarks.releases.rho --data DIR
    python -m benchmarks.releases.rho --data DIR --tables marginals --rhos 0.015

Of each rho, what Gaussian noise errs by, and what Laplace noise does at the epsilon
that the rho pays for (epsilon tanh(epsilon/2), which releases were charged before).
Cubes: error per question in records, as in ``benchmarks.releases.histograms``, and with
D = 9 where each person is in up to nine cells (`people`). Tables: mean total variation,
as in ``benchmarks.releases.marginal_tables``. Sequences: relative error of runs of at
most four symbols, and of the 200 most frequent, as in
``benchmarks.releases.sequences.accuracy``. Noise is the product's own.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.releases.histograms import SQUARE, sealed
from benchmarks.releases.marginal_tables import adult, made_up, mean_distance
from benchmarks.releases.samples import error_per_question, histogram, sample
from benchmarks.releases.sequences.samples import Truth, msnbc, scores
from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler
from mechanisms.scales.conversions.pure import pure_loss_floor
from mechanisms.scales.noises import GAUSSIAN, LAPLACE
from privacy.charges import Charge
from privacy.counts import SparseCounts
from privacy.losses import Loss
from privacy.measures import PURE, zcdp
from privacy.sealed import Exact
from release.contract.sealed_cube import SealedCube
from release.cubes.strategies.registry import RHO_STRATEGIES, STRATEGIES
from release.sequences.strategies.registry import RHO_STRATEGIES as RHO_SEQUENCES
from release.sequences.strategies.registry import STRATEGIES as SEQUENCES

RHO = zcdp(Loss.parse("0.000001"))
CUBES = (
    *(("ADULT", None, scale) for scale in (10**3, 10**5, 10**7)),
    *(("INCOME", None, scale) for scale in (10**3, 10**5, 10**7)),
    *(("STROKE", SQUARE, scale) for scale in (10**4, 10**6)),
    *(("DIAB-2D", SQUARE, scale) for scale in (10**4, 10**6)),
)
STEPS = {"people": 9, "rows": 1}


def published(kinds, name, secret, rho, parameters=None):
    """Return models for a rho, and for the epsilon that it pays, of Laplace noise."""
    pure, gaussian = kinds
    found = []
    for strategy, loss, measure, noise in (
        (gaussian[name], rho, RHO, GAUSSIAN),
        (pure[name], pure_loss_floor(rho), PURE, LAPLACE),
    ):
        parts = strategy.parts(secret.domain, loss, parameters or {})
        charge = Charge("benchmark", loss)
        meter = Meter(charge, parts, OsVectorSampler(), measure, noise)
        found.append(strategy.measure(secret, meter, parameters or {}))
    return found


def print_cubes(options, rho):
    """Print a row a data set: each strategy's errors, Gaussian and Laplace."""
    for name, shape, scale in CUBES:
        image = histogram(options.data, name, shape)
        if image is None or (options.lines and shape is not None):
            continue
        for kind, bound in STEPS.items():
            cells = []
            for strategy in options.strategies:
                found = []
                for seed in range(options.runs):
                    drawn = sample(image, scale, seed)
                    cube = sealed(drawn)
                    domain = replace(cube.domain, bound=bound, in_cell=1)
                    cube = SealedCube(domain, cube.sparse())
                    both = published((STRATEGIES, RHO_STRATEGIES), strategy, cube, rho)
                    found.append(
                        [error_per_question(drawn, model.estimates()) for model in both]
                    )
                ours, before = np.mean(found, axis=0)
                cells.append(f"{strategy} {ours:.3f} {before:.3f} {ours / before:.2f}")
            print(
                f"cubes {kind} {name} {scale} rho {rho} | {' | '.join(cells)}",
                flush=True,
            )


def print_tables(options, rho):
    """Print tables' total variations in one, two and three ways, by rounds."""
    for name in options.only:
        if name == "adult":
            table = adult(Path(options.data) / "adult_encoded")
        else:
            table = made_up(name, 20_000)
        print_table(options, rho, name, table)


def print_table(options, rho, name, table):
    """Print one table's rows."""
    rows, domain = table
    flat = np.ravel_multi_index(tuple(rows.T), domain.shape)
    cube = SealedCube(domain, Exact(SparseCounts(*np.unique(flat, return_counts=True))))
    for rounds in options.rounds:
        found = []
        for _ in range(options.runs):
            both = published(
                (STRATEGIES, RHO_STRATEGIES), "marginals", cube, rho, {"rounds": rounds}
            )
            found.append([_distances(rows, domain, model) for model in both])
        for kind, numbers in zip(
            ("gaussian", "laplace"), np.mean(found, axis=0), strict=True
        ):
            shown = " ".join(f"{number:.4f}" for number in numbers)
            print(
                f"marginals {name} rho {rho} rounds {rounds} {kind} | {shown}",
                flush=True,
            )


def _distances(rows, domain, model):
    drawn = model.synthetic(max(1_000, min(len(rows), round(model.fit.total))))
    return [mean_distance(rows, drawn, domain.shape, ways) for ways in (1, 2, 3)]


def print_sequences(options, rho):
    """Print MSNBC's errors of both strategies and of auto."""
    log = msnbc(options.data)
    for strategy, cut in (("prefix_tree", 12), ("ngram", 20), ("auto", 20)):
        secret, truth = log.sealed(cut), Truth(log.first(cut))
        found = []
        for _ in range(options.runs):
            both = published((SEQUENCES, RHO_SEQUENCES), strategy, secret, rho)
            told = [scores(model, truth, len(log)) for model in both]
            found.append([[one.by_length[4], one.top_error] for one in told])
        for kind, numbers in zip(
            ("gaussian", "laplace"), np.mean(found, axis=0), strict=True
        ):
            shown = " ".join(f"{number:.4f}" for number in numbers)
            print(f"sequences msnbc rho {rho} {strategy} {kind} | {shown}", flush=True)


PRINTED = {
    "cubes": print_cubes,
    "marginals": print_tables,
    "sequences": print_sequences,
}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    listed = {"type": lambda text: text.split(",")}
    parser.add_argument("--data", default=os.environ.get("CURATOR_TEST_DATA", "."))
    parser.add_argument("--tables", default=list(PRINTED), **listed)
    parser.add_argument("--rhos", default=["0.005", "0.125"], **listed)
    parser.add_argument("--strategies", default=["cells", "hb", "auto"], **listed)
    parser.add_argument(
        "--rounds", default=[0, 4, 12], type=lambda t: [*map(int, t.split(","))]
    )
    parser.add_argument("--only", default=["adult"], help="tables", **listed)
    parser.add_argument("--lines", action="store_true", help="cubes of one dimension")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    for table in options.tables:
        for rho in options.rhos:
            PRINTED[table](options, Loss.parse(rho))


if __name__ == "__main__":
    main()
