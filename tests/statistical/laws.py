"""Exact laws of integer noise, and chi-squared tests of fixed alpha against them."""

import numpy as np
from scipy.stats import chi2, norm

ALPHA = 1e-7  # of each comparison


def cdf(scale, values):
    """Return P(X <= value) of discrete Laplace noise."""
    a = np.exp(-1 / scale)
    values = np.asarray(values, dtype=float)
    below = np.exp(values / scale) / (1 + a)
    above = 1 - np.exp(-(values + 1) / scale) / (1 + a)
    return np.where(values < 0, below, above)


def tail(scale, threshold):
    """Return P(X >= threshold)."""
    return 1 - cdf(scale, np.asarray(threshold) - 1)


def edges(scale, bins=60):
    """Return integers that part the line into bins of some weight each."""
    levels = np.linspace(-0.999, 0.999, bins)
    at = -np.sign(levels) * scale * np.log1p(-np.abs(levels))
    return np.unique(np.round(at).astype(np.int64))


def laplace_probabilities(scale, cuts):
    """Return the probability of each bin: up to the first cut, between two, above the
    last.

    A bin holds its upper cut.
    """
    return np.diff(np.concatenate([[0.0], cdf(scale, cuts), [1.0]]))


def counted(draws, cuts):
    return np.bincount(np.searchsorted(cuts, draws), minlength=len(cuts) + 1)


def fits(seen, probabilities):
    """Whether counts look drawn from these probabilities; light bins are joined."""
    expected = np.asarray(probabilities) * np.sum(seen)
    light = expected < 20
    seen = np.append(np.asarray(seen)[~light], np.asarray(seen)[light].sum())
    expected = np.append(expected[~light], expected[light].sum())
    if expected[-1] < 20:  # too little even together: joined with another
        seen[0] += seen[-1]
        expected[0] += expected[-1]
        seen, expected = seen[:-1], expected[:-1]
    statistic = ((seen - expected) ** 2 / expected).sum()
    return bool(statistic < chi2.isf(ALPHA, len(expected) - 1))


def alike(one, other):
    """Whether two rows of counts look drawn from one law."""
    table = np.array([one, other], dtype=float)
    table = table[:, table.sum(axis=0) >= 40]
    shares = table.sum(axis=1, keepdims=True) / table.sum()
    expected = shares * table.sum(axis=0)
    statistic = ((table - expected) ** 2 / expected).sum()
    return bool(statistic < chi2.isf(ALPHA, table.shape[1] - 1))


SUMMED = 4_000.0  # the widest Gaussian noise whose probabilities are summed one by one


def gaussian_cdf(scale, values):
    """Return P(X <= value) of discrete Gaussian noise, to about nine digits."""
    values = np.asarray(values)
    if scale > SUMMED:  # wider: the normal law at the middle between two integers
        return norm.cdf((values + 0.5) / scale)
    reach = int(40 * scale) + 2
    line = np.arange(-reach, reach + 1)
    weights = np.exp(-((line / scale) ** 2) / 2)
    sums = np.cumsum(weights) / weights.sum()
    return sums[np.clip(values + reach, 0, 2 * reach)]


def gaussian_edges(scale, bins=60):
    """Return integers that part the line into bins of some weight each."""
    levels = norm.ppf(np.linspace(5e-4, 1 - 5e-4, bins))
    return np.unique(np.round(levels * scale).astype(np.int64))


def gaussian_probabilities(scale, cuts):
    """Return the probability of each bin; a bin holds its upper cut."""
    return np.diff(np.concatenate([[0.0], gaussian_cdf(scale, cuts), [1.0]]))
