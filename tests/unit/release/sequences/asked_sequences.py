"""Small published trees of sequences, and an evaluation that shares no code."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from privacy.schema import ColumnType
from query_lang.reading.parse import parse_query
from release.contract.domain import Dimension
from release.sequences.contract import Estimate
from release.sequences.estimation.paths import PathTree
from release.sequences.questions.answering import AskedSequences
from release.sequences.questions.published import PublishedSequences

LETTERS = Dimension("unit", ColumnType.TEXT, ("a", "b", "c"), ordered=True)
LEVELS = Dimension("level", ColumnType.INTEGER, (1, 4, 6), ordered=True)
WITH_NULL = Dimension("unit", ColumnType.TEXT, ("a", "b", None))
SEX = Dimension("sex", ColumnType.TEXT, ("F", "M", None), constant=True)

REST = "?"
"""Ends the paths whose sequences go on in an unknown way."""


class PathModel:
    """A model that is its tree; runs are counted in it, symbol by symbol."""

    kind = "paths"

    def __init__(self, domain, tree, half_width=3.0, bands=None):
        self.domain = domain
        self._bands = bands
        self._tree = tree
        self._half_width = half_width

    def facts(self):
        return {}

    def tables(self):
        return {}

    def paths(self):
        return self._tree

    def lengths(self):
        return self._bands

    def occurrences(self, runs):
        return [Estimate(self._count(run), self._half_width) for run in runs]

    def _count(self, run):
        total = 0.0
        for node, count in enumerate(self._tree.counts):
            path = path_of(self._tree, node)
            if path and path[-1] < self.domain.symbols and path[-len(run) :] == run:
                total += float(count)
        return total


def path_of(tree, node):
    """Return the codes that lead to a node."""
    path = []
    while tree.parents[node] >= 0:
        path.append(int(tree.symbols[node]))
        node = int(tree.parents[node])
    return tuple(reversed(path))


def tree_of(domain, leaves, *, variance=4.0):
    """Return the tree with some leaves.

    Args:
        domain: Of the release.
        leaves: Units by (group, symbols, how it goes on: "" or REST).
        variance: Of every count.
    """
    counts: dict[tuple[int, tuple[int, ...]], float] = {
        (group, ()): 0.0 for group in range(domain.groups)
    }
    for (group, symbols, rest), units in leaves.items():
        path = symbols
        if len(symbols) < domain.max_length:
            path += (domain.rest,) if rest else (domain.end,)
        for size in range(len(path) + 1):
            key = (group, path[:size])
            counts[key] = counts.get(key, 0.0) + units
    nodes = sorted(counts, key=lambda node: (len(node[1]), node))
    places = {node: place for place, node in enumerate(nodes)}
    return PathTree(
        groups=np.array([group for group, _ in nodes], dtype=np.int64),
        parents=np.array(
            [places[group, path[:-1]] if path else -1 for group, path in nodes],
            dtype=np.int64,
        ),
        symbols=np.array([path[-1] if path else -1 for _, path in nodes]),
        depths=np.array([len(path) for _, path in nodes]),
        counts=np.array([counts[node] for node in nodes]),
        variances=np.full(len(nodes), variance),
    )


def asked(domain, leaves, **options):
    """Open a release with some leaves for questions."""
    published = PublishedSequences("rel_1", "stays", domain, "patient")
    return AskedSequences(
        published, PathModel(domain, tree_of(domain, leaves), **options)
    )


def ask(release, sql, **options):
    """Answer a text over a release."""
    return release.ask(parse_query(sql, sequences=True), **options)


def number(release, where="", select="COUNT(*)"):
    """Return the value and what is undecided of one number."""
    sql = f"SELECT {select} AS n FROM stays" + (f" WHERE {where}" if where else "")
    answer = ask(release, sql)
    return float(answer.rows[0][0]), float(answer.undecided["n"][0])


# -- what is meant, sequence by sequence ----------------------------------------


def completions(domain, symbols, rest) -> Iterator[tuple[int, ...]]:
    """Yield every sequence that a leaf may stand for, cut to h."""
    if not rest or len(symbols) == domain.max_length:
        yield symbols
        return
    for more in range(domain.max_length - len(symbols) + 1):
        for tail in product(range(domain.symbols), repeat=more):
            yield symbols + tail


def slope(domain, symbols):
    """Return the least-squares slope, or None."""
    values = [
        value if domain.alphabet.type is ColumnType.INTEGER else place
        for place, value in ((s, domain.alphabet.values[s]) for s in symbols)
    ]
    n = len(values)
    if n < 2 or any(domain.alphabet.values[s] is None for s in symbols):
        return None
    middle, mean = Fraction(n + 1, 2), Fraction(sum(values), n)
    rise = sum((i - middle) * (v - mean) for i, v in enumerate(values, 1))
    return rise / sum((i - middle) ** 2 for i in range(1, n + 1))


def runs_in(symbols, size):
    """Return all runs of a size in a sequence."""
    return [symbols[i : i + size] for i in range(len(symbols) - size + 1)]
