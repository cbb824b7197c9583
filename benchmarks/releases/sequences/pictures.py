"""The curves of docs/sequences-accuracy.md: errors of sequence releases by epsilon.

    python -m benchmarks.releases.sequences.accuracy --strategies prefix_tree --logs
    msnbc \
        --curve --runs 2 > tree.txt
    python -m benchmarks.releases.sequences.ngrams --runs 2 > ngram.txt
    python -m benchmarks.releases.sequences.pictures tree.txt ngram.txt

Reads the tables that these commands print; MSNBC's lines are drawn.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.releases.hide_pictures import SAVED

mpl.use("agg")
DRAWN = {"error of top 200": "the 200 most frequent runs", "q<=4": "random runs"}
ALIASES = {"top 200": "error of top 200"}
ZERO = {"error of top 200": 1.0, "q<=4": 0.471}


def curves(path):
    """Return epsilons and errors, by column, of a printed table's lines of MSNBC."""
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    # hits of prefix_tree's table are called as the error of ngram's
    heads = rows[0] if "error of top 200" in rows[0] else _renamed(rows[0])
    kept = [
        dict(zip(heads, row, strict=False))
        for row in rows
        if row[0] == "msnbc" and row[1] != "any" and "anchor" not in row
    ]
    found = {name: [float(row[name]) for row in kept] for name in DRAWN}
    return [float(row["epsilon"]) for row in kept], found


def _renamed(heads):
    return [ALIASES.get(head, head) for head in heads]


def main():
    """Draw both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("ngram", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("docs/images"))
    told = parser.parse_args()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, (column, title) in zip(axes, DRAWN.items(), strict=True):
        for name, path in {"prefix_tree": told.tree, "ngram": told.ngram}.items():
            epsilons, found = curves(path)
            ax.loglog(epsilons, found[column], marker="o", label=name)
        ax.axhline(ZERO[column], color="grey", linestyle=":", label="answering 0")
        ax.set(title=title, xlabel="epsilon", ylabel="mean relative error")
        ax.legend()
    figure.savefig(told.folder / "sequences-curve.png", **SAVED)


if __name__ == "__main__":
    main()
