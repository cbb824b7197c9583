"""What weighted sums of whole numbers are multiples of.

Proof: docs/proofs/half_widths_of_sums.md.
"""

import math
from collections.abc import Sequence
from fractions import Fraction


def grain_of(weights: Sequence[Fraction]) -> Fraction:
    """Return the greatest number that all weights are whole multiples of."""
    denominator = math.lcm(*(w.denominator for w in weights))
    whole = math.gcd(*(int(w * denominator) for w in weights))
    return Fraction(whole, denominator)
