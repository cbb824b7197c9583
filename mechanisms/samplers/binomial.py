"""How many of very many trials succeed, exactly, in time that barely grows."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from mechanisms.samplers.enclosures import (
    Decay,
    Interval,
    PassProbability,
    Ratio,
    exp_minus,
)
from mechanisms.samplers.entropy import Entropy
from mechanisms.samplers.geometric import geometric_of
from mechanisms.samplers.power_sums import odd_power_sum
from mechanisms.samplers.trials import succeeds

_FEW = 1 << 17  # so many fair coins are simply thrown


def binomial(trials: int, probability: Ratio, entropy: Entropy) -> int:
    """Return how many of ``trials`` succeed, each with this probability, independently.

    A trial succeeds when its uniform number is below the probability. All trials read
    their numbers together, bit by bit; those that differ from the probability's own bit
    are settled, and about half are left. How many differ is a binomial number of fair
    coins.

    Args:
        trials: From 0 to 2**61.
        probability: That a trial succeeds.
        entropy: Where the bits come from.

    Source: docs/proofs/binomial.md.
    """
    succeeded, bit = 0, 0
    while trials:
        bit += 1
        below = fair_heads(trials, entropy)  # those whose bit is 0
        if _binary_digit(probability, bit):
            succeeded += below
            trials -= below
        else:
            trials = below
    return succeeded


def _binary_digit(probability: Ratio, place: int) -> int:
    """Return the digit of a probability below 1 at ``2**-place``."""
    spare = 0
    while True:
        low, high = probability.enclose(place + spare)
        if low >> spare == high >> spare:
            return (low >> spare) & 1
        spare += 64


def fair_heads(coins: int, entropy: Entropy) -> int:
    """Return how many of so many fair coins show heads.

    Few are thrown. Of 2 n, the heads are n + i with a probability in proportion to
    ``1 / ((n+i)! (n-i)!)``: i is proposed by discrete Laplace noise about as wide, and
    accepted with what makes up the difference.

    Source: docs/proofs/binomial.md.
    """
    if coins <= _FEW:
        bits = int.from_bytes(entropy(-(-coins // 8)))
        return (bits >> -coins % 8).bit_count()
    odd, half = coins % 2, coins // 2
    scale = 1 << isqrt(half // 2).bit_length()
    while True:
        offset = _laplace(Fraction(scale), entropy)
        if abs(offset) <= half and succeeds(
            Acceptance(half, abs(offset), scale), entropy
        ):
            return half + offset + (fair_heads(1, entropy) if odd else 0)


def _laplace(scale: Fraction, entropy: Entropy) -> int:
    distance = int(geometric_of(Decay(scale)).draw(1, entropy)[0])
    return -1 - distance if succeeds(PassProbability(1, scale), entropy) else distance


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The probability to accept an offset from the middle of ``2 * half`` fair coins.

    It is ``exp(-y)``, ``y = ln((n+i)! (n-i)! / n!**2) - i/t + (2n+1)/(8t**2)``; that is
    never below 0, and the logarithm is the sum of ``2 artanh((2j-1)/(2n+1))`` over
    j = 1..i.

    Attributes:
        half: n.
        offset: i, from 0 to n.
        scale: t, of the noise that proposed it.
    """

    half: int
    offset: int
    scale: int

    def enclose(self, bits: int) -> Interval:
        """Return integers around it, a few units apart."""
        low, high = self._log_loss(Fraction(1, 1 << bits))
        moved = Fraction(2 * self.half + 1, 8 * self.scale**2) - Fraction(
            self.offset, self.scale
        )
        least = exp_minus(high + moved, bits)[0]
        return least, exp_minus(max(Fraction(0), low + moved), bits)[1]

    def _log_loss(self, width: Fraction) -> tuple[Fraction, Fraction]:
        """Return numbers around the logarithm, at most ``width`` apart."""
        whole = 2 * self.half + 1
        largest = Fraction(2 * self.offset - 1, whole)
        found, power = Fraction(0), 1
        while True:
            rest = 2 * self.offset * largest**power / (power * (1 - largest**2))
            if rest <= width:
                return found, found + rest
            terms = odd_power_sum(power, self.offset)
            found += Fraction(2 * terms, power * whole**power)
            power += 2
