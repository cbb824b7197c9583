"""Ages, in whole years."""

import re
from fractions import Fraction

from upstream.extraction.normalising.numbers import read_number
from upstream.extraction.normalising.outcomes import (
    Doubt,
    DoubtError,
    Normalised,
    normalised,
)

MOST_YEARS = 130
_UNITS = {
    Fraction(1): (
        "years year yrs yr y yo años año jahre jahren jahr j jährig jährige jähriger "
        "jährigen jähriges"
    ),
    Fraction(1, 12): "months month mos mo meses mes monate monaten monat",
    Fraction(7, 366): "weeks week wks wk semanas semana wochen woche",
    Fraction(1, 366): "days day días dias día dia tage tagen tag",
}
_YEARS = {name: years for years, names in _UNITS.items() for name in names.split()}
_PART = re.compile(r"([0-9]+(?:[.,][0-9]+)?)\s*-?\s*([^\W\d_]+)?\s*")
_SILENT = re.compile(
    r"\b(?:old|of age|aged|age|edad|de edad|and|de|con|alt|alter|und)\b\.?"
)
_RANGE = re.compile(r"[0-9]+\s*(?:-|\u2013|to|a)\s*[0-9]+|[0-9]+'?s\b")
_LONGEST = 60  # characters


def normal_age(text: str) -> Normalised:
    """Return an age in whole years that were completed.

    A number alone is one of years. Of months, weeks and days too few for a year, 0.

    >>> normal_age("56 y/o").value, normal_age("18-month-old").value
    ('56', '1')
    >>> normal_age("in her 50s").doubt
    <Doubt.AMBIGUOUS: 'ambiguous'>
    """
    return normalised(lambda: str(int(_years(text))))


def _years(text: str) -> Fraction:
    """Return an age in years.

    Raises:
        DoubtError: It is none.
    """
    stripped = " ".join(text.lower().split()).strip(" .,;:")
    if len(stripped) > _LONGEST:
        raise DoubtError(Doubt.UNREADABLE)
    if _RANGE.search(stripped):
        raise DoubtError(Doubt.AMBIGUOUS)
    plain = stripped.replace("y/o", "years").replace("y.o", "years")
    plain = _SILENT.sub(" ", plain.replace("-old", " ")).strip(" -.,:")
    years, at = Fraction(0), 0
    if not plain:
        raise DoubtError(Doubt.UNREADABLE)
    while at < len(plain):
        part = _PART.match(plain, at)
        if part is None or (part[2] is None and at):
            raise DoubtError(Doubt.UNREADABLE)
        years, at = years + _of(part[1], part[2]), part.end()
    if years > MOST_YEARS:
        raise DoubtError(Doubt.IMPOSSIBLE)
    return years


def _of(written: str, unit: str | None) -> Fraction:
    """Return a number of a unit, in years.

    Raises:
        DoubtError: The unit is none of an age.
    """
    if unit is not None and unit not in _YEARS:
        raise DoubtError(Doubt.UNIT)
    number = read_number(written.replace(",", "."), ".")
    if number is None:
        raise DoubtError(Doubt.UNREADABLE)
    return number if unit is None else number * _YEARS[unit]
