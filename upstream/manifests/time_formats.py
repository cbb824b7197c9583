"""The strptime formats that a manifest may declare, as patterns with named parts."""

import re
from string import ascii_letters, digits

_PARTS = {
    "Y": r"(?P<Y>[0-9]{4})",
    "y": r"(?P<y>[0-9]{2})",
    "m": r"(?P<m>[0-9]{1,2})",
    "d": r"(?P<d>[0-9]{1,2})",
    "b": r"(?P<b>[A-Za-z]{3})",
    "B": r"(?P<B>[A-Za-z]{3,9})",
    "H": r"(?P<H>[0-9]{1,2})",
    "M": r"(?P<M>[0-9]{1,2})",
    "S": r"(?P<S>[0-9]{1,2})",
    "f": r"(?P<f>[0-9]{1,6})",
}
_LENGTHS = {
    "Y": (4, 4), "y": (2, 2), "m": (1, 2), "d": (1, 2), "b": (3, 3), "B": (3, 9),
    "H": (1, 2), "M": (1, 2), "S": (1, 2), "f": (1, 6),
}  # fmt: skip
"""The least and the most characters of each part."""

_CLOCK = frozenset("HMSf")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august",
    "september", "october", "november", "december",
)  # fmt: skip
_TOKEN = re.compile(r"%(.)|([^%]+)|(%)", re.DOTALL)


class FormatError(ValueError):
    """A declared format cannot be read without doubt; the message says what to do."""


def format_pattern(
    format_: str, *, with_clock: bool, with_century: bool = False
) -> str:
    """Return a regular expression (the same in Python and RE2) with named parts.

    Args:
        format_: A strptime format of %Y %y %m %d %b %B %H %M %S %f %%.
        with_clock: Whether hours and smaller parts may stand in it.
        with_century: Whether years of two digits have a declared century.

    Raises:
        FormatError: A directive is unknown, repeated, or the day is incomplete.
    """
    parts: list[str] = []
    used: list[str] = []
    for directive, text, other in _TOKEN.findall(format_):
        if text or directive == "%":
            parts.append(re.escape(text or "%"))
        else:
            parts.append(_part(directive or other, with_clock=with_clock))
            used.append(directive)
    if "y" in used and not with_century:
        message = (
            "%y leaves the century open: declare century: 1930 beside it (30 to 99 are "
            "19.., 00 to 29 are 20..), or write the files with %Y"
        )
        raise FormatError(message)
    _require_a_day(used)
    return "".join(parts)


def are_ambiguous(first: str, second: str, *, with_clock: bool) -> bool:
    """Return whether one text can be read in two formats, as two moments.

    Two formats of the same directives in the same order (``%b`` and ``%B`` are one)
    read a text alike.

    >>> are_ambiguous("%d/%m/%Y", "%m/%d/%Y", with_clock=False)
    True
    >>> are_ambiguous("%d.%m.%Y", "%Y-%m-%d", with_clock=False)
    False
    """
    if _directives(first) == _directives(second) and first != second:
        return False
    one, other = (_steps(f, with_clock=with_clock) for f in (first, second))
    return _meet(one, other)


def _directives(format_: str) -> str:
    found = "".join(directive for directive, _, _ in _TOKEN.findall(format_))
    return found.replace("%", "").replace("B", "b")


def _steps(format_: str, *, with_clock: bool) -> list[tuple[frozenset[str], bool]]:
    """Return the characters that may stand at each place, and if it may be left out."""
    format_pattern(format_, with_clock=with_clock, with_century=True)
    steps: list[tuple[frozenset[str], bool]] = []
    for directive, text, _ in _TOKEN.findall(format_):
        if text or directive == "%":
            steps += [(frozenset(one), False) for one in text or "%"]
            continue
        letters = ascii_letters if directive in "bB" else digits
        least, most = _LENGTHS[directive]
        steps += [(frozenset(letters), n >= least) for n in range(most)]
    return steps


def _meet(
    one: list[tuple[frozenset[str], bool]], other: list[tuple[frozenset[str], bool]]
) -> bool:
    """Return whether some text goes through both: a search of pairs of places."""
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting:
        i, j = waiting.pop()
        if i == len(one) and j == len(other):
            return True
        following = []
        if i < len(one) and one[i][1]:
            following.append((i + 1, j))
        if j < len(other) and other[j][1]:
            following.append((i, j + 1))
        if i < len(one) and j < len(other) and one[i][0] & other[j][0]:
            following.append((i + 1, j + 1))
        waiting += [pair for pair in following if pair not in seen]
        seen.update(following)
    return False


def _part(directive: str, *, with_clock: bool) -> str:
    if directive not in _PARTS or (directive in _CLOCK and not with_clock):
        known = "%Y %m %d %b %B" + (" %H %M %S %f" if with_clock else "")
        message = f"%{directive} cannot be read here: use {known} and %%"
        raise FormatError(message)
    return _PARTS[directive]


def _require_a_day(used: list[str]) -> None:
    months = [d for d in used if d in "mbB"]
    years = used.count("Y") + used.count("y")
    whole = years == used.count("d") == len(months) == 1
    if not whole or len(set(used)) != len(used):
        message = "a format names year, month and day once each, and no part twice"
        raise FormatError(message)


def has_short_years(format_: str) -> bool:
    """Return whether a format has years of two digits.

    >>> has_short_years("%d.%m.%y"), has_short_years("%d.%m.%Y %%y")
    (True, False)
    """
    return any(directive == "y" for directive, _, _ in _TOKEN.findall(format_))


def whole_year(short: int, century: int) -> int:
    """Return the one of the 100 years from ``century`` on that ends in two digits.

    >>> whole_year(30, 1930), whole_year(29, 1930)
    (1930, 2029)
    """
    return century + (short - century) % 100


def iso_text(parts: dict[str, str], century: int | None = None) -> str | None:
    """Return the named parts of a match as ISO text, or None for no known month.

    Args:
        parts: By the letters of their directives.
        century: From which year on those of two digits are.
    """
    month = parts.get("m") or _month_number(parts)
    if month is None:
        return None
    year = parts.get("Y") or f"{whole_year(int(parts['y']), century or 0):04}"
    day = f"{year}-{month.rjust(2, '0')}-{parts['d'].rjust(2, '0')}"
    hour, minute, second = (parts.get(p, "0").rjust(2, "0") for p in "HMS")
    return f"{day} {hour}:{minute}:{second}.{parts.get('f', '0').ljust(6, '0')}"


def _month_number(parts: dict[str, str]) -> str | None:
    name = (parts.get("b") or parts.get("B") or "").lower()
    names = MONTHS if "B" in parts else tuple(m[:3] for m in MONTHS)
    return str(names.index(name) + 1) if name in names else None
