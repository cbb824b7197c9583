"""Coverage of 95 % intervals, and their width against the width that is needed.

    python -m benchmarks.releases.coverage --strategies agrid,dpcube --runs 200
    python -m benchmarks.releases.coverage --shape line --totals 300,20000 --epsilons 1

A row for each strategy and made-up data; of each class of question the share of
intervals that held the truth, that of the number held least often, and the mean
half-width over the 95 % quantile of absolute errors. Noise is seeded.
"""

import argparse
from itertools import product

from release.contract.errors import ReleaseRefusedError
from tests.support.data.coverages import DATA, SHAPES, image_of, measure


def rows(asked):
    """Yield what was seen for each setting that the strategy takes."""
    settings = product(asked.strategies, asked.data, asked.totals, asked.epsilons)
    for strategy, data, total, loss in settings:
        image = image_of(data, SHAPES[asked.shape], int(total))
        try:
            seen = measure(image, strategy, loss, bound=asked.bound, runs=asked.runs)
        except ReleaseRefusedError:
            continue
        yield (strategy, data, total, loss), seen


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    listed = {"type": lambda text: text.split(",")}
    parser.add_argument("--strategies", default=["agrid"], **listed)
    parser.add_argument("--data", default=list(DATA), **listed)
    parser.add_argument("--totals", default=["300", "20000"], **listed)
    parser.add_argument("--epsilons", default=["0.1", "1"], **listed)
    parser.add_argument("--shape", default="plane", choices=list(SHAPES))
    parser.add_argument("--bound", default=1, type=int)
    parser.add_argument("--runs", default=30, type=int)
    asked = parser.parse_args()
    print("strategy data total epsilon class covered worst width/needed")
    for setting, seen in rows(asked):
        for kind, one in seen.items():
            worst = one.worst(asked.runs)
            figures = f"{one.coverage:.3f} {worst:.3f} {one.ratio:.2f}"
            print(*setting, kind, figures, flush=True)


if __name__ == "__main__":
    main()
