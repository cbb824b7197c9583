"""A strategy that counts every sequence by itself: for small alphabets."""

from itertools import product

import numpy as np

from mechanisms.measuring.meter import Part
from release.contract.strategies import Expectation
from release.sequences.contract import Estimate
from release.sequences.estimation.paths import PathTree
from release.sequences.models.registry import MODELS
from release.sequences.strategies.registry import STRATEGIES


def sequences_of(domain):
    """Return every sequence of 1 to h symbols, in canonical order."""
    lengths = range(1, domain.max_length + 1)
    return [s for n in lengths for s in product(range(domain.symbols), repeat=n)]


class EverySequence:
    """Counts of whole sequences, one a sequence and group."""

    kind = "whole"

    def __init__(self, domain, values):
        self.domain = domain
        self.values = values

    @classmethod
    def rebuilt(cls, domain, facts, tables):
        assert facts == {}
        return cls(domain, tables["sequences"]["value"])

    def facts(self):
        return {}

    def tables(self):
        return {"sequences": {"value": self.values}}

    def paths(self):
        domain = self.domain
        counts = {(g, ()): 0.0 for g in range(domain.groups)}
        values = iter(np.maximum(self.values, 0).tolist())
        for group in range(domain.groups):
            for symbols in sequences_of(domain):
                ended = () if len(symbols) == domain.max_length else (domain.end,)
                path, units = symbols + ended, next(values)
                for size in range(len(path) + 1):
                    key = (group, path[:size])
                    counts[key] = counts.get(key, 0.0) + units
        nodes = sorted(counts, key=lambda node: (len(node[1]), node))
        places = {node: place for place, node in enumerate(nodes)}
        above = [places[g, path[:-1]] if path else -1 for g, path in nodes]
        return PathTree(
            groups=np.array([group for group, _ in nodes]),
            parents=np.array(above),
            symbols=np.array([path[-1] if path else -1 for _, path in nodes]),
            depths=np.array([len(path) for _, path in nodes]),
            counts=np.array([counts[node] for node in nodes]),
            variances=np.ones(len(nodes)),
        )

    def lengths(self):
        return None

    def occurrences(self, runs):
        return [Estimate(float(self._count(run)), 3.0) for run in runs]

    def _count(self, run):
        whole = sequences_of(self.domain) * self.domain.groups
        starts = [sum(s[i : i + len(run)] == run for i in range(len(s))) for s in whole]
        return np.dot(starts, np.maximum(self.values, 0))


class Whole:
    """One part: all sequences, a disjoint histogram."""

    name = "whole"

    def parts(self, domain, loss, parameters):
        return (Part("sequences", loss),)

    def expectation(self, domain, loss, parameters):
        return Expectation(1.0, None, "Each sequence has noise of its own.")

    def measure(self, sequences, meter, parameters):
        domain = sequences.domain
        listed = sequences_of(domain)
        places = {s: place for place, s in enumerate(listed)}

        def cells(raw):
            found = np.zeros(domain.groups * len(listed), dtype=np.int64)
            for n, units in enumerate(raw.counts):
                start, stop = raw.starts[n : n + 2]
                place = places[tuple(raw.symbols[start:stop].tolist())]
                found[raw.groups[n] * len(listed) + place] += units
            return found

        noisy = meter.counts("sequences", sequences._raw.map(cells), 1)
        return EverySequence(domain, noisy.values)


def register():
    """Make the strategy known in this process."""
    STRATEGIES[Whole.name] = Whole()
    MODELS[EverySequence.kind] = EverySequence.rebuilt
