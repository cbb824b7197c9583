"""How accurate n-gram releases are: frequent and random runs of MSNBC and Sepsis.

    python -m benchmarks.releases.sequences.ngrams [--runs 3] [--data FOLDER]
        [--strategy ngram|prefix_tree|auto] [--epsilons 0.1,0.5,1] [--max-length 12]

Errors are taken against whole sequences, as published figures are; coverage against
those cut to the public maximal length, which is what a release is of. Noise is the
operating system's: two runs differ.
"""

import argparse
import csv
import gzip
import os
import resource
import time
from pathlib import Path

import numpy as np

from benchmarks.releases.sequences.samples import (
    LONGEST,
    TOPS,
    Log,
    Truth,
    log_of,
    msnbc,
    random_runs,
    scores,
)
from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.charges import Charge
from privacy.losses import Loss
from release.sequences.strategies.registry import STRATEGIES

EPSILONS = "0.02,0.05,0.1,0.2,0.5,1,2,5,20"
MAX_LENGTHS = {"msnbc": 100, "sepsis": 30}
MEGA = 1024


def sepsis(folder):
    """Return the activities of each pathway, or None where the log is not at hand."""
    path = Path(folder) / "sepsis/sepsis.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter=";"))
    codes = {name: n for n, name in enumerate(sorted({r["Activity"] for r in rows}))}
    pathways = {}
    for row in sorted(rows, key=lambda own: own["Complete Timestamp"]):
        pathways.setdefault(row["Case ID"], []).append(codes[row["Activity"]])
    return log_of(list(pathways.values()), len(codes))


def published(strategy, sealed, epsilon, parameters):
    """Spend a loss as the job does, and return the model."""
    loss, own = Loss.parse(epsilon), STRATEGIES[strategy]
    parts = own.parts(sealed.domain, loss, parameters)
    meter = Meter(Charge("benchmark", loss), parts, OsVectorSampler())
    return own.measure(sealed, meter, parameters)


def cut(log, most):
    """Return the log of sequences that end at a public length."""
    kept = np.minimum(np.diff(log.starts), most)
    starts = np.concatenate([[0], np.cumsum(kept)])
    places = np.arange(starts[-1]) + np.repeat(log.starts[:-1] - starts[:-1], kept)
    return Log(log.symbols[places], starts, log.alphabet)


def covered(model, truth):
    """Return how many random and how many top runs lie in their 95 % intervals."""
    random = [
        run for n in LONGEST for run in random_runs(model.domain.symbols, n, seed=5)
    ]
    return [_inside(model, truth, runs) for runs in (random, truth.top(max(TOPS)))]


def _inside(model, truth, runs):
    told, exact = model.occurrences(runs), truth.of(runs)
    apart = np.abs([estimate.value for estimate in told] - exact)
    return float((apart <= [estimate.half_width for estimate in told]).mean())


def measured(arguments, name, log):
    """Print one line an epsilon, the mean of all runs."""
    most = arguments.max_length or MAX_LENGTHS[name]
    sealed, whole, known = log.sealed(most), Truth(log), Truth(cut(log, most))
    for epsilon in arguments.epsilons.split(","):
        rows = []
        for _ in range(arguments.runs):
            started = time.monotonic()
            model = published(arguments.strategy, sealed, epsilon, {})
            seconds = time.monotonic() - started
            own = scores(model, whole, len(log))
            rows.append(
                [
                    getattr(model, "cut", 0),
                    own.top_error,
                    *own.by_length.values(),
                    *own.hits.values(),
                    *covered(model, known),
                    seconds,
                ]
            )
        means = np.mean(rows, axis=0)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MEGA
        cells = [f"{means[0]:.0f}", *(f"{mean:.3f}" for mean in means[1:-1])]
        line = " | ".join([*cells, f"{means[-1]:.1f}", str(memory)])
        print(f"| {name} | {epsilon} | {line} |", flush=True)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("CURATOR_TEST_DATA", "."))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--strategy", default="ngram", choices=sorted(STRATEGIES))
    parser.add_argument("--epsilons", default=EPSILONS)
    parser.add_argument("--max-length", type=int, help="of all logs")
    arguments = parser.parse_args()
    names = [f"q<={n}" for n in LONGEST] + [f"hits {n}" for n in TOPS]
    heads = ["log", "epsilon", "cut", "top 200", *names, "covered", "top covered"]
    print(f"| {' | '.join([*heads, 's', 'MB'])} |")
    print("|---" * (len(heads) + 2) + "|")
    for name, log in (
        ("msnbc", msnbc(arguments.data)),
        ("sepsis", sepsis(arguments.data)),
    ):
        if log is not None:
            measured(arguments, name, log)


if __name__ == "__main__":
    main()
