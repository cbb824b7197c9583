"""Mondrian, the multidimensional greedy algorithm, for any monotone principle.

A partition is cut in two along one column as long as both sides have the principle;
what cannot be cut is a class. Classes publish tight ranges: from the least to the
largest of their own values, or the lowest value of a hierarchy over them. All
partitions of one depth are cut at once, so that no row and no partition is a turn of a
loop.

Strict: rows of one value go to one side. Relaxed: they may be divided in the middle, in
the order of the table. Of equal columns the first is cut, of equal cuts the most even,
then the lowest; the same table gives the same classes.

A published range shows where the algorithm cut, and with it more than the range says
(Wong et al. 2007, minimality; Cohen 2022, downcoding): this is no differential privacy.

Source: LeFevre, DeWitt and Ramakrishnan 2006; the cuts by gain are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Ints
from upstream.anonymization.columns.classes import Classes
from upstream.anonymization.columns.columns import Column, HierarchyColumn
from upstream.anonymization.columns.tables import AnonymizedTable, table_of_ranges
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.mondrian.cuts import CutRules, Cuts, Rule, best_cuts
from upstream.anonymization.mondrian.joining import CutClasses
from upstream.anonymization.mondrian.partitions import Partitions
from upstream.anonymization.principles.principle import Principle


def mondrian(
    columns: Sequence[Column | HierarchyColumn],
    principle: Principle,
    *,
    rule: Rule = "gain",
    is_relaxed: bool = False,
) -> AnonymizedTable:
    """Return the table in classes that have the principle; no row is suppressed.

    Args:
        columns: The quasi-identifiers, at least one; all of one length, at least 1 row.
        principle: What every class must have; some of it is monotone.
        rule: Which cuts are taken.
        is_relaxed: Whether rows of one value may go to both sides.

    Raises:
        UnreachableError: Not even all rows together have the principle, nor two parts
            of them.
        ValueError: Nothing of the principle is monotone, or there is no column or no
            row.
    """
    rows = len(columns[0].codes) if columns else 0
    if not rows or any(len(column.codes) != rows for column in columns):
        message = "name columns of one length with at least one row"
        raise ValueError(message)
    if not principle.monotone.is_monotone:
        message = f"{principle} is not monotone: what cannot be cut may still have it"
        raise ValueError(message)
    whole = Classes(np.zeros(rows, np.int64), 1, np.arange(rows))
    if not principle.monotone.holds(whole).all():
        raise UnreachableError(str(principle))
    rules = CutRules(rule, is_relaxed, max(1, principle.least_size))
    return _published(columns, principle, _Run(columns, principle, rules).cut())


def _published(
    columns: Sequence[Column | HierarchyColumn], principle: Principle, cut: CutClasses
) -> AnonymizedTable:
    """Return the table of classes, joined where they lack the principle as published.

    Raises:
        UnreachableError: All rows in one class lack it.
    """
    while True:
        table = table_of_ranges(columns, cut.classes, cut.low, cut.high)
        if principle.is_monotone:
            return table
        lacking = np.flatnonzero(~principle.holds(table.published_classes()))
        if not len(lacking):
            return table
        if len(cut.nodes) == 1:
            raise UnreachableError(str(principle))
        looks = np.empty(len(cut.nodes), np.int64)
        looks[cut.classes] = table.classes
        cut = cut.joined(np.flatnonzero(looks == each) for each in lacking)


@dataclass
class _Run:
    """One run of the algorithm."""

    columns: Sequence[Column | HierarchyColumn]
    principle: Principle
    rules: CutRules

    def cut(self) -> CutClasses:
        """Cut until nothing can be cut."""
        rows = len(self.columns[0].codes)
        self.classes = np.empty(rows, np.int64)
        self.low: list[Ints] = []
        self.high: list[Ints] = []
        self.nodes: list[Ints] = []
        self.parents = [np.array([-1])]
        self.open_nodes = np.array([0])
        self.count = 0
        codes = tuple(column.codes for column in self.columns)
        open_ones = Partitions(np.arange(rows), codes, np.array([rows]))
        while len(open_ones.sizes):
            open_ones = self._deeper(open_ones)
        low, high = np.concatenate(self.low, axis=1), np.concatenate(self.high, axis=1)
        nodes, parents = np.concatenate(self.nodes), np.concatenate(self.parents)
        return CutClasses(self.classes, low, high, nodes, parents)

    def _deeper(self, open_ones: Partitions) -> Partitions:
        """Return the sides of what can be cut; the others become classes."""
        numbers = open_ones.numbers()
        cuts = [
            best_cuts(numbers, open_ones.sizes, codes, column.domain, self.rules)
            for codes, column in zip(open_ones.codes, self.columns, strict=True)
        ]
        chosen, right = self._choose(open_ones, cuts)
        self._close(open_ones, cuts, chosen < 0)
        parted = right[np.repeat(chosen >= 0, open_ones.sizes)]
        self.parents.append(np.repeat(self.open_nodes[chosen >= 0], 2))
        first = sum(map(len, self.parents[:-1]))
        self.open_nodes = first + np.arange(len(self.parents[-1]))
        return open_ones.kept(chosen >= 0).split(parted)

    def _choose(self, open_ones: Partitions, cuts: Sequence[Cuts]) -> tuple[Ints, Ints]:
        """Return by partition along which column it is cut, or -1; by entry its side.

        Columns are tried from the best score on until both sides have the principle.
        """
        scores = np.array([each.scores for each in cuts])
        order = np.argsort(-scores, axis=0, kind="stable")
        chosen = np.full(len(open_ones.sizes), -1)
        right = np.zeros(len(open_ones.rows), bool)
        for turn in order:
            pending = (chosen < 0) & np.isfinite(scores[turn, np.arange(len(turn))])
            if not pending.any():
                break
            these = open_ones.kept(pending)
            own = [each.kept(pending) for each in cuts]
            sides = these.sides(own, turn[pending])
            holds = self.principle.holds(these.halves(sides)).reshape(-1, 2).all(axis=1)
            chosen[np.flatnonzero(pending)[holds]] = turn[pending][holds]
            right[np.repeat(pending, open_ones.sizes)] = sides
        return chosen, right

    def _close(self, open_ones: Partitions, cuts: Sequence[Cuts], which: Ints) -> None:
        """Write down partitions as classes, with their ranges."""
        done = open_ones.kept(which)
        if len(done.sizes) and which.any():
            self.classes[done.rows] = self.count + done.numbers()
            self.low.append(np.array([each.low[which] for each in cuts]))
            self.high.append(np.array([each.high[which] for each in cuts]))
            self.nodes.append(self.open_nodes[which])
            self.count += len(done.sizes)
