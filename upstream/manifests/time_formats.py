"""The strptime formats that a manifest may declare, as patterns with named parts.

And two words for what has no parts: ``unix_seconds`` and ``unix_milliseconds``, counted
since 1970 in UTC.
"""

import re
from datetime import datetime, timedelta
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
    "I": r"(?P<I>0?[1-9]|1[0-2])",
    "p": r"(?P<p>[AaPp][Mm])",
    "z": r"(?P<z>Z|[+-](?:0[0-9]|1[0-8])(?::?[0-5][0-9])?)",
}
UNIX = {
    "unix_seconds": r"(?P<u>-?[0-9]{1,12})(?:\.(?P<v>[0-9]{1,6}))?",
    "unix_milliseconds": r"(?P<w>-?[0-9]{1,15})",
}
"""Formats that count since 1970: whole seconds and their parts, or milliseconds."""

_LENGTHS = {
    "Y": (4, 4), "y": (2, 2), "m": (1, 2), "d": (1, 2), "b": (3, 3), "B": (3, 9),
    "H": (1, 2), "M": (1, 2), "S": (1, 2), "f": (1, 6), "I": (1, 2), "p": (2, 2),
    "z": (1, 6),
}  # fmt: skip
"""The least and the most characters of each part."""

_SIGNS = {"b": ascii_letters, "B": ascii_letters, "p": "AaPpMm", "z": "Z+-:" + digits}
"""The characters of parts that are no digits alone."""

_CLOCK = frozenset("HMSfIpz")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - moments are stored without a zone
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august",
    "september", "october", "november", "december",
)  # fmt: skip
_LONGEST_COUNT = 20  # characters of a count since 1970
_TOKEN = re.compile(r"%(.)|([^%]+)|(%)", re.DOTALL)


class FormatError(ValueError):
    """A declared format cannot be read without doubt; the message says what to do."""


def format_pattern(
    format_: str, *, with_clock: bool, with_century: bool = False
) -> str:
    """Return a regular expression (the same in Python and RE2) with named parts.

    Args:
        format_: A strptime format of %Y %y %m %d %b %B %H %I %p %M %S %f %z %%, or a
            word of ``UNIX``.
        with_clock: Whether hours and smaller parts may stand in it.
        with_century: Whether years of two digits have a declared century.

    Raises:
        FormatError: A directive is unknown, repeated, or the day is incomplete.
    """
    if format_ in UNIX:
        if not with_clock:
            message = f"{format_} is a moment: declare type: timestamp"
            raise FormatError(message)
        return UNIX[format_]
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
    _require_a_clock(used)
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
    if _directives(first) == _directives(second) != "" and first != second:
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
    if format_ in UNIX:
        return [(frozenset("-." + digits), n > 0) for n in range(_LONGEST_COUNT)]
    for directive, text, _ in _TOKEN.findall(format_):
        if text or directive == "%":
            steps += [(frozenset(one), False) for one in text or "%"]
            continue
        letters = _SIGNS.get(directive, digits)
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
        known = "%Y %m %d %b %B" + (" %H %I %p %M %S %f %z" if with_clock else "")
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


def _require_a_clock(used: list[str]) -> None:
    if ("I" in used) != ("p" in used) or {"I", "H"} <= set(used):
        message = "hours are %H, 0 to 23, or %I with %p, AM or PM"
        raise FormatError(message)


def has_offset(format_: str) -> bool:
    """Return whether a format has an offset to UTC.

    >>> has_offset("%Y-%m-%d %H:%M%z"), has_offset("%Y-%m-%d %H:%MZ")
    (True, False)
    """
    return any(directive == "z" for directive, _, _ in _TOKEN.findall(format_))


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


def iso_text(
    parts: dict[str, str], century: int | None = None, *, in_utc: bool = False
) -> str | None:
    """Return the named parts of a match as ISO text, or None for no known moment.

    Args:
        parts: By the letters of their directives.
        century: From which year on those of two digits are.
        in_utc: Whether an offset is taken off; else the clock stays as it is written.
    """
    if "u" in parts or "w" in parts:
        return _counted_text(parts)
    month = parts.get("m") or _month_number(parts)
    if month is None:
        return None
    year = parts.get("Y") or f"{whole_year(int(parts['y']), century or 0):04}"
    day = f"{year}-{month.rjust(2, '0')}-{parts['d'].rjust(2, '0')}"
    hour, minute, second = (parts.get(p, "0").rjust(2, "0") for p in "HMS")
    if "I" in parts:
        hour = f"{int(parts['I']) % 12 + 12 * (parts['p'].lower() == 'pm'):02}"
    text = f"{day} {hour}:{minute}:{second}.{parts.get('f', '0').ljust(6, '0')}"
    return _in_utc(text, parts["z"]) if in_utc and "z" in parts else text


def _counted_text(parts: dict[str, str]) -> str | None:
    """Return a count since 1970 as ISO text; None beyond the years 0001 to 9999."""
    count = parts.get("u") or parts["w"]
    sign = -1 if count.startswith("-") else 1
    beyond = timedelta(milliseconds=abs(int(count)))
    if "u" in parts:
        micros = int((parts.get("v") or "0").ljust(6, "0"))
        beyond = timedelta(seconds=abs(int(count)), microseconds=micros)
    try:
        return (_EPOCH + sign * beyond).isoformat(sep=" ", timespec="microseconds")
    except OverflowError:
        return None


def _in_utc(text: str, offset: str) -> str | None:
    digits_of = offset.replace(":", "").ljust(5, "0")
    minutes = 0 if offset == "Z" else int(digits_of[1:3]) * 60 + int(digits_of[3:5])
    ahead = timedelta(minutes=-minutes if offset.startswith("-") else minutes)
    try:
        moment = datetime.fromisoformat(text) - ahead
    except (ValueError, OverflowError):
        return None
    return moment.isoformat(sep=" ", timespec="microseconds")


def _month_number(parts: dict[str, str]) -> str | None:
    name = (parts.get("b") or parts.get("B") or "").lower()
    names = MONTHS if "B" in parts else tuple(m[:3] for m in MONTHS)
    return str(names.index(name) + 1) if name in names else None
