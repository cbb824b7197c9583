"""Walks from a few places of every sequence, under seal: the counts of grams."""

from dataclasses import dataclass

import numpy as np

from privacy.counts import IntArray, SparseCounts
from privacy.sealed import Exact
from privacy.sequences import SequenceCounts
from release.contract.sequence_domain import SequenceDomain
from release.sequences.sealed.sampling import sampled_places


@dataclass(frozen=True, slots=True)
class _Walks:
    """One walk for each counted place of each distinct sequence.

    Attributes:
        at: Where the next symbol stands.
        stops: Where the walk's sequence ends.
        ended: Whether nothing follows its last symbol: it was shorter than h.
        cells: Which node of the last level the walk is in.
        units: How many units have that sequence.
        symbols: All sequences' symbols.
    """

    at: IntArray
    stops: IntArray
    ended: IntArray
    cells: IntArray
    units: IntArray
    symbols: IntArray


class SealedGrams:
    """Counts how many walks are in each node of a tree of grams; all under seal.

    A unit's places are the one before its first symbol (the start) and ``cut - 1`` of
    its symbols, or all: a keyed sample. From each a walk goes symbol by symbol, through
    places that are not in the sample too, to the end symbol or to the public maximal
    length. So one unit has at most ``cut`` walks, and each is in at most one node of
    each level.

    Neighbouring relation: add or remove all rows of one unit.
    """

    def __init__(
        self, domain: SequenceDomain, raw: Exact[SequenceCounts], cut: int
    ) -> None:
        self._fanout = domain.symbols + 1
        self._walks = raw.map(lambda own: _walks(own, domain, cut))

    def first(self) -> Exact[SparseCounts]:
        """Return level 1: cells are ``group * (symbols + 1) + symbol``.

        The start has the code ``symbols`` here; ends are no grams of one symbol.
        """
        return self._walks.map(_counted)

    def below(self, nodes: IntArray) -> Exact[SparseCounts]:
        """Go one symbol on from some nodes of the last level; all others are left.

        Args:
            nodes: Cells of the last level, ascending.

        Returns:
            Cells are ``place in nodes * (symbols + 1) + symbol``; the end has the code
            ``symbols``.
        """
        self._walks = self._walks.map(lambda own: _onward(own, nodes, self._fanout))
        return self._walks.map(_counted)


def _walks(raw: SequenceCounts, domain: SequenceDomain, cut: int) -> _Walks:
    lengths = np.diff(raw.starts)
    sampled, places = sampled_places(lengths, raw.phases, cut - 1)
    owners = np.concatenate([np.arange(len(lengths)), sampled])
    steps = np.concatenate([np.zeros(len(lengths), dtype=np.int64), places + 1])
    at = raw.starts[owners] + steps
    symbols = np.full(len(owners), domain.symbols, dtype=np.int64)
    walking = steps > 0  # 0 is the start's own
    symbols[walking] = raw.symbols[at[walking] - 1]
    return _Walks(
        at=at,
        stops=raw.starts[owners + 1],
        ended=(lengths < domain.max_length)[owners].astype(np.int64),
        cells=raw.groups[owners] * (domain.symbols + 1) + symbols,
        units=raw.counts[owners],
        symbols=raw.symbols,
    )


def _onward(walks: _Walks, nodes: IntArray, fanout: int) -> _Walks:
    """Take each walk that is in one of the nodes one symbol on, where there is one."""
    ranks = np.searchsorted(nodes, walks.cells)
    ranks[ranks == len(nodes)] = 0
    here = nodes[ranks] == walks.cells
    here &= walks.at < walks.stops + walks.ended
    at, stops = walks.at[here], walks.stops[here]
    met = np.full(len(at), fanout - 1, dtype=np.int64)
    inside = at < stops
    met[inside] = walks.symbols[at[inside]]
    return _Walks(
        at=at + 1,
        stops=stops,
        ended=walks.ended[here],
        cells=ranks[here] * fanout + met,
        units=walks.units[here],
        symbols=walks.symbols,
    )


def _counted(walks: _Walks) -> SparseCounts:
    order = np.argsort(walks.cells, kind="stable")
    cells, units = walks.cells[order], walks.units[order]
    firsts = np.flatnonzero(np.diff(cells, prepend=-1))
    if not len(firsts):
        return SparseCounts(cells, units)
    return SparseCounts(cells[firsts], np.add.reduceat(units, firsts))
