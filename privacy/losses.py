"""Privacy losses: exact, in integer nano-epsilon."""

import re
from dataclasses import dataclass
from fractions import Fraction

from privacy.errors import InvalidLossError

NANO = 10**9
MAX_NANO = 2**62 - 1
_GRAMMAR = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, order=True, slots=True)
class Loss:
    """A pure differential-privacy loss, in units of 1e-9 epsilon.

    Neighbouring relation: add or remove all rows of one unit.

    >>> Loss.parse("0.1") + Loss.parse("0.25")
    Loss(nano_epsilon=350000000)
    >>> str(Loss.parse("1.50"))
    '1.5'
    """

    nano_epsilon: int

    def __post_init__(self) -> None:
        """Refuse what no ledger column could hold."""
        if not 0 <= self.nano_epsilon <= MAX_NANO:
            message = f"a loss must lie in 0..2**62-1 nano, not {self.nano_epsilon}"
            raise ValueError(message)

    @classmethod
    def parse(cls, text: str) -> "Loss":
        """Read a decimal string such as ``"0.25"``: ASCII digits, at most nine places.

        Raises:
            InvalidLossError: The text is off the grammar.
        """
        if _GRAMMAR.fullmatch(text) is None or not text.isascii():
            raise InvalidLossError(text=text)
        whole, _, places = text.partition(".")
        return cls(int(whole) * NANO + int(places.ljust(9, "0")))

    @property
    def epsilon(self) -> Fraction:
        """The loss as an exact epsilon."""
        return Fraction(self.nano_epsilon, NANO)

    def __add__(self, other: "Loss") -> "Loss":
        """Compose two losses in sequence."""
        return Loss(self.nano_epsilon + other.nano_epsilon)

    def minus_floor_zero(self, other: "Loss") -> "Loss":
        """Return what is left of this budget after ``other``, never below zero."""
        return Loss(max(0, self.nano_epsilon - other.nano_epsilon))

    def __str__(self) -> str:
        """Write the loss as the wire does, without trailing zeros."""
        whole, nano = divmod(self.nano_epsilon, NANO)
        return f"{whole}.{nano:09d}".rstrip("0").rstrip(".")


ZERO_LOSS = Loss(0)
