"""Histograms, samples of them, questions and errors, as the anchors were taken.

Data sets: DPBench's histograms (Hay and others 2016), and diabetes130's. A sample
draws ``scale`` records from a histogram's own shape; the same seeds give the same
samples as those that the anchors saw.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDERS = ("dpbench/1D", "dpbench/2D", "diabetes130/hist")


@dataclass(frozen=True)
class Row:
    """One line of a table: which data, how many records, which epsilon."""

    data: str
    scale: int
    epsilon: str
    shape: tuple[int, ...] | None = None


def histogram(folder, name, shape=None):
    """Counts by cell; equal blocks are summed to reach a coarser shape."""
    paths = [Path(folder) / sub / f"{name}.npz" for sub in FOLDERS]
    found = next((path for path in paths if path.exists()), None)
    if found is None:
        return None
    image = np.load(found)["hist"].astype(np.int64)
    for axis, parts in enumerate(shape or ()):
        side = image.shape[axis] // parts
        split = (*image.shape[:axis], parts, side, *image.shape[axis + 1 :])
        image = image.reshape(split).sum(axis=axis + 1)
    return image


def sample(image, scale, seed):
    """Return counts by cell of ``scale`` records drawn in the shares of an image."""
    generator = np.random.default_rng([seed, scale])
    shares = image.ravel() / image.sum()
    return generator.multinomial(scale, shares).reshape(image.shape)


def questions(shape):
    """All running sums in one dimension, else 2,000 random boxes: (lower, upper)."""
    if len(shape) == 1:
        lower = np.zeros((shape[0], 1), dtype=np.int64)
        return lower, np.arange(1, shape[0] + 1)[:, None]
    generator = np.random.default_rng(9001)
    lower = np.empty((2_000, len(shape)), dtype=np.int64)
    upper = np.empty_like(lower)
    for axis, side in enumerate(shape):
        lengths = generator.integers(1, side + 1, 2_000)
        places = generator.random(2_000) * (side - lengths + 1)
        lower[:, axis] = places.astype(np.int64)
        upper[:, axis] = lower[:, axis] + lengths
    return lower, upper


def box_sums(image, lower, upper):
    """Return the sum of each box, in records.

    Args:
        image: Counts by cell.
        lower: First cell of each box, by axis.
        upper: The cell behind the last one of each box, by axis.
    """
    sums = np.zeros([side + 1 for side in image.shape])
    sums[(slice(1, None),) * image.ndim] = image
    for axis in range(image.ndim):
        np.cumsum(sums, axis=axis, out=sums)
    total = np.zeros(len(lower))
    for corner in range(2**image.ndim):
        high = [(corner >> axis) & 1 for axis in range(image.ndim)]
        ends = [(upper if up else lower)[:, a] for a, up in enumerate(high)]
        total += (-1) ** (image.ndim - sum(high)) * sums[tuple(ends)]
    return total


def error_per_question(image, estimate):
    """DPBench's: the L2 norm of all errors over the number of questions, in records."""
    lower, upper = questions(image.shape)
    apart = box_sums(image - estimate.reshape(image.shape), lower, upper)
    return float(np.linalg.norm(apart)) / len(apart)
