"""Chapter 5 of the HIDE dissertation again: its cube, its questions, our strategies.

    python -m benchmarks.releases.hide            (docs/hide-experiments.md shows it)

Prints the tables of the page and draws its pictures into docs/images. The cube has the
dissertation's dimensions over a made-up registry (benchmarks/releases/cancer.py).
diabetes130 is taken too where its histogram is (CURATOR_TEST_DATA). Noise is the
product's own, so figures move from run to run.
"""

import argparse
import os
from pathlib import Path

import numpy as np

from benchmarks.releases.cancer import AGE, DEATH, SHAPE, YEAR, registry
from benchmarks.releases.hide_pictures import draw_all
from benchmarks.releases.histograms import release, sealed
from benchmarks.releases.samples import box_sums, histogram, questions
from privacy.losses import Loss

GAIN = {"split": "0.5", "split_rule": "information_gain"}
OURS = {
    "cells": ("cells", {}),
    "dpcube, squared error": ("dpcube", {}),
    "dpcube, information gain": ("dpcube", GAIN),
    "auto": ("auto", {}),
}
BASELINE = "their cells, floored and clamped"
CLAMPED = "cells, clamped"
THEIRS = {"cells": (6_787, 7_447, -87.6), "DPCube": (2_227, 3_056, -81.63)}
SLOPE = -76.14
REGISTRIES = {
    "deaths rise by 2 % a year": {"yearly": 1.02},
    "rough: factors of e on each age and year": {"rough": 1.0},
    "rising and rough": {"yearly": 1.02, "rough": 1.0},
}
EPSILONS = ("0.05", "0.1", "0.5", "1", "2")
THRESHOLDS = (1.0, 0.1, 0.05, 0.01)


def died_by(image, axis):
    """Sum to (values of the axis, died of it or not)."""
    others = tuple(a for a in range(image.ndim) if a not in {axis, DEATH})
    return image.sum(axis=others)


def average_slope(counts):
    """The dissertation's: the sum of all yearly steps over the number of years."""
    return float(np.diff(counts).sum() / len(counts))


def theirs(image, epsilon, dice):
    """Noise on each cell as the dissertation does it: drawn, floored, not below 0."""
    noisy = image + np.floor(dice.laplace(0, 1 / float(epsilon), image.shape))
    return np.maximum(noisy, 0)


def published(cube, image, epsilon, only=None):
    """Yield each method's name and its estimate of the cube."""
    dice = np.random.default_rng()
    for name, (strategy, parameters) in OURS.items():
        if only is None or name in only:
            model = release(strategy, cube, Loss.parse(epsilon), parameters)
            yield name, model.estimates().reshape(image.shape)
    if only is None:
        yield BASELINE, theirs(image, epsilon, dice)


def slices(cube, image, epsilon, runs):
    """Return, by method, a list of (by year, by age) of each run."""
    found = {}
    for _ in range(runs):
        for name, estimate in published(cube, image, epsilon):
            pair = died_by(estimate, YEAR), died_by(estimate, AGE)
            found.setdefault(name, []).append(pair)
            if name == "cells":
                over = np.maximum(estimate, 0)
                pair = died_by(over, YEAR), died_by(over, AGE)
                found.setdefault(CLAMPED, []).append(pair)
    return found


def print_count_errors(found, image):
    """Print each method's errors of yearly deaths, ours beside the dissertation's.

    Errors are in deaths; slopes are in the dissertation's unit, as ``average_slope``.

    Args:
        found: By method, for each run, the estimated deaths by year and by age.
        image: True counts of patients by cell.
    """
    truth = died_by(image, YEAR)[:, 1]
    print("\n## Deaths of cancer by year of diagnosis, epsilon 0.5")
    print("| method | mean error | least and most year | average slope, off by |")
    print("|---|---|---|---|")
    for name, (low, high, slope) in THEIRS.items():
        off = abs(slope - SLOPE)
        print(f"| {name} of the dissertation | | {low:,} to {high:,} | {off:.2f} |")
    for name, pairs in found.items():
        errors = np.array([abs(by_year[:, 1] - truth) for by_year, _ in pairs])
        years = errors.mean(axis=0)
        off = [average_slope(p[:, 1]) - average_slope(truth) for p, _ in pairs]
        print(
            f"| {name} | {errors.mean():,.1f} | {years.min():,.0f} to "
            f"{years.max():,.0f} | {np.mean(np.abs(off)):.2f} |"
        )
    print(f"\naverage slope of the original: {average_slope(truth):.2f}")


