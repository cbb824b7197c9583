"""Accuracy, time and memory of sequence releases on MSNBC and Sepsis.

    python -m benchmarks.releases.sequences.accuracy
    python -m benchmarks.releases.sequences.accuracy --strategies prefix_tree --curve
    python -m benchmarks.releases.sequences.accuracy --whole

Runs are counted in the first h symbols of each unit, as releases promise; ``--whole``
counts them in whole sequences, as the anchors do.
Relative errors are of 2,000 random runs of 1 to q symbols, divided by the true count or
a thousandth of the units, whichever is more; hits and the error of the top are of the
truly most frequent runs of 2 to 5 symbols. ``zero`` answers 0 to everything. Noise is
the product's own. Anchors are our reading of the published methods, for h = 12.
"""

import argparse
import os
import resource
from time import perf_counter

import numpy as np

from benchmarks.releases.sequences.samples import (
    LONGEST,
    Scores,
    Truth,
    msnbc,
    random_runs,
    relative_error,
    scores,
    sepsis,
)
from mechanisms.measuring.meter import Meter
from mechanisms.samplers.vectors import OsVectorSampler
from privacy.charges import Charge
from privacy.losses import Loss
from release.sequences.strategies.registry import STRATEGIES

EPSILONS = ("0.1", "0.5", "1")
DECADES = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10")
CUTS = {"prefix_tree": {"msnbc": 12, "sepsis": 30}}
LONG = {"msnbc": 20, "sepsis": 30}
LOGS = {"msnbc": msnbc, "sepsis": sepsis}
ANCHORS = {  # prefix tree, h = 12, on MSNBC: errors by q, hits, error of the top 200
    "0.1": ((0.436, 0.250, 0.169, 0.116), (0.880, 0.877, 0.820), 0.583),
    "0.5": ((0.365, 0.206, 0.139, 0.098), (0.900, 0.900, 0.863), 0.504),
    "1": ((0.340, 0.191, 0.128, 0.090), (0.900, 0.900, 0.872), 0.473),
}
HEAD = (
    "| log | epsilon | release | q<=2 | q<=4 | q<=6 | q<=8 | top 50 | 100 | 200 "
    "| error of top 200 | inside | of top | seconds | first answer |\n"
    f"|{'---|' * 15}"
)


def publish(strategy, sealed, epsilon, parameters=None):
    """Measure a sealed log as a job does."""
    own, loss, parameters = STRATEGIES[strategy], Loss.parse(epsilon), parameters or {}
    parts = own.parts(sealed.domain, loss, parameters)
    meter = Meter(Charge("benchmark", loss), parts, OsVectorSampler())
    return own.measure(sealed, meter, parameters)


def measured(strategy, sealed, epsilon, parameters=None):
    """Return a model, seconds to publish it, and seconds until its first answer."""
    start = perf_counter()
    model = publish(strategy, sealed, epsilon, parameters)
    done = perf_counter()
    model.occurrences([(0,)])
    return model, done - start, perf_counter() - done


def mean_scores(all_scores):
    """Return the mean of each score over several releases."""
    return Scores(
        {q: np.mean([s.by_length[q] for s in all_scores]) for q in LONGEST},
        {k: np.mean([s.hits[k] for s in all_scores]) for k in all_scores[0].hits},
        np.mean([s.top_error for s in all_scores]),
        np.mean([s.covered for s in all_scores]),
        np.mean([s.top_covered for s in all_scores]),
    )


def line(name, epsilon, release, told, seconds=("", "")):
    """Return a row of the table: one release's scores, and its times in seconds."""
    numbers = [*told.by_length.values(), *told.hits.values(), told.top_error]
    numbers += [told.covered, told.top_covered]
    shown = " | ".join(f"{number:.3f}" for number in numbers)
    return f"| {name} | {epsilon} | {release} | {shown} | {' | '.join(seconds)} |"


def print_zero(name, log, truth):
    """Print the relative errors of answering 0 to every question."""
    errors = []
    for longest in LONGEST:
        runs = random_runs(log.alphabet, longest)
        errors.append(relative_error(np.zeros(len(runs)), truth.of(runs), len(log)))
    shown = " | ".join(f"{error:.3f}" for error in errors)
    print(f"| {name} | any | zero | {shown} | 0 | 0 | 0 | 1 | | | | |")


def print_anchor(epsilon):
    """Print the scores that the published method reaches on MSNBC at this epsilon."""
    errors, hits, top = ANCHORS[epsilon]
    shown = " | ".join(f"{number:.3f}" for number in (*errors, *hits, top))
    print(f"| msnbc | {epsilon} | anchor | {shown} | | | | |")


def print_log(name, log, told):
    """Print the rows of one log: each strategy at each epsilon, as means over the runs.

    Args:
        name: What the table calls the log.
        log: The sequences.
        told: The options of the command line.
    """
    for strategy in told.strategies.split(","):
        cut = told.max_length or CUTS.get(strategy, LONG)[name]
        sealed = log.sealed(cut)
        truth = Truth(log if told.whole else log.first(cut))
        print_zero(name, log, truth)
        for epsilon in DECADES if told.curve else told.epsilons.split(","):
            if name == "msnbc" and epsilon in ANCHORS and told.whole:
                print_anchor(epsilon)
            found, seconds = [], []
            for _ in range(told.runs):
                model, *spent = measured(strategy, sealed, epsilon)
                found.append(scores(model, truth, len(log)))
                seconds.append(spent)
            spent = [f"{second:.2f}" for second in np.mean(seconds, axis=0)]
            release = f"{strategy}, h = {cut}"
            print(line(name, epsilon, release, mean_scores(found), spent), flush=True)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--logs", default=",".join(LOGS))
    parser.add_argument("--max-length", type=int, help="the cut; else each one's own")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--whole", action="store_true", help="runs of whole sequences")
    parser.add_argument("--curve", action="store_true", help="three decades of epsilon")
    parser.add_argument("--data", default=os.environ.get("CURATOR_TEST_DATA", "."))
    told = parser.parse_args()
    print(HEAD)
    for name in told.logs.split(","):
        log = LOGS[name](told.data)
        if log is None:
            print(f"{name} is not at hand: no lines")
        else:
            print_log(name, log, told)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory, all of it: {peak:,.0f} MB")


if __name__ == "__main__":
    main()
