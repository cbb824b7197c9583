"""Codes, categories and plain words."""

import re
from collections.abc import Mapping

from upstream.extraction.normalising.outcomes import Doubt, Normalised

_LONGEST_CODE = 200  # characters


def normal_code(text: str, pattern: re.Pattern[str], *, drop: str = "") -> Normalised:
    """Return a code: in capitals, without blanks, if it has a form.

    Args:
        text: What a span says.
        pattern: What the whole code must match.
        drop: Signs that are left out, such as the point of ``J45.9``.

    >>> normal_code("j45.9", re.compile("[A-Z][0-9]{2,4}"), drop=".").value
    'J459'
    """
    if len(text) > _LONGEST_CODE:
        return Normalised(None, Doubt.UNREADABLE)
    code = "".join(text.upper().split()).translate({ord(sign): None for sign in drop})
    return (
        Normalised(code)
        if pattern.fullmatch(code)
        else Normalised(None, Doubt.UNREADABLE)
    )


def normal_category(
    text: str, values: Mapping[str, str], other: str | None = None
) -> Normalised:
    """Return the value that a text is declared to mean, whatever its case.

    >>> normal_category("North  Ward", {"north ward": "north"}).value
    'north'
    """
    said = " ".join(text.casefold().split())
    found = {" ".join(key.casefold().split()): value for key, value in values.items()}
    value = found.get(said, other)
    return Normalised(None, Doubt.UNKNOWN) if value is None else Normalised(value)


def normal_text(text: str) -> Normalised:
    """Return a text on one line."""
    said = " ".join(text.split())
    return Normalised(said) if said else Normalised(None, Doubt.UNREADABLE)