def print_others(runs):
    """The same question of registries that are less smooth, or not falling."""
    print("\n## Other registries: mean error of deaths by year, epsilon 0.5")
    print(f"| registry | {' | '.join(OURS)} |")
    print(f"|---|{'---|' * len(OURS)}")
    for told, options in REGISTRIES.items():
        image = registry(**options)
        cube, truth = sealed(image), died_by(image, YEAR)[:, 1]
        found = {name: [] for name in OURS}
        for _ in range(runs):
            for name, estimate in published(cube, image, "0.5", OURS):
                found[name].append(abs(died_by(estimate, YEAR)[:, 1] - truth).mean())
        means = " | ".join(f"{np.mean(found[name]):.1f}" for name in OURS)
        print(f"| {told} | {means} |")


def errors_by_epsilon(cube, image, runs):
    """Mean error of a count by year and death, of the whole cube, by epsilon."""
    truth = died_by(image, YEAR)
    table = {}
    for epsilon in EPSILONS:
        for _ in range(runs):
            for name, estimate in published(cube, image, epsilon):
                error = abs(died_by(estimate, YEAR) - truth).mean()
                table.setdefault(name, {}).setdefault(epsilon, []).append(error)
    return _means(table)


def errors_by_threshold(image, runs):
    """As the dissertation's figure 5.10: the cube of age and death alone."""
    truth = died_by(image, AGE)
    cube = sealed(truth)
    tried = {f"dpcube, gain {g:g}": ("dpcube", {**GAIN, "gain_threshold": g})
             for g in THRESHOLDS}  # fmt: skip
    tried |= {name: OURS[name] for name in ("cells", "dpcube, squared error", "auto")}
    table = {}
    for epsilon in EPSILONS:
        for name, (strategy, parameters) in tried.items():
            for _ in range(runs):
                model = release(strategy, cube, Loss.parse(epsilon), parameters)
                error = abs(model.estimates() - truth.ravel()).mean()
                table.setdefault(name, {}).setdefault(epsilon, []).append(error)
    return _means(table)


def _means(table):
    return {
        n: {e: float(np.mean(v)) for e, v in row.items()} for n, row in table.items()
    }


def print_by_epsilon(title, table):
    """Print mean errors, in patients: rows are methods, columns are epsilons."""
    print(f"\n## {title}")
    print(f"| method | {' | '.join(EPSILONS)} |")
    print(f"|---|{'---|' * len(EPSILONS)}")
    for name, row in table.items():
        print(f"| {name} | {' | '.join(f'{row[e]:,.2f}' for e in EPSILONS)} |")


def print_diabetes(folder, runs):
    """Print the mean errors of diabetes130's cube, in hospital stays, over some runs.

    Of single cells, of the sums over each of its three columns and of random boxes.
    Says so and prints no table where the data are not in the folder.
    """
    image = histogram(folder, "DIAB-3D")
    if image is None:
        print("\ndiabetes130 is not at hand: no table")
        return
    cube, (lower, upper) = sealed(image), questions(image.shape)
    print(
        f"\n## diabetes130, {image.sum():,} stays in {image.size:,} cells, mean errors"
    )
    print("| method | epsilon | cell | age band | days of stay | drugs | random box |")
    print("|---|---|---|---|---|---|---|")
    for epsilon in ("0.1", "0.5"):
        found = {}
        for _ in range(runs):
            for name, estimate in published(cube, image, epsilon):
                apart = estimate - image
                sides = [
                    abs(apart.sum(axis=tuple({0, 1, 2} - {axis}))).mean()
                    for axis in range(3)
                ]
                boxes = abs(box_sums(apart, lower, upper)).mean()
                found.setdefault(name, []).append((abs(apart).mean(), *sides, boxes))
        for name, errors in found.items():
            shown = " | ".join(f"{mean:,.1f}" for mean in np.mean(errors, axis=0))
            print(f"| {name} | {epsilon} | {shown} |")


def main():
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--data", default=os.environ.get("CURATOR_TEST_DATA", "."))
    parser.add_argument("--pictures", default="docs/images", help="a folder")
    told = parser.parse_args()
    image = registry()
    cube = sealed(image)
    print(
        f"{image.sum():,} patients in {np.count_nonzero(image):,} of {image.size:,} "
        f"cells ({' x '.join(map(str, SHAPE))})"
    )
    found = {e: slices(cube, image, e, told.runs) for e in ("0.5", "0.1")}
    print_count_errors(found["0.5"], image)
    whole = errors_by_epsilon(cube, image, max(1, told.runs // 2))
    print_by_epsilon("Mean error by year and death, whole cube, by epsilon", whole)
    small = errors_by_threshold(image, 4 * told.runs)
    print_by_epsilon("Mean error of a cell of (age, death), published alone", small)
    print_others(max(1, told.runs // 2))
    print_diabetes(told.data, told.runs)
    originals = died_by(image, YEAR), died_by(image, AGE)
    draw_all(Path(told.pictures), originals, found, (whole, small))


if __name__ == "__main__":
    main()
