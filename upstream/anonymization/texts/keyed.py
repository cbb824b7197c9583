"""Choices that follow from a secret key and a patient: the same in every document."""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
_DIGEST = 8  # bytes of a draw


@dataclass(frozen=True, slots=True)
class KeyedChoice:
    """Draws for one patient.

    Attributes:
        key: The secret, 32 bytes or more. Who has it can try whether a value had a
            surrogate.
        patient: The patient's key.
    """

    key: bytes
    patient: str

    def number(self, purpose: str, value: str, below: int, *, turn: int = 0) -> int:
        """Return a number from 0 to below ``below``.

        Args:
            purpose: What for; other purposes have other draws.
            value: Of what.
            below: At most 2^32, so that no number is preferred by more than 2^-32.
            turn: Which draw of the value.
        """
        parts = (self.patient, purpose, value, str(turn))
        told = b"".join(
            len(part).to_bytes(8, "big") + part
            for part in (text.encode() for text in parts)
        )
        digest = hmac.digest(self.key, told, hashlib.sha256)
        return int.from_bytes(digest[:_DIGEST], "big") % below

    def among(self, purpose: str, value: str, names: Sequence[T]) -> Iterator[T]:
        """Yield of some names one after another, each perhaps several times."""
        for turn in range(4 * len(names)):
            yield names[self.number(purpose, value, len(names), turn=turn)]
