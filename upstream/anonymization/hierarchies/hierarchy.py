"""A generalization hierarchy: how each value of a column becomes less exact.

NULL is a value of its own category, never a wildcard: a missing value is generalized
into nothing but the top. (Whether NULL counts as a wildcard changes which tables are
k-anonymous: issue 225 of sdcMicro.)

Sources: Samarati 2001 (domain and value generalization hierarchies); the form of files
is that of ARX.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from upstream.anonymization.arrays import Codes, Floats, Ints, Text
from upstream.anonymization.errors import HierarchyError
from upstream.errors import Problem

TOP = "*"
"""What everything becomes in the end, where a hierarchy does not say it otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """A tree of values over the leaves of a column.

    Leaves are numbered so that those under one value follow each other: then the lowest
    value that covers several leaves is that of the first and the last of them.

    Attributes:
        name: What it is called in messages.
        labels: By level from 0 (as is) to the top: the values, in the order of leaves.
            None is a missing value.
        codes: Shape (levels, leaves): which value of ``labels`` a leaf has on a level;
            never falls along the leaves.
    """

    name: str
    labels: tuple[tuple[Text, ...], ...]
    codes: Ints

    @property
    def height(self) -> int:
        """Return the number of the top level; the values as they are have level 0."""
        return len(self.labels) - 1

    @property
    def size(self) -> int:
        """Return how many leaves there are, the missing value included."""
        return len(self.labels[0])

    @property
    def is_divisible(self) -> bool:
        """False: a value has one parent."""
        return False

    def levels_between(self, low: Codes, high: Codes) -> Ints:
        """Return the level of the lowest value that covers leaves from low to high."""
        levels: Ints = (self.codes[:, low] != self.codes[:, high]).sum(axis=0)
        return levels

    def covered_at(self, levels: Ints, leaves: Codes) -> Ints:
        """Return how many leaves the values of leaves on levels cover."""
        counts = np.array([np.bincount(codes)[codes] for codes in self.codes])
        covered: Ints = counts[levels, leaves]
        return covered

    def losses_at(self, levels: Ints, leaves: Codes) -> Floats:
        """Return LM's loss of the values of leaves on levels, from 0 to 1.

        (leaves under the value - 1) / (leaves - 1); Iyengar 2002.
        """
        losses: Floats = (self.covered_at(levels, leaves) - 1) / max(1, self.size - 1)
        return losses

    def penalties_at(self, levels: Ints, leaves: Codes) -> Floats:
        """Return their normalized certainty penalty (NCP), from 0 to 1.

        (leaves under the value) / leaves, and 0 for a leaf; Xu et al. 2006.
        """
        covered = self.covered_at(levels, leaves)
        return np.where(covered > 1, covered / self.size, 0.0)

    def texts_at(self, levels: Ints, leaves: Codes) -> tuple[Text, ...]:
        """Return the values of leaves on levels."""
        places = self.codes[levels, leaves]
        pairs = zip(levels.tolist(), places.tolist(), strict=True)
        return tuple(self.labels[level][place] for level, place in pairs)

    def bounds_at(self, levels: Ints, leaves: Codes) -> tuple[Floats, Floats]:
        """Return the least and the largest number under the values of leaves on levels.

        NaN for a missing value; infinite where one is among others.

        Raises:
            ValueError: A leaf is no number.
        """
        numbers = np.array(
            [np.nan if label is None else float(label) for label in self.labels[0]]
        )
        lower, upper = np.empty((2, len(levels)))
        for level in np.unique(levels):
            starts = np.flatnonzero(np.diff(self.codes[level], prepend=-1))
            here = levels == level
            places = self.codes[level, leaves[here]]
            lower[here] = np.minimum.reduceat(numbers, starts)[places]
            upper[here] = np.maximum.reduceat(numbers, starts)[places]
        mixed = np.isnan(lower) & (self.covered_at(levels, leaves) > 1)
        return np.where(mixed, -np.inf, lower), np.where(mixed, np.inf, upper)

    def losses(self, low: Codes, high: Codes) -> Floats:
        """Return LM's loss of the lowest values over leaves from low to high."""
        return self.losses_at(self.levels_between(low, high), low)

    def penalties(self, low: Codes, high: Codes) -> Floats:
        """Return the penalty of the lowest values over leaves from low to high."""
        return self.penalties_at(self.levels_between(low, high), low)

    def texts(self, low: Codes, high: Codes) -> tuple[Text, ...]:
        """Return the lowest values over leaves from low to high."""
        return self.texts_at(self.levels_between(low, high), low)

    def bounds(self, low: Codes, high: Codes) -> tuple[Floats, Floats]:
        """Return the numbers under the lowest values over leaves from low to high.

        Raises:
            ValueError: A leaf is no number.
        """
        return self.bounds_at(self.levels_between(low, high), low)

    def is_cut(self, low: Codes, high: Codes, left: Codes, right: Codes) -> Ints:
        """Whether left | right parts two children of the value over low to high.

        Args:
            low: First leaves of what is cut.
            high: Last leaves of it.
            left: Last leaves left of the cut.
            right: First leaves right of it.
        """
        below = np.maximum(self.levels_between(low, high) - 1, 0)
        is_cut: Ints = self.codes[below, left] != self.codes[below, right]
        return is_cut

    def with_missing(self) -> "Hierarchy":
        """Return it with a last leaf for missing values, under nothing but the top."""
        if None in self.labels[0]:
            return self
        below = [np.append(codes, codes[-1] + 1) for codes in self.codes[:-1]]
        codes = np.array([*below, np.append(self.codes[-1], 0)])
        labels = (*((*each, None) for each in self.labels[:-1]), self.labels[-1])
        return replace(self, labels=labels, codes=codes)

    def by_frequency(self, counts: Ints) -> "Hierarchy":
        """Return it with the children of each value in falling order of rows.

        Ties keep their order; a missing value stays the last leaf.

        Args:
            counts: Rows by leaf.
        """
        keys: list[Ints] = []
        for codes in self.codes:
            keys += [codes, -np.bincount(codes, weights=counts)[codes]]
        keys.append(np.array([label is None for label in self.labels[0]]))
        order = np.lexsort(keys)
        return _ordered(self.name, self._paths(order))

    def _paths(self, leaves: Ints) -> list[tuple[Text, ...]]:
        """Return the paths of leaves in order."""
        columns = self.codes[:, leaves].tolist()
        named = [
            [labels[place] for place in places]
            for labels, places in zip(self.labels, columns, strict=True)
        ]
        return list(zip(*named, strict=True))


