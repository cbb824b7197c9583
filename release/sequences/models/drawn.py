"""A noisy tree as it was drawn: what is published, and nothing else of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from release.models.contract import Facts, IntArray, Table
from release.sequences.domain import SequenceDomain


@dataclass(frozen=True, slots=True)
class DrawnLevel:
    """The children of one depth whose noisy count reached the threshold.

    Attributes:
        parents: Places of their parents on the level above, ascending; on the first
            level, places of the split's values.
        symbols: Codes; ``domain.end`` where sequences end.
        values: Noisy counts as drawn, each at least the threshold.
        grown: Which of them had their own children measured.
        scale: Of the noise.
        threshold: Public.
    """

    parents: IntArray
    symbols: IntArray
    values: IntArray
    grown: NDArray[np.bool_]
    scale: float
    threshold: int


@dataclass(frozen=True, slots=True)
class DrawnTree:
    """All levels, from the children of the roots."""

    domain: SequenceDomain
    levels: tuple[DrawnLevel, ...]

    def facts(self) -> Facts:
        """Return each level's number of nodes, scale and threshold."""
        return {
            "nodes": [len(level.values) for level in self.levels],
            "scales": [level.scale for level in self.levels],
            "thresholds": [level.threshold for level in self.levels],
        }

    def tables(self) -> Mapping[str, Table]:
        """Return one row a node, level by level, in the order of parent and symbol."""
        levels = self.levels
        sizes = [len(level.values) for level in levels]
        return {
            "nodes": {
                "depth": np.repeat(np.arange(1, len(levels) + 1), sizes),
                "parent": np.concatenate([level.parents for level in levels]),
                "symbol": np.concatenate([level.symbols for level in levels]),
                "value": np.concatenate([level.values for level in levels]),
                "grown": np.concatenate([level.grown for level in levels]).astype(
                    np.int64
                ),
            }
        }

    @classmethod
    def rebuilt(
        cls,
        domain: SequenceDomain,
        facts: Mapping[str, object],
        tables: Mapping[str, Table],
    ) -> "DrawnTree":
        """Return the tree that wrote these facts and tables."""
        table = tables["nodes"]
        ends = np.cumsum(_list(facts["nodes"]))[:-1].astype(np.int64)
        columns = [
            np.split(np.asarray(table[name], np.int64), ends)
            for name in ("parent", "symbol", "value", "grown")
        ]
        rows = zip(
            *columns, _list(facts["scales"]), _list(facts["thresholds"]), strict=True
        )
        levels = tuple(
            DrawnLevel(parents, symbols, values, grown > 0, scale, int(threshold))
            for parents, symbols, values, grown, scale, threshold in rows
        )
        return cls(domain, levels)


def _list(value: object) -> list[float]:
    return [float(str(item)) for item in value] if isinstance(value, list) else []
