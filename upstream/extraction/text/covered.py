"""Which places of a text are covered: asked and told in time that grows with spans."""

from collections.abc import Iterable, Iterator


class Covered:
    """Places, such as characters or tokens, that spans lie on.

    A note may have as many spans as characters, so each is held against all others at
    once, and not one by one.

    >>> covered = Covered([(2, 4)])
    >>> covered.meets(0, 2), covered.meets(3, 9)
    (False, True)
    >>> list(covered.beside(0, 6))
    [(0, 2), (4, 6)]
    """

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._places = bytearray()
        for start, end in spans:
            self.add(start, end)

    def add(self, start: int, end: int) -> None:
        """Cover the places from ``start`` to before ``end``."""
        short = end - len(self._places)
        if short > 0:
            self._places += bytes(max(short, len(self._places)))
        self._places[start:end] = b"\1" * (end - start)

    def meets(self, start: int, end: int) -> bool:
        """Whether one of the places from ``start`` to before ``end`` is covered."""
        return self._places.find(1, start, end) >= 0

    def beside(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the runs of places there that are not covered."""
        while start < end:
            taken = self._places.find(1, start, end)
            if taken < 0:
                yield start, end
                return
            if taken > start:
                yield start, taken
            free = self._places.find(0, taken, end)
            if free < 0 and len(self._places) >= end:
                return
            start = free if free >= 0 else len(self._places)
