"""Whether what a published tree shows of each kept path holds its truth, by depth."""

from collections import Counter

import numpy as np

from release.contract.intervals import WEIGHTED_QUANTILE
from tests.statistical.sequence_coverage import Coverage, released


def node_coverage(log, most, epsilon, seeds, strategy="prefix_tree"):
    """Return the coverage of kept paths at each depth, over some releases.

    Args:
        log: Of sequences, without a split.
        most: The maximal length that it is published with.
        epsilon: As a text.
        seeds: One a release.
        strategy: Whose tree it is.
    """
    truth = Counter()
    for depth in range(1, most + 1):
        whole = log.rows[log.lengths >= depth, :depth]
        truth.update(map(tuple, whole.tolist()))
    found = {}
    for seed in seeds:
        own = {}
        for path, value, width in shown(released(log, most, strategy, epsilon, seed)):
            held = own.setdefault(len(path), Coverage())
            held.add(value, max(value - width, 0.0), value + width, truth[path])
        for depth, each in own.items():
            found.setdefault(depth, Coverage()).join(each.closed())
    return found


def shown(asked):
    """Yield paths of symbols, with counts and half-widths as a branch has them."""
    tree = asked.tree
    paths = [()] * len(tree.counts)
    for node in range(tree.roots.stop, len(tree.counts)):
        symbol, above = int(tree.symbols[node]), paths[tree.parents[node]]
        known = above is not None and symbol not in {tree.domain.rest, tree.domain.end}
        paths[node] = (*above, symbol) if known else None
        if paths[node] is not None:
            width = WEIGHTED_QUANTILE * np.sqrt(tree.variances[node])
            yield paths[node], tree.counts[node], max(width, tree.doubts[node])
