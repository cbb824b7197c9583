"""Whether counted draws follow a law: a test that fails once in a billion runs."""

import numpy as np
from scipy import stats


def chi_squared_passes(counted, expected, alpha=1e-9):
    """Compare counts with a law, cells of few expected draws added up."""
    counted, expected = np.asarray(counted, float), np.asarray(expected, float)
    few = expected < 25
    if few.any():
        counted = np.append(counted[~few], counted[few].sum())
        expected = np.append(expected[~few], expected[few].sum())
    if expected[-1] < 25:
        counted[-2] += counted[-1]
        expected[-2] += expected[-1]
        counted, expected = counted[:-1], expected[:-1]
    found = ((counted - expected) ** 2 / expected).sum()
    return found <= stats.chi2.isf(alpha, len(expected) - 1)
