"""What values that a column refuses look like: what to declare, and no value."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from privacy.schema import ColumnType
from upstream.files.reading import number_form
from upstream.files.usual_forms import (
    AM_PM,
    COUNTED,
    COUNTED_FROM,
    COUNTED_TO,
    DAYS,
    IN_UTC,
    MARKS,
    MOMENTS,
    NULL_WORDS,
    ZONED,
    truth_words,
)
from upstream.manifests.declarations import ColumnSpec
from upstream.manifests.time_formats import format_pattern, has_offset

_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL})
_TIMES = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_SERIAL = re.compile(r"[2-6][0-9]{4}(?:\.[0-9]+)?")  # 1954 to 2091, as Excel counts
_APOSTROPHES = (
    "they stand between apostrophes: if these are the file's quotes, declare csv: "
    '{quote: "\'"}'
)
_MOST_SHAPES = 3
_SHAPES = tuple(
    (re.compile(form), said)
    for form, said in (
        (r"\s*", "blanks alone"),
        (r"\s+\S.*|.*\S\s+", "blanks at an end"),
        (r"'.*'|\".*\"", "quotes around it"),
        (r"[-+]?[0-9]+,[0-9]+", "a decimal comma"),
        (r"[-+]?[0-9]+\.[0-9]+", "a decimal point"),
        (r"[-+]?[0-9.,]+[eE][-+]?[0-9]+", "an exponent"),
        (r"[-+]?[0-9][0-9,]*\.[0-9]+", "a comma and a point"),
        (r"[-+]?[0-9][0-9.]*,[0-9]+", "points and a comma"),
        (r"[-+]?[0-9.]+", "more than one point"),
        (r"[-+]?[0-9,]+", "more than one comma"),
        (r"[<>=~≤≥±].*", "a sign such as < or > before it"),
        (r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}", "the form of a day"),
        (r"[0-9]+[-\u2013/][0-9]+", "two numbers"),
        (r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}[ T].*", "a day and more behind it"),
        (r"[0-9]{1,2}:[0-9]{2}.*", "the form of a time of day"),
        (r"[^\W\d].*[0-9].*", "letters before digits"),
        (r".*[0-9].*[^\W\d].*", "letters behind digits"),
        (r"[^\d]*[^\W\d][^\d]*", "letters and no digit"),
        (r"[^\w]+", "neither a letter nor a digit"),
        (r".*[0-9].*", "other signs beside digits"),
    )
)
"""Forms of values, and what is said of them; the first that fits."""

_TWINS = (("%d/%m/%Y", "%m/%d/%Y"), ("%d-%m-%Y", "%m-%d-%Y"))


def hint(column: ColumnSpec, texts: Sequence[str]) -> str | None:
    """Return what to declare for refused texts; None: nothing that is known.

    >>> hint(ColumnSpec(name="x", type="decimal", scale=1), ["1,5", "2,25"])
    'they have a decimal comma: declare decimal: ","'
    """
    told = [text for text in texts if text]
    return next(_hints(column, told), None) if told else None


def unit_hint(texts: Sequence[str]) -> str | None:
    """Return what to do about unit ids that are no integers; None: nothing is known.

    >>> unit_hint(["1.0", "27.0"])
    'they are whole numbers with decimals (1.0): export the column as whole numbers'
    """
    if texts and _all_match(r"[-+]?[0-9]+[.,]0+", texts):
        return (
            "they are whole numbers with decimals (1.0): export the column as whole "
            "numbers"
        )
    if texts and _all_match("'.*'", texts):
        return _APOSTROPHES
    return None


def shapes(texts: Sequence[str]) -> str | None:
    """Return what refused values are made of, and no value; None: nothing that helps.

    >>> shapes(["12,5", "3,25", "about 7"])
    'of those looked at 2 have a decimal comma, 1 has letters before digits'
    """
    found = Counter(shape for text in texts if (shape := _shape(text)))
    told = ", ".join(
        f"{count} {'has' if count == 1 else 'have'} {shape}"
        for shape, count in found.most_common(_MOST_SHAPES)
    )
    return f"of those looked at {told}" if told else None


def _shape(text: str) -> str | None:
    return next((said for form, said in _SHAPES if form.fullmatch(text)), None)


def _hints(column: ColumnSpec, texts: Sequence[str]) -> Iterator[str]:
    if _all_match("'.*'", texts):
        yield _APOSTROPHES
    if all(text in NULL_WORDS for text in texts):
        yield "they are words for nothing: declare them in null_values"
    if column.type in _NUMBERS:
        yield from _of_numbers(column, texts)
    elif column.type in _TIMES:
        yield from _of_times(column, texts)
    elif column.type is ColumnType.BOOLEAN and truth_words(set(texts)):
        yield "they are words for true and false: declare true_values and false_values"
    if all(text.strip() != text for text in texts):
        yield "blanks stand around them: export them without"


def _of_numbers(column: ColumnSpec, texts: Sequence[str]) -> Iterator[str]:
    if column.decimal == "," and _all_match(r"[-+]?[0-9]+\.[0-9]+", texts):
        yield (
            "they have a point, but decimal is ',': where files differ, declare "
            "tables of their own, each with its decimal"
        )
    if _all_match(r"[-+]?[0-9]+\.[0-9]*", texts):
        yield "they have decimals: declare type: decimal, with its scale"
    for decimal, thousands in MARKS:
        spec = ColumnSpec(
            name="n", type=ColumnType.DECIMAL, scale=0, decimal=decimal,
            thousands=thousands,
        )  # fmt: skip
        marked = any(
            mark in text for mark in (decimal, thousands or decimal) for text in texts
        )
        if marked and _all_match(number_form(spec), texts):
            keys = [] if decimal == "." else [f'decimal: "{decimal}"']
            keys += [f'thousands: "{thousands}"'] if thousands else []
            what = "a decimal comma" if decimal == "," else "parted thousands"
            if column.type is ColumnType.INTEGER and not thousands:
                yield "they have decimals: declare type: decimal, with its scale"
            yield f"they have {what}: declare {' and '.join(keys)}"
    if _all_match(r"[-+]?[0-9.,]+[eE][-+]?[0-9]+", texts):
        yield "they have exponents: export them as plain numbers"


def _of_times(column: ColumnSpec, texts: Sequence[str]) -> Iterator[str]:
    clock = column.type is ColumnType.TIMESTAMP
    forms = (*DAYS, *MOMENTS, *IN_UTC, *AM_PM, *ZONED) if clock else DAYS
    found = [f for f in forms if _all_match(format_pattern(f, with_clock=True), texts)]
    known = column.time_formats
    zoned = [one for one in found if has_offset(one)]
    for one in zoned:
        yield (
            f'they have an offset to UTC: declare format: "{one}", and clock: '
            "as_written or utc"
        )
    for one in found:
        twin = next((set(pair) - {one} for pair in _TWINS if one in pair), set())
        also = f", or {twin.pop()}: look which is meant" if twin else ""
        if known:
            listed = ", ".join(f'"{each}"' for each in (*known, one))
            yield f"they look like {one}{also}: declare formats: [{listed}]"
        yield f'they look like {one}{also}: declare format: "{one}"'
    if _all_match("(?:19|20)[0-9]{6}", texts):
        yield 'they look like %Y%m%d: declare format: "%Y%m%d"'
    yield from _of_counts(texts, clock=clock)
    if not clock and any(
        _all_match(_with_clock(f), texts) for f in (*MOMENTS, *IN_UTC, *AM_PM, *ZONED)
    ):
        yield "they have a time of day: declare type: timestamp"
    if _all_match(_SERIAL.pattern, texts):
        yield (
            "they look like Excel's numbers of days: format the column as a date there "
            "and export it again"
        )
    if _all_match(r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}", texts):
        yield (
            "their years have two digits: declare the format with %y, such as "
            "%d.%m.%y, and century: 1930 (30 to 99 are 19.., 00 to 29 are 20..)"
        )


def _of_counts(texts: Sequence[str], *, clock: bool) -> Iterator[str]:
    for one, parts in COUNTED.items():
        low, high = COUNTED_FROM * parts, COUNTED_TO * parts
        if _all_match("[0-9]{9,13}", texts) and all(
            low <= int(t) < high for t in texts
        ):
            kind = "" if clock else "type: timestamp, "
            yield f"they look like counts since 1970: declare {kind}format: {one}"


def _with_clock(one: str) -> str:
    return format_pattern(one, with_clock=True)


def _all_match(pattern: str, texts: Sequence[str]) -> bool:
    match: Callable[[str], re.Match[str] | None] = re.compile(pattern).fullmatch
    return all(match(text) for text in texts)
