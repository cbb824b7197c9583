"""Ordered values: numbers, or categories in an order; classes publish tight ranges."""

from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Codes, Flags, Floats, Text

ANY = "*"
"""What a class publishes that has missing values among others."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderedValues:
    """The distinct values of a column in order; codes count from 0.

    Attributes:
        texts_of: What each is published as.
        positions: Where each lies, rising; for numbers the numbers themselves, in the
            unit of the column, for categories 0, 1, 2, ...
        has_missing: Whether a last code stands for missing values: a category of its
            own, which lies in no range and is generalized to the top alone.
        is_listed: Whether ranges are published as lists of their values, since nobody
            knows the order.
    """

    texts_of: tuple[str, ...]
    positions: Floats
    has_missing: bool = False
    is_listed: bool = False

    @property
    def size(self) -> int:
        """Return how many codes there are, that of missing values included."""
        return len(self.texts_of) + self.has_missing

    @property
    def is_divisible(self) -> bool:
        """True: ranges may meet in a value."""
        return True

    def losses(self, low: Codes, high: Codes) -> Floats:
        """Return the width of ranges over that of all values, from 0 to 1.

        1 where missing values are among others; LM's loss (Iyengar 2002) and the
        penalty of numbers (Xu et al. 2006) are the same.
        """
        known = np.append(self.positions, 0.0)  # the missing one's is never compared
        width = float(np.ptp(self.positions)) if len(self.positions) else 0.0
        ranges = (known[high] - known[low]) / (width or 1.0)
        return np.where(self._is_mixed(low, high), 1.0, ranges)

    def penalties(self, low: Codes, high: Codes) -> Floats:
        """Return the normalized certainty penalty (NCP): the losses."""
        return self.losses(low, high)

    def is_cut(self, low: Codes, high: Codes, left: Codes, right: Codes) -> Flags:
        """Whether left | right may part low to high: everywhere."""
        del low, high, right
        return np.ones(len(left), bool)

    def texts(self, low: Codes, high: Codes) -> tuple[Text, ...]:
        """Return what is published: "25", "[25-28]", "{A, B}", "*", None (missing)."""
        mixed = self._is_mixed(low, high).tolist()
        ranges = zip(low.tolist(), high.tolist(), mixed, strict=True)
        return tuple(ANY if any_ else self._text(*each) for *each, any_ in ranges)

    def _text(self, low: int, high: int) -> Text:
        """Return what a range without missing values, or only they, is published as."""
        if low == high:
            return (*self.texts_of, None)[low]
        if self.is_listed:
            return "{" + ", ".join(sorted(self.texts_of[low : high + 1])) + "}"
        return f"[{self.texts_of[low]}-{self.texts_of[high]}]"

    def bounds(self, low: Codes, high: Codes) -> tuple[Floats, Floats]:
        """Return where ranges begin and end, in the unit of the column.

        NaN where only missing values are; infinite where they are among others.
        """
        known = np.append(self.positions, np.nan)
        mixed = self._is_mixed(low, high)
        return (
            np.where(mixed, -np.inf, known[low]),
            np.where(mixed, np.inf, known[high]),
        )

    def _is_mixed(self, low: Codes, high: Codes) -> Flags:
        """Whether missing values are among others."""
        missing = len(self.texts_of)
        return np.asarray((high == missing) & (low != missing))
