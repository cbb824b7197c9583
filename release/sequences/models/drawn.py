"""A noisy tree as it was drawn: what is published, and nothing else of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.scales.noises import LAPLACE, Noise
from release.contract.models import IntArray, PublicFacts, Table
from release.contract.rho.noise_facts import noise_facts, noise_in
from release.contract.sequence_domain import SequenceDomain
from release.sequences.estimation.bands import Bands, band_starts
from release.sequences.estimation.likeness import alike
from release.sequences.models.uncounted import Sampled

_ALL: Final = "all children"
_ALIKE: Final = "all children of all nodes"
"""How a release says that it is read."""


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
    """All levels, from the children of the roots, and what was measured beside them.

    Attributes:
        domain: Of the release.
        levels: Of the tree.
        bands: Noisy lengths; None in releases of the first format, and while it grows.
        sampled: Noisy symbols at one place of each unit; None likewise.
        joins_all: Whether a node is joined with all its children, the expected counts
            of those that were not kept included; in earlier releases it was not.
        noise: The kind of all draws.
        errs_alike: Whether all nodes of a group are joined so together, and first
            symbols sum to what was drawn; in earlier releases each was by itself.
    """

    domain: SequenceDomain
    levels: tuple[DrawnLevel, ...]
    bands: Bands | None = None
    sampled: Sampled | None = None
    joins_all: bool = True
    errs_alike: bool = True
    noise: Noise = LAPLACE

    def facts(self) -> PublicFacts:
        """Return each level's number of nodes, scale and threshold."""
        return {
            "nodes": [len(level.values) for level in self.levels],
            "scales": [level.scale for level in self.levels],
            "thresholds": [level.threshold for level in self.levels],
            **self._joined(),
            **self._scales(),
            **noise_facts(self.noise),
        }

    def _joined(self) -> PublicFacts:
        if not self.joins_all:
            return {}
        return {"joined": _ALIKE if self.errs_alike else _ALL}

    def _scales(self) -> PublicFacts:
        if self.bands is None or self.sampled is None:
            return {}
        return {
            "lengths_scale": self.bands.scale,
            "sampled_scale": self.sampled.scale,
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
            },
            **self._beside(),
        }

    def _beside(self) -> Mapping[str, Table]:
        """Return one row a group and band of lengths, and one a band and symbol."""
        if self.bands is None or self.sampled is None:
            return {}
        firsts, symbols = band_starts(self.domain.max_length), self.domain.symbols
        return {
            "lengths": self.bands.table(),
            "sampled": {
                "first": np.repeat(firsts, symbols),
                "symbol": np.tile(np.arange(symbols), len(firsts)),
                "count": self.sampled.counts.reshape(-1),
            },
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
        beside = _rebuilt_beside(domain, facts, tables)
        return cls(
            domain,
            levels,
            *beside,
            joins_all="joined" in facts,
            errs_alike=facts.get("joined") == _ALIKE,
            noise=noise_in(facts),
        )

    def as_read(self) -> "DrawnTree":
        """Return it as estimates read it: with scales of Laplace noise as wide."""
        if not self.noise.has_l2:
            return self
        bands, sampled = self.bands, self.sampled
        if bands is not None:
            bands = replace(bands, scale=alike(bands.scale, self.noise))
        if sampled is not None:
            sampled = replace(sampled, scale=alike(sampled.scale, self.noise))
        return replace(
            self,
            levels=tuple(as_read(level, self.noise) for level in self.levels),
            bands=bands,
            sampled=sampled,
            noise=LAPLACE,
        )


def as_read(level: DrawnLevel, noise: Noise) -> DrawnLevel:
    """Return a level with the scale of Laplace noise as wide."""
    return replace(level, scale=alike(level.scale, noise))


def _rebuilt_beside(
    domain: SequenceDomain, facts: Mapping[str, object], tables: Mapping[str, Table]
) -> tuple[Bands | None, Sampled | None]:
    if "lengths_scale" not in facts:  # the first format
        return None, None
    scale = float(str(facts["lengths_scale"]))
    bands = Bands.rebuilt(domain.max_length, domain.groups, tables["lengths"], scale)
    counts = np.asarray(tables["sampled"]["count"], np.int64)
    sampled = Sampled(
        counts.reshape(-1, domain.symbols), float(str(facts["sampled_scale"]))
    )
    return bands, sampled


def _list(value: object) -> list[float]:
    return [float(str(item)) for item in value] if isinstance(value, list) else []
