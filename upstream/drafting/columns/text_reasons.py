"""Why a column of numbers or days stays a text: what a custodian may want to mend."""

from collections.abc import Iterator, Sequence

from upstream.files.reading import DECIMAL_FORM
from upstream.files.reading_sql import quoted

_NUMBER = r"[-+]?[0-9][0-9.,' ]*"
_UNITS = (
    "kg|g|mg|µg|μg|ug|ng|lb|cm|mm|m|km|in|ft|l|L|ml|mL|dl|dL|µl|μl|ul|h|min|s|d|a|y|yrs?"
    "|years?|Jahre?|J|days?|Tage?|weeks?|Wochen?|months?|Monate?|%|°C|C|°F|bpm|mmHg|kPa"
    "|I?U|IE|(?:[mkµμun]?(?:mol|g|IU|U|IE))/(?:[dmµμun]?[lL]|min|kg|h|d|g)"
)
"""Units of measurement, as files write them behind numbers."""

_CURRENCY = "[$€£¥]|EUR|USD|CHF|GBP|Fr\\.|DKK|SEK|NOK"
_AMOUNT = r"[-+]?(?:[0-9]+(?:[.,][0-9]+)?|[0-9]{1,3}(?:[., '][0-9]{3})+(?:[.,][0-9]+)?)"
_PLAIN = rf"(?:[<>]=? ?)?{_AMOUNT}"
_BESIDE = {
    rf"{_PLAIN} ?-": "a minus behind them (145.05-): export it in front of the number",
    rf"{_PLAIN} ?(?:[*#!]|HH?|LL)": (
        "a mark of a result behind them (5.2*): export it as a column"
    ),
    rf"{_PLAIN} ?(?:{_UNITS})": (
        "a unit behind them (41.5 %): are others in it? Export the numbers alone"
    ),
    rf"\( ?(?:{_CURRENCY})? ?{_AMOUNT} ?\)": (
        "brackets around them, as of what is less than 0 ((45.00)): export a minus in "
        "front of the number"
    ),
}
"""Numbers with something beside them, and what is said where some are so."""

_DRESSED = {
    rf"{_NUMBER} ?(?:{_UNITS})": (
        "numbers followed by a unit: a text; export the numbers alone, and say the "
        "unit in the column's name"
    ),
    rf"\(?[-+]? ?(?:{_CURRENCY}) ?{_NUMBER}\)?|{_NUMBER} ?(?:{_CURRENCY})": (
        "numbers beside the sign of a currency: a text; export the numbers alone, with "
        "a minus in front of those below 0"
    ),
    "'.*'": (
        "all values stand between apostrophes: if these are the file's quotes, "
        'declare csv: {quote: "\'"}'
    ),
    rf"{DECIMAL_FORM}(?:[eE][-+]?[0-9]+)?": (
        "numbers, but some are written with an exponent (1E+05), which no load "
        "reads: a text; export them in digits"
    ),
    _AMOUNT: (
        "numbers, some with a decimal comma and some with a decimal point: a text; "
        "export them alike"
    ),
    r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?[AaPp][Mm])?": (
        "times of day: a text; what a load reads has its day beside it"
    ),
}
"""Forms of values, and what is said where nearly all are of one; the first counts."""


def reason_conditions(column: str) -> Iterator[str]:
    """Yield a condition for each form that a column's texts may have."""
    for form in _DRESSED:
        yield f"regexp_full_match({column}, {quoted(form)})"
    for form in (_PLAIN, *_BESIDE):
        yield f"regexp_full_match({column}, {quoted(form)})"


def reason(counts: Sequence[int], least: float) -> str | None:
    """Return why a column is a text; None: nothing that is known.

    Args:
        counts: How many values met each condition.
        least: How many are nearly all.
    """
    told = zip(_DRESSED.values(), counts, strict=False)
    found = next((said for said, count in told if count >= least), None)
    plain, *behind = counts[len(_DRESSED) :]
    marked = behind_some(counts)
    if found is None and plain * 2 >= least and plain + sum(behind) >= least:
        return marked and f"numbers, {marked}; a text"
    return found


def behind_some(counts: Sequence[int]) -> str | None:
    """Return what stands behind some numbers of a column, which no load reads.

    Args:
        counts: As of ``reason``.
    """
    behind = counts[len(_DRESSED) + 1 :]
    told = [
        f"some with {s}" for s, n in zip(_BESIDE.values(), behind, strict=True) if n
    ]
    return "; ".join(told) or None
