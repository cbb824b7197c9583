"""Groups of records that are joined one after another, and what keeps them apart."""

from collections.abc import Iterable, Sequence


class Groups:
    """Disjoint groups of records, by their numbers from 1.

    >>> groups = Groups(3)
    >>> groups.part(1, 3)
    >>> groups.join(1, 2)
    >>> groups.are_parted(2, 3), sorted(groups.members(2))
    (True, [1, 2])
    """

    def __init__(self, count: int) -> None:
        self._leader = list(range(count + 1))
        self._members: dict[int, list[int]] = {}  # of groups of two and more
        self._parted: dict[int, set[int]] = {}  # leaders of groups, both ways

    def leader(self, number: int) -> int:
        """Return what names the group of a record, until it is joined to another."""
        return self._leader[number]

    def members(self, number: int) -> Sequence[int]:
        """Return the records of a record's group."""
        leader = self._leader[number]
        return self._members.get(leader, [leader])

    def are_together(self, left: int, right: int) -> bool:
        """Whether two records are in one group."""
        return self._leader[left] == self._leader[right]

    def are_parted(self, left: int, right: int) -> bool:
        """Whether something keeps the groups of two records apart."""
        return self._leader[right] in self._parted.get(self._leader[left], ())

    def part(self, left: int, right: int) -> None:
        """Keep the groups of two records apart, whatever is joined to them later."""
        one, other = self._leader[left], self._leader[right]
        self._parted.setdefault(one, set()).add(other)
        self._parted.setdefault(other, set()).add(one)

    def join(self, left: int, right: int) -> None:
        """Make one group of two; the smaller takes the name of the larger."""
        keep, gone = self._leader[left], self._leader[right]
        if keep == gone:
            return
        if len(self.members(keep)) < len(self.members(gone)):
            keep, gone = gone, keep
        moved = self._members.pop(gone, [gone])
        self._members.setdefault(keep, [keep]).extend(moved)
        for number in moved:
            self._leader[number] = keep
        for other in self._parted.pop(gone, set()):
            self._parted[other].discard(gone)
            self._parted[other].add(keep)
            self._parted.setdefault(keep, set()).add(other)

    def join_all(self, numbers: Iterable[int]) -> None:
        """Make one group of all these records."""
        first: int | None = None
        for number in numbers:
            if first is not None:
                self.join(first, number)
            first = number if first is None else first

    def of_several(self) -> Iterable[Sequence[int]]:
        """Return the groups of two records and more."""
        return self._members.values()
