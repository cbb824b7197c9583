"""Which cubes are held to 93 % in every class of question; the whole list is a command.

Run: ``python -m tests.statistical.cube_coverage [--runs 60]`` (some 20 minutes of one
core). Prints each class's coverage and its bar; exit code 1 where one is below.
"""

import argparse
import sys
from collections import Counter
from functools import cache
from math import sqrt

from tests.support.data.coverages import SHAPES, image_of, measure

LEAST = 0.93
DEVIATIONS = 4.9
"""Of a normal variable, for one in a million."""

GATE = (
    ("plane", "agrid", 20_000, "0.3", 1, "spiky"),
    ("plane", "dpcube", 20_000, "0.5", 2, "skewed"),
    ("plane", "privtree", 20_000, "0.3", 1, "striped"),
    ("line", "pthb", 20_000, "0.3", 2, "heaped"),
    ("line", "dawa", 20_000, "0.5", 1, "clustered"),
    ("line", "hb", 20_000, "3", 1, "spiky"),
    ("plane", "cells", 3_000, "0.5", 1, "sparse"),
    ("plane", "marginals", 20_000, "1", 1, "diagonal"),
    ("cube", "auto", 300, "1", 1, "heaped"),
)
LONG = (
    ("long", "auto", 50_000, "0.3", 1, "tens"),
    ("long", "dpcube", 50_000, "1", 1, "tens"),
    ("long", "privtree", 50_000, "1", 1, "tens"),
    ("long", "agrid", 50_000, "0.3", 1, "tens"),
    ("long", "agrid", 20_000, "0.3", 1, "fives"),
    ("long", "agrid", 20_000, "0.3", 1, "weekdays"),
    ("long", "auto", 5_000, "1", 1, "fives"),
)
"""Settings of many cut parts whose counts all lie at the same end."""
"""Domain, strategy, total, epsilon, D, and the shape of the data: a strategy each."""

WHOLE = (
    *GATE,
    *LONG,
    ("plane", "agrid", 300, "1", 1, "heaped"),
    ("plane", "agrid", 300, "1", 1, "uniform"),
    ("plane", "agrid", 20_000, "0.1", 3, "clustered"),
    ("cube", "agrid", 20_000, "0.5", 2, "skewed"),
    ("plane", "dpcube", 300, "1", 1, "sparse"),
    ("plane", "dpcube", 20_000, "0.5", 1, "heaped"),
    ("plane", "privtree", 300, "3", 3, "spiky"),
    ("line", "pthb", 300, "1", 1, "diagonal"),
    ("line", "dawa", 300, "1", 1, "skewed"),
    ("plane", "hb", 300, "0.5", 1, "diagonal"),
    ("cube", "sparse_cells", 300, "1", 2, "sparse"),
    ("cube", "sparse_cells", 20_000, "0.5", 1, "clustered"),
    ("cube", "marginals", 20_000, "0.5", 2, "skewed"),
    ("cube", "auto", 20_000, "0.5", 1, "spiky"),
    ("plane", "agrid", 20_000, "0.1", 1, "striped"),
    ("plane", "dpcube", 20_000, "0.1", 1, "striped"),
    ("line", "dawa", 20_000, "0.1", 1, "striped"),
    ("plane", "auto", 20_000, "0.1", 1, "striped"),
)


def draws_of(numbers, runs):
    """Return how many independent draws the numbers of some releases count as.

    Numbers of one release share its noise: each release counts as one draw, but for
    what differs within it.
    """
    return runs * min(4.0, sqrt(numbers / runs))


def bar(draws):
    """Return the least coverage that is not below 93 % beyond chance."""
    return LEAST - DEVIATIONS * sqrt(LEAST * (1 - LEAST) / draws)


@cache
def seen_in(setting, runs, boxes=8):
    """Return what was seen of each class over some releases of one setting."""
    shape, strategy, total, loss, bound, data = setting
    image = image_of(data, SHAPES[shape], total)
    return measure(image, strategy, loss, bound=bound, runs=runs, boxes=boxes)


def too_low(seen, runs):
    """Return the classes whose coverage is below 93 % beyond chance, with both."""
    found = {
        kind: (one.coverage, bar(draws_of(len(one.held), runs)))
        for kind, one in seen.items()
    }
    return {kind: figures for kind, figures in found.items() if figures[0] < figures[1]}


def too_low_together(settings, runs):
    """Return the classes that are covered too rarely over all settings together.

    Settings are drawn apart, so their draws add up: this sees an interval that is a
    little too narrow everywhere.
    """
    held, numbers, draws = Counter(), Counter(), Counter()
    for seen in settings:
        for kind, one in seen.items():
            held[kind] += draws_of(len(one.held), runs) * one.coverage
            draws[kind] += draws_of(len(one.held), runs)
            numbers[kind] += len(one.held)
    found = {kind: (held[kind] / draws[kind], bar(draws[kind])) for kind in numbers}
    return {kind: figures for kind, figures in found.items() if figures[0] < figures[1]}


def main():
    """Print the coverage of every setting of the whole list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    failed = False
    for setting in WHOLE:
        seen = seen_in(setting, runs)
        low = too_low(seen, runs)
        failed = failed or bool(low)
        covered = " ".join(f"{kind} {one.coverage:.3f}" for kind, one in seen.items())
        print(*setting, covered, f"TOO LOW {low}" if low else "", flush=True)
    together = too_low_together([seen_in(one, runs) for one in WHOLE], runs)
    print("all settings together:", together or "held")
    return 1 if failed or together else 0


if __name__ == "__main__":
    sys.exit(main())
