"""The dissertation's temporal experiment again: doctors' prescriptions by quarter.

    python -m benchmarks.releases.sequences.hide   (docs/hide-experiments.md shows it)

Theirs: 517 doctors, seven quarters, four levels of drugs a patient (zero, low, medium,
high), drawn again with replacement to 10,000; epsilon 0.5. Those records cannot be had;
ours are made up to the same description: most doctors rise, some fall or zig-zag.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from benchmarks.releases.hide_pictures import SAVED
from benchmarks.releases.histograms import release, sealed
from benchmarks.releases.sequences.accuracy import publish
from benchmarks.releases.sequences.samples import log_of
from privacy.losses import Loss

mpl.use("agg")
DOCTORS, ENTRIES, QUARTERS, LEVELS = 517, 10_000, 7, 4
EPSILON = "0.5"
THEIRS = {"cells": 12_616, "dpcube": 106_235}
CUBES = ("cells", "dpcube", "auto")
TREES = {
    "tree": {},
    "tree, predictor": {"predictor": "markov"},
    "tree, uniform": {"budget": "uniform"},
}
SLOPES = {"falls": (-9, -0.5), "even": (-0.5, 0.5), "rises": (0.5, 9)}


def doctors(seed=2012):
    """Return (entries, quarters) of levels 0 to 3."""
    dice = np.random.default_rng(seed)
    start = dice.gamma(1.5, 1.2, DOCTORS)[:, None]
    kinds = dice.choice(3, DOCTORS, p=(0.7, 0.15, 0.15))
    slopes = np.choose(
        kinds,
        [
            dice.gamma(2.0, 0.35, DOCTORS),
            -dice.gamma(2.0, 0.3, DOCTORS),
            dice.normal(0, 0.1, DOCTORS),
        ],
    )
    zigzag = (kinds == 2) * dice.gamma(2.0, 0.7, DOCTORS)
    quarters = np.arange(QUARTERS)
    means = start + slopes[:, None] * quarters + zigzag[:, None] * (-1.0) ** quarters
    means = np.maximum(means + dice.normal(0, 0.8, means.shape), 0)
    levels = np.digitize(means, (0.15, 3, 6))
    return levels[dice.integers(0, DOCTORS, ENTRIES)]


def image_of(rows):
    """Return how many entries have each sequence of levels; each quarter is an axis."""
    shape = (LEVELS,) * QUARTERS
    flat = np.ravel_multi_index(tuple(rows.T), shape)
    return np.bincount(flat, minlength=LEVELS**QUARTERS).reshape(shape)


def tree_images(model):
    """Return, by length, the counts of all beginnings."""
    images = []
    for length in range(QUARTERS + 1):
        shape = (LEVELS,) * length
        told = model.beginnings([*np.ndindex(*shape)])
        values = np.array([estimate.value for estimate in told])
        images.append(values.reshape(shape))
    return images


def cube_images(cells):
    """Return the counts of all beginnings, by length in quarters, as sums of cells."""
    return [
        cells.sum(axis=tuple(range(length, QUARTERS))) for length in range(QUARTERS + 1)
    ]


def estimates(rows):
    """Yield each method's name and its counts of all beginnings, by length."""
    image, loss = image_of(rows), Loss.parse(EPSILON)
    cube = sealed(image)
    for strategy in CUBES:
        cells = release(strategy, cube, loss, {}).estimates().reshape(image.shape)
        yield strategy, cube_images(cells)
    log = log_of(rows.tolist(), LEVELS).sealed(QUARTERS)
    for name, parameters in TREES.items():
        yield name, tree_images(publish("prefix_tree", log, EPSILON, parameters))


def slope_counts(image):
    """Return how many beginnings fall, stay even, rise: by half a level or more.

    By the least-squares line, from the first quarter that is asked for to the last.
    """
    length = image.ndim
    middle = np.arange(length) - (length - 1) / 2
    weights = (length - 1) * middle / (middle**2).sum()
    levels = np.indices(image.shape)
    rises = np.tensordot(weights, levels, axes=1)
    kinds = [(rises >= low) & (rises < high) for low, high in SLOPES.values()]
    return np.array([image[kind].sum() for kind in kinds])


