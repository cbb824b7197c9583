"""How far each strategy of sequences errs, and what ``auto`` picks, by shape.

    python -m tests.statistical.sequence_picks
    python -m tests.statistical.sequence_picks --units 1500

The error is the geometric mean of two: mean relative errors of the 100 most frequent
runs of 2 to 5 symbols, and of 1,000 random runs of 1 to 4; relative to the true count,
or to a thousandth of the units, whichever is more. Runs are of the first h symbols.
"""

import argparse
from zlib import crc32

import numpy as np

from tests.statistical.sequence_coverage import released
from tests.statistical.sequence_logs import KEPT_ASIDE, SHAPES, made

STRATEGIES = ("prefix_tree", "ngram", "auto")  # in the order of the docs' table
EPSILONS = ("0.1", "0.5", "1", "2")
TOP, DRAWN, LONGEST = 100, 1_000, 5
LEAST_SHARE = 0.001
LEAST = {"tiny"}  # of too few units to compare anything


class Runs:
    """Frequent and random runs of a log, with how often they occur."""

    def __init__(self, log, most):
        self._alphabet, self._rows = log.alphabet, log.cut(most).astype(np.int64)
        self._least = max(1.0, LEAST_SHARE * len(log))
        self._counts = {n: self._counted(n) for n in range(1, min(LONGEST, most) + 1)}
        self.top, self.drawn = self._top(), self._drawn()

    def _counted(self, length):
        last = self._rows.shape[1] - length + 1
        codes = np.zeros((len(self._rows), last), dtype=np.int64)
        inside = np.ones(codes.shape, dtype=bool)
        for step in range(length):
            symbols = self._rows[:, step : step + last]
            inside &= symbols >= 0
            codes = codes * self._alphabet + np.maximum(symbols, 0)
        found = np.unique(codes[inside], return_counts=True)
        return dict(zip(*(column.tolist() for column in found), strict=True))

    def _top(self):
        found = [
            (-count, length, code)
            for length, counts in self._counts.items()
            if length > 1
            for code, count in counts.items()
        ]
        return [self._run(code, length) for _, length, code in sorted(found)[:TOP]]

    def _run(self, code, length):
        places = self._alphabet ** np.arange(length - 1, -1, -1)
        return tuple((code // places % self._alphabet).tolist())

    def _drawn(self):
        dice = np.random.default_rng(4)
        sizes = dice.integers(1, LONGEST, DRAWN).tolist()
        return [tuple(dice.integers(0, self._alphabet, n).tolist()) for n in sizes]

    def _exact(self, run):
        code = 0
        for symbol in run:
            code = code * self._alphabet + symbol
        return self._counts[len(run)].get(code, 0)

    def errors(self, model):
        """Return mean relative errors: of frequent runs, and of random ones."""
        return [self._error(model, runs) for runs in (self.top, self.drawn)]

    def _error(self, model, runs):
        exact = np.array([self._exact(run) for run in runs], dtype=float)
        told = np.array([estimate.value for estimate in model.occurrences(runs)])
        return float((np.abs(told - exact) / np.maximum(exact, self._least)).mean())


def measured(log, most, strategy, epsilon, releases):
    """Return mean errors of frequent and random runs, and what was picked."""
    runs, found, picked = Runs(log, most), [], []
    for number in range(releases):
        seed = crc32(f"{most} {len(log)} {strategy} {epsilon} {number}".encode())
        model = released(log, most, strategy, epsilon, seed).model
        found.append(runs.errors(model))
        picked.append(getattr(model, "strategy", strategy))
    return np.mean(found, axis=0), picked


def line(log, most, shape, epsilon, releases):
    """Return a row of the table, and auto's error over the better one's."""
    cells, whole, picked = [], {}, []
    for strategy in STRATEGIES:
        errors, picked = measured(log, most, strategy, epsilon, releases)
        whole[strategy] = float(np.sqrt(errors.prod()))
        cells.append(f"{errors[0]:.3f}, {errors[1]:.3f}")
    ratio = whole["auto"] / min(whole[one] for one in STRATEGIES if one != "auto")
    names = ", ".join(sorted(set(picked)))
    row = f"| {shape} | {epsilon} | {' | '.join(cells)} | {names} | {ratio:.2f} |"
    return row, ratio


def main(arguments=None):
    """Print a table: a line a shape and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=5_000)
    parser.add_argument("--releases", type=int, default=2)
    parser.add_argument("--epsilons", default=",".join(EPSILONS))
    parser.add_argument("--shapes", default=";".join([*SHAPES, *KEPT_ASIDE]))
    chosen = parser.parse_args(arguments)
    print(f"| shape | epsilon | {' | '.join(STRATEGIES)} | picked | over the better |")
    print(f"|{'---|' * (len(STRATEGIES) + 4)}")
    ratios = []
    for shape in chosen.shapes.split(";"):
        if shape in LEAST:
            continue
        log, most = made(shape, chosen.units)
        for epsilon in chosen.epsilons.split(","):
            row, ratio = line(log, most, shape, epsilon, chosen.releases)
            ratios.append(ratio)
            print(row, flush=True)
    print(f"auto over the better: {np.max(ratios):.2f} at most, {np.mean(ratios):.2f}")


if __name__ == "__main__":
    main()