def hierarchy_of(name: str, paths: Sequence[Sequence[str]]) -> Hierarchy:
    """Return the hierarchy of paths: a leaf, its value on each level, the top.

    Args:
        name: What it is called in messages.
        paths: One a leaf; all of one length.

    Raises:
        HierarchyError: A path is of another length, stands twice or has an empty value;
            a value has two parents; the last level has several values.

    >>> hierarchy = hierarchy_of("sex", [("M", "*"), ("F", "*")])
    >>> hierarchy.labels
    (('M', 'F'), ('*',))
    """
    problems = _flaws(name, paths)
    if problems:
        raise HierarchyError(tuple(problems))
    places: list[dict[Text, int]] = [{} for _ in paths[0]]
    for path in paths:
        for level, value in enumerate(path):
            places[level].setdefault(value, len(places[level]))
    ordered = sorted(
        paths,
        key=lambda path: [p[v] for p, v in zip(places[::-1], path[::-1], strict=True)],
    )
    return _ordered(name, ordered)


def _ordered(name: str, paths: Sequence[Sequence[Text]]) -> Hierarchy:
    """Return the hierarchy of paths whose leaves under one value stand together."""
    labels, codes = [], []
    for level in zip(*paths, strict=True):
        known: dict[Text, int] = {}
        codes.append([known.setdefault(value, len(known)) for value in level])
        labels.append(tuple(known))
    return Hierarchy(name, tuple(labels), np.array(codes))


def _flaws(name: str, paths: Sequence[Sequence[str]]) -> list[Problem]:
    """Return what is wrong with paths, each with its line from 1."""
    if not paths:
        return [Problem(name, None, None, "no value: write one path a line")]
    problems = []
    leaves: set[str] = set()
    parents: dict[tuple[int, str], str] = {}
    for line, path in enumerate(paths, 1):
        sentence = _path_flaw(path, len(paths[0]), leaves) or _nesting_flaw(
            path, parents
        )
        if sentence:
            problems.append(Problem(name, line, None, sentence))
    if not problems and len({path[-1] for path in paths}) > 1:
        sentence = f"the last level has several values: add a level of {TOP!r}"
        problems.append(Problem(name, None, None, sentence))
    return problems


def _path_flaw(path: Sequence[str], width: int, leaves: set[str]) -> str | None:
    """Return what is wrong with a path by itself."""
    sentence = None
    if len(path) != width:
        sentence = f"{len(path)} levels, but the first path has {width}: mend the line"
    elif not path or not all(path):
        sentence = "a value is empty: write one (missing values need no path)"
    elif path[0] in leaves:
        sentence = "its value stands twice: keep one of them"
    leaves.add(path[0] if path else "")
    return sentence


def _nesting_flaw(
    path: Sequence[str], parents: dict[tuple[int, str], str]
) -> str | None:
    """Return which value of a path lies under another parent before."""
    for level, (value, parent) in enumerate(pairwise(path)):
        if parents.setdefault((level, value), parent) != parent:
            return (
                f"its value on level {level} lies under another one here than before: "
                "levels must nest"
            )
    return None


def paths_of(hierarchy: Hierarchy) -> Mapping[Text, tuple[Text, ...]]:
    """Return the path of each leaf, from itself to the top."""
    leaves = np.arange(hierarchy.size)
    return {path[0]: path for path in hierarchy._paths(leaves)}  # noqa: SLF001 - own