def measure(rows, runs):
    """Return, by method, lists of errors: L1, by length, relative, by slope."""
    truth, found = cube_images(image_of(rows)), {}
    lengths = range(1, QUARTERS + 1)
    for _ in range(runs):
        for name, told in estimates(rows):
            apart = [abs(told[n] - truth[n]) for n in lengths]
            relative = [
                (apart[n - 1] / np.maximum(truth[n], 1)).mean() for n in lengths
            ]
            slopes = [
                abs(slope_counts(told[n]) - slope_counts(truth[n])) for n in lengths[1:]
            ]
            found.setdefault(name, []).append(
                (apart[-1].sum(), [a.mean() for a in apart], relative, slopes)
            )
    return {
        name: [np.mean([row[k] for row in rows], axis=0) for k in range(4)]
        for name, rows in found.items()
    }


def print_tables(rows, found):
    """Print each method's errors: of all cells, by length and by slope, in doctors.

    Args:
        rows: The entries, each a level for each quarter.
        found: By method, what ``measure`` returns.
    """
    truth = cube_images(image_of(rows))
    print(f"{np.count_nonzero(truth[-1])} of {LEVELS**QUARTERS} cells are not empty\n")
    print("| release | L1 of all cells | theirs |\n|---|---|---|")
    for name, (l1, *_) in found.items():
        theirs = THEIRS.get(name)
        print(f"| {name} | {l1:,.0f} | {f'{theirs:,}' if theirs else ''} |")
    lengths = range(1, QUARTERS + 1)
    for title, place in (("Mean error", 1), ("Mean relative error", 2)):
        print(f"\n| {title} | {' | '.join(map(str, lengths))} |")
        print(f"|{'---|' * (QUARTERS + 1)}")
        if place == 1:
            means = " | ".join(f"{truth[n].mean():,.1f}" for n in lengths)
            print(f"| mean count | {means} |")
        for name, row in found.items():
            print(f"| {name} | {' | '.join(f'{e:,.2f}' for e in row[place])} |")
    print(f"\n| Slope over {QUARTERS} quarters | {' | '.join(SLOPES)} |")
    print(f"|{'---|' * (len(SLOPES) + 1)}")
    counts = slope_counts(truth[-1])
    print(f"| doctors | {' | '.join(f'{count:,.0f}' for count in counts)} |")
    for name, row in found.items():
        print(f"| {name} | {' | '.join(f'{e:,.0f}' for e in row[3][-1])} |")


def draw(rows, found, folder):
    """Save a picture of four doctors and of each method's errors by quarters."""
    figure, panels = plt.subplots(1, 4, figsize=(15, 3.6), layout="constrained")
    dice, lengths = np.random.default_rng(5), range(1, QUARTERS + 1)
    for row in rows[dice.choice(len(rows), 4, replace=False)]:
        panels[0].plot(lengths, row, "o-")
    panels[0].set_title("four doctors: level by quarter", fontsize=9)
    for name, row in found.items():
        panels[1].plot(lengths, row[1], "o-", label=name)
        panels[2].plot(lengths, row[2], "o-", label=name)
        panels[3].plot(lengths[1:], row[3][:, -1], "o-", label=name)
    titles = "mean error", "mean relative error", "error of those who rise"
    for panel, title in zip(panels[1:], titles, strict=True):
        panel.set_yscale("log")
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("quarters asked for")
    panels[1].legend(fontsize=7)
    figure.savefig(folder / "hide-sequences.png", **SAVED)
    plt.close(figure)


def main():
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pictures", default="docs/images", help="a folder")
    told = parser.parse_args()
    rows = doctors()
    found = measure(rows, told.runs)
    print_tables(rows, found)
    draw(rows, found, Path(told.pictures))


if __name__ == "__main__":
    main()
