"""Days and times however they are written, in one form each.

``2024-05-06 07:08:09``, ``2024-05-06T07:08:09Z``, ``06.05.2024 07:08:09``,
``5/6/24, 7:08:09 AM`` and ``06MAY2024:07:08:09`` are the same time. No order of day,
month and year can be told from ``05/06/24``, so the form has these three numbers in
order of size, the year without its century. A time with an offset is two: as it is
written, and in UTC. For refusals alone: which times coincide by accident,
``upstream.public_check.row_evidence`` decides.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

from upstream.id_forms.embedded_ids import MOST_CHARACTERS, plain_text

MOST_OF_A_TIME = 40
"""Characters of a text that is a time and little else."""

_BETWEEN = "\n"  # no form holds a control character
_MONTHS = (
    "jan", "feb", "mar|mär|mrz", "apr", "may|mai", "jun", "jul", "aug", "sep",
    "oct|okt", "nov", "dec|dez",
)  # fmt: skip
_MONTH_NAME = rf"(?:{'|'.join(_MONTHS)})[^\W\d_]*\.?"
_YEAR = "(?:1[89]|2[0-2])[0-9]{2}"  # in research dates are moved on, by centuries too
_TWO = "[0-9]{1,2}"
_DAY = rf"(?<![0-9]){_TWO}(?:st|nd|rd|th|\.)?"
_DATE = (
    rf"(?:(?<![0-9]){_YEAR}[-/. ]{_TWO}[-/. ]{_TWO}|(?<![0-9]){_YEAR}[0-9]{{4}}"
    rf"|(?<![0-9]){_TWO}(?P<apart>[-/. ]){_TWO}(?P=apart)(?:{_YEAR}|[0-9]{{2}})"
    rf"|{_DAY}[-/ ]*{_MONTH_NAME}[-/, ]*(?:{_YEAR}|[0-9]{{2}})"
    rf"|{_MONTH_NAME}[-/ ]*{_DAY},?[-/ ]*{_YEAR}"
    rf"|(?<![0-9]){_YEAR}[-/ ]{_MONTH_NAME}[-/ ]{_TWO})"
)
_SECONDS = r"[:.h-]([0-9]{2})[:.m-]([0-9]{2})(?:[.,:][0-9]+)?"
_HALF = r"(?: ?([ap])\.?m\b\.?)?"
_CLOCK = rf"([0-9]{{1,2}}){_SECONDS}{_HALF}"
_COMPACT = r"(?P<compact>[0-9]{6})(?:[.,]?[0-9]{3,9})?"
_ZONE = r"(?: ?(?:z|utc|gmt)\b)?(?: ?(?P<zone>[-+][0-9]{2}:?(?:[0-9]{2})?))?"
_MINUTES = r"([0-9]{1,2})[:.h]([0-9]{2})()(?: ?([ap])\.?m\b\.?)?"
_BEFORE = r"(?:[,t_ :-]{1,3}|,? at )"
_FIRST = re.compile(
    rf"(?P<date>{_DATE})(?:{_BEFORE}{_CLOCK}|[t_ -]?{_COMPACT}){_ZONE}(?![0-9])"
)
_LAST = re.compile(rf"(?<![0-9:.-]){_CLOCK}{_ZONE}[, -]{{1,3}}(?P<date>{_DATE})")
_AMID = re.compile(  # Mon May  6 07:08:09 2024
    rf"(?P<date>{_MONTH_NAME} +{_TWO}) {_CLOCK}(?: [a-z]{{1,5}})?{_ZONE} "
    rf"(?P<year>{_YEAR})"
)
_TO_MINUTES = re.compile(rf"(?P<date>{_DATE})(?:{_BEFORE}{_MINUTES}z?)?")
_EPOCH = re.compile(r"(1[0-9]{9})(?:[0-9]{3}|[0-9]{6}|[0-9]{9})?(?:[.,][0-9]+)?")
_NUMBER_OR_NAME = re.compile(r"[0-9]+|[^\W\d_]+")
_ENDS = re.compile(r"\A[\W_]+(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?|[\W_]+\Z")
_HALF_DAY, _WHOLE_DAY, _SIXTY = 12, 24, 60
_MOST_MONTH, _MOST_DAY = 12, 31
_DIGITS = "[0-9]+"
_ISO_DAY = f"{_YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_ISO = (
    f"{_ISO_DAY}[ Tt](?:[01][0-9]|2[0-3])(?::[0-5][0-9]){{2}}"
    "(?:[.][0-9]+)?(?:[Zz]|[+]00:?00)?"
)
_MAY_HOLD = (
    f"[0-9][:h][0-9]{{2}}[:m][0-9]{{2}}|{_YEAR}[0-9]{{4}}[Tt_ -]?[0-9]{{6}}"
    "|[0-9][ _Tt-]+[0-9]{1,2}[.-][0-9]{2}[.-][0-9]{2}"
)
_MAY_BE = "[0-9][^0-9]+[0-9]+[^0-9]+[0-9]{2}|[A-Za-z]{3}.*[0-9]{4}"
_SINCE_1970 = "1[0-9]{9}([0-9]{3}|[0-9]{6}|[0-9]{9})?([.,][0-9]+)?"


def moments(text: str) -> list[str]:
    """Return the forms of the times to the second that stand in a text.

    Whole minutes are left out: those of public calendars are anybody's.

    >>> moments("06.05.2024 07:08:09") == moments("from May 6, 2024 at 7:08:09 am on")
    True
    >>> moments("2024-05-06T07:08:09+02:00"), moments("2024-05-06 07:08:00")
    (['t050624070809', 't050624050809'], [])
    """
    plain = plain_text(text)
    if found := _EPOCH.fullmatch(plain.strip()):
        moment = datetime.fromtimestamp(int(found[1]), UTC)
        return list(_forms(*_numbers_of(moment), None))
    matches = (m for one in (_FIRST, _LAST, _AMID) for m in one.finditer(plain))
    return list(dict.fromkeys(form for found in matches for form in _found(found)))


def moment(text: str) -> str:
    """Return the form of a text that is a day or a time as a whole; else nothing.

    Midnight is the day, and an offset is left out.

    >>> moment("6/5/2024"), moment("2024-05-06T00:00:00"), moment("06.05.24 7:08")
    ('t050624', 't050624', 't050624070800')
    """
    plain = _ENDS.sub("", f" {plain_text(text)}")
    matches = (one.fullmatch(plain) for one in (_FIRST, _LAST, _AMID, _TO_MINUTES))
    for found in filter(None, matches):
        date, clock = _date_of(found), _clock_of(found)
        if date is not None and clock is not None:
            return _form(date, clock).removesuffix("000000")
    return ""


def _found(found: re.Match[str]) -> Iterator[str]:
    date, clock = _date_of(found), _clock_of(found)
    if date is not None and clock is not None:
        yield from _forms(date, clock, found["zone"])


def _forms(
    date: tuple[int, ...], clock: tuple[int, ...], zone: str | None
) -> Iterator[str]:
    if clock[2]:
        yield _form(date, clock)
        for moved in _in_utc(date, clock, zone) if zone else ():
            yield _form(*_numbers_of(moved))


def _form(date: tuple[int, ...], clock: tuple[int, ...]) -> str:
    parts = [*sorted(number % 100 for number in date), *clock]
    return "t" + "".join(f"{part:02}" for part in parts)


def _date_of(found: re.Match[str]) -> tuple[int, ...] | None:
    """Return year, month and day as they are written, if they may be ones."""
    parts = _NUMBER_OR_NAME.findall(found["date"])
    if parts[0].isdigit() and len(parts[0]) > 4:  # noqa: PLR2004 - 20240506
        parts = [parts[0][:4], parts[0][4:6], parts[0][6:]]
    if "year" in found.re.groupindex:
        parts.append(found["year"])
    date = tuple(number for part in parts if (number := _number(part)) is not None)
    least, middle, *_ = sorted(number % 100 for number in date)
    others = [number for number in date if number < 100]  # noqa: PLR2004 - no years
    may_be = least <= _MOST_MONTH and middle <= _MOST_DAY
    if len(others) < len(date):
        may_be = 1 <= min(others) <= _MOST_MONTH and max(others) <= _MOST_DAY
    return date if len(date) == 3 and may_be else None  # noqa: PLR2004 - as above


def _number(part: str) -> int | None:
    if part.isdigit():
        return int(part)
    for number, names in enumerate(_MONTHS, 1):
        if re.match(names, part):
            return number
    return None  # the th of 6th


def _clock_of(found: re.Match[str]) -> tuple[int, ...] | None:
    named = found.re.groupindex
    if "compact" in named and found["compact"]:
        hour, minute, second = (int(found["compact"][i : i + 2]) for i in (0, 2, 4))
    else:
        unnamed = (i for i in range(1, found.re.groups + 1) if i not in named.values())
        digits, *rest, half = (found[i] for i in unnamed)
        minute, second = (int(part or 0) for part in rest)
        hour = int(digits or 0)
        if half and hour <= _HALF_DAY:
            hour = hour % _HALF_DAY + (_HALF_DAY if half == "p" else 0)
    may_be = hour < _WHOLE_DAY and minute < _SIXTY and second < _SIXTY
    return (hour, minute, second) if may_be else None


def _in_utc(
    date: tuple[int, ...], clock: tuple[int, ...], zone: str
) -> Iterator[datetime]:
    """Yield what a time may be in UTC, with the day first and with the month first."""
    digits = zone[1:].replace(":", "").ljust(4, "0")
    minutes = int(digits[:2]) % _WHOLE_DAY * _SIXTY + int(digits[2:]) % _SIXTY
    there = timezone(timedelta(minutes=-minutes if zone[0] == "-" else minutes))
    one, two, three = date
    orders = [(one, two, three)]
    if one < 100:  # noqa: PLR2004 - no year
        orders = [(three, two, one), (three, one, two)]
    hour, minute, second = clock
    for year, month, day in orders:
        try:
            read = datetime(year, month, day, hour, minute, second, tzinfo=there)
            yield read.astimezone(UTC)
        except (ValueError, OverflowError):
            continue


def _numbers_of(moment: datetime) -> tuple[tuple[int, ...], tuple[int, ...]]:
    date = (moment.year, moment.month, moment.day)
    return date, (moment.hour, moment.minute, moment.second)


def moments_text(text: str | None) -> str:
    """Return the forms of the times in a text, split by line feeds."""
    return _BETWEEN.join(moments(text)) if text else ""


def moment_text(text: str | None) -> str:
    """Return the form of a text that is a day or a time."""
    return moment(text) if text else ""


def timed_forms_sql(text: str, moments: str, forms: str) -> str:
    """Return the DuckDB expression of a text's forms, those of its times among them.

    A text that is a time and little else has no others.

    Args:
        text: An expression of it.
        moments: An expression of what ``moments_sql`` gives.
        forms: An expression of the list of its other forms.
    """
    is_short = f"length({text}) <= {MOST_OF_A_TIME}"
    is_time = f"{is_short} AND NOT regexp_full_match({text}, '{_DIGITS}')"
    each = f"string_split({moments}, chr(10))"
    return (
        f"CASE WHEN {moments} = '' THEN {forms} WHEN {is_time} THEN {each} "
        f"ELSE list_concat({forms}, {each}) END"
    )


def moments_sql(text: str, *, since_1970: bool) -> str:
    """Return the DuckDB expression of the times in a text, the same as Python's.

    SQL finds ISO's; Python the others, where there may be some.

    Args:
        text: An expression of it.
        since_1970: Whether numbers may be seconds since then, and parts of seconds.
    """
    beginning = f"left({text}, {MOST_CHARACTERS})"
    may_hold = f"regexp_matches({beginning}, '{_MAY_HOLD}')"
    numbers = "''"
    if since_1970:
        may_hold += f" OR regexp_full_match({text}, '{_SINCE_1970}')"
        numbers = f"CASE WHEN {may_hold} THEN moments({beginning}) ELSE '' END"
    return (
        f"CASE WHEN regexp_full_match({text}, '{_DIGITS}') THEN {numbers} "
        f"WHEN regexp_full_match({text}, '{_ISO}') THEN CASE {text}[18:19] "
        f"WHEN '00' THEN '' ELSE concat({_day_sql(text)}, {_clock_sql(text)}) END "
        f"WHEN {may_hold} THEN moments({beginning}) ELSE '' END"
    )


def moment_sql(text: str) -> str:
    """Return the DuckDB expression of the form of a day or a time; else nothing.

    Args:
        text: An expression of a text, or of a day or a time as DuckDB writes it.
    """
    may_be = (
        f"length({text}) <= {MOST_OF_A_TIME} AND regexp_matches({text}, '{_MAY_BE}')"
    )
    midnight = f"regexp_replace({_clock_sql(text)}, '^000000$', '')"
    return (
        f"CASE WHEN regexp_full_match({text}, '{_ISO_DAY}') THEN {_day_sql(text)} "
        f"WHEN regexp_full_match({text}, '{_ISO}') "
        f"THEN concat({_day_sql(text)}, {midnight}) "
        f"WHEN {may_be} THEN moment({text}) ELSE '' END"
    )


def _day_sql(text: str) -> str:
    parts = f"[{text}[3:4], {text}[6:7], {text}[9:10]]"
    return f"concat('t', array_to_string(list_sort({parts}), ''))"


def _clock_sql(text: str) -> str:
    return f"concat({text}[12:13], {text}[15:16], {text}[18:19])"
