"""Whether more ids were found than codes that are nobody's would hit.

Public numbers hit ids now and then: a million ids of seven digits are a ninth of all
numbers of seven digits. Ids are taken to lie among such numbers by accident, and found
on purpose where the odds of a hit are ``LEAST_ODDS_RATIO`` times as high.
"""

import math
from dataclasses import dataclass

LEAST_ODDS_RATIO = 10
"""How many times the odds of an accident are too many: codes lie close together."""

MOST_PROBABLE = 1e-4
"""The most probable run of hits that is still no accident."""

_AS_LIKELY_AS_NOT = 0.5
_WORDS_THAT_ARE_IDS = 0.02  # by accident: names of people are names of wards and towns


@dataclass(frozen=True, slots=True)
class Shape:
    """What numbers and codes have in common that are compared as one.

    Attributes:
        digits: How many digits they have; of numbers alone without zeros in front. Of
            words of letters alone, how many letters, below 0.
        alone: Whether there are no letters beside them.
        filled: Whether they are numbers filled up with zeros to six digits or more; if
            not alone, whether a dot in them was read as another separator, or six
            digits in two parts as one number.
    """

    digits: int
    alone: bool
    filled: bool

    def probability(self, ids: int) -> float:
        """Return how likely one hits one of so many ids by accident.

        What has letters or is filled up with zeros looks like an id: an accident is at
        most as likely as not.
        """
        if self.digits < 0:
            return min(1.0, max(ids * 26.0**self.digits, _WORDS_THAT_ARE_IDS))
        space = 9 * 10.0 ** max(0, self.digits - 1)
        probability: float = min(1.0, ids / space)
        if self.alone and not self.filled:
            return probability
        return min(probability, _AS_LIKELY_AS_NOT)


def is_beyond_accident(hits: int, trials: int, probability: float) -> bool:
    """Return whether so many of some numbers are ids on purpose.

    The odds are too high, and by Chernoff's bound on a binomial tail the hits are less
    probable than ``MOST_PROBABLE``.

    >>> is_beyond_accident(6, 6, 0.01), is_beyond_accident(6, 600, 0.01)
    (True, False)
    """
    if hits == 0 or probability >= 1:
        return False
    misses = trials - hits
    if hits * (1 - probability) < LEAST_ODDS_RATIO * misses * probability:
        return False
    tail = hits * math.log(hits / trials / probability)
    if misses:
        tail += misses * math.log(misses / trials / (1 - probability))
    return tail > -math.log(MOST_PROBABLE)
