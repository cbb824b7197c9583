"""Shares of something, as people write them: "5%"."""

import re
from fractions import Fraction

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%", re.ASCII)


def share_of(text: object) -> Fraction | None:
    """Return a share above 0 and of at most 1; None where it is not written so.

    >>> share_of("2.5%")
    Fraction(1, 40)
    >>> share_of("120%"), share_of(0.02)
    (None, None)
    """
    found = _PERCENT.fullmatch(text) if isinstance(text, str) else None
    share = None if found is None else Fraction(found[1]) / 100
    return share if share is not None and 0 < share <= 1 else None
