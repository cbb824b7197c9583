"""A strategy for sequences that measures first symbols alone: the smallest there is."""

import numpy as np

from mechanisms.meter import Part
from release.sequences.models.registry import MODELS
from release.sequences.paths import PathTree
from release.sequences.strategies.registry import STRATEGIES
from release.strategies.contract import Expectation


class FirstSymbols:
    """Counts of the first symbols, one a symbol and group."""

    kind = "level_one"

    def __init__(self, domain, values):
        self.domain = domain
        self.values = values

    @classmethod
    def rebuilt(cls, domain, facts, tables):
        assert facts == {}
        return cls(domain, tables["firsts"]["value"])

    def facts(self):
        return {}

    def tables(self):
        return {"firsts": {"value": self.values}}

    def paths(self):
        groups, symbols = self.domain.groups, self.domain.symbols
        roots = np.maximum(self.values, 0).reshape(groups, symbols).sum(axis=1)
        whose = np.repeat(np.arange(groups), symbols)
        return PathTree(
            groups=np.concatenate([np.arange(groups), whose]),
            parents=np.concatenate([np.full(groups, -1), whose]),
            symbols=np.concatenate(
                [np.full(groups, -1), np.tile(np.arange(symbols), groups)]
            ),
            depths=np.repeat([0, 1], [groups, groups * symbols]),
            counts=np.concatenate([roots, np.maximum(self.values, 0)]).astype(float),
            variances=np.ones(groups * (symbols + 1)),
        )

    def occurrences(self, runs):
        raise NotImplementedError


class LevelOne:
    """One part: the first level."""

    name = "level_one"

    def parts(self, domain, loss, parameters):
        return (Part("first", loss),)

    def expectation(self, domain, loss, parameters):
        return Expectation(1.0, None, "First symbols alone are counted.")

    def measure(self, sequences, meter, parameters):
        domain = sequences.domain
        size = domain.groups * domain.symbols

        def firsts(raw):
            cells = raw.groups * domain.symbols + raw.symbols[raw.starts[:-1]]
            return np.bincount(cells, raw.counts, size).astype(np.int64)

        noisy = meter.counts("first", sequences._raw.map(firsts), 1)
        return FirstSymbols(domain, noisy.values)


def register():
    """Make the strategy known in this process."""
    STRATEGIES[LevelOne.name] = LevelOne()
    MODELS[FirstSymbols.kind] = FirstSymbols.rebuilt
