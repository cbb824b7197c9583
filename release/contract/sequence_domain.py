"""What a sequence release ranges over: an alphabet, a length, perhaps a split."""

from dataclasses import dataclass

from release.contract.domain import Dimension


@dataclass(frozen=True, slots=True)
class SequenceDomain:
    """All sequences of 0 to ``max_length`` symbols, for each value of the split.

    Attributes:
        alphabet: The symbols; its values are declared, never learnt from rows.
        max_length: h, the most symbols of a unit that are looked at; public.
        split: A dimension that is constant in each unit, or None. Each of its values
            has a tree of its own, at the price of one: a unit is in one of them.

    Neighbouring relation: add or remove all rows of one unit: one sequence appears or
    goes away.
    """

    alphabet: Dimension
    max_length: int
    split: Dimension | None = None

    @property
    def symbols(self) -> int:
        """How many symbols there are."""
        return len(self.alphabet)

    @property
    def end(self) -> int:
        """The code that says a sequence has ended; it has no children."""
        return self.symbols

    @property
    def rest(self) -> int:
        """The code of what is not known: pruned, or beyond the maximal length."""
        return self.symbols + 1

    @property
    def beginnings(self) -> int:
        """How many nodes the first level has: each tree's symbols and its end."""
        return self.groups * (self.symbols + 1)

    @property
    def groups(self) -> int:
        """How many trees there are."""
        return 1 if self.split is None else len(self.split)
