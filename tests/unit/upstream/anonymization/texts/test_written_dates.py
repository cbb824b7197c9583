"""Dates that are moved in the form in which they are written."""

import random
import re
from datetime import date, timedelta

import pytest

from upstream.anonymization.texts.written_dates import (
    DateReading,
    shifted_date,
    year_of,
)

DAY_FIRST = DateReading("day_first", 2030)
MONTH_FIRST = DateReading("month_first", 2030)
_ENGLISH = (
    "January February March April May June July August September October November "
    "December"
)
_SPANISH = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre"
)


def month(day, names=_ENGLISH, letters=None):
    return names.split()[day.month - 1][:letters]


FORMS = {
    "ISO": (lambda d: d.isoformat(), DAY_FIRST),
    "points": (lambda d: f"{d:%d.%m.%Y}", DAY_FIRST),
    "short": (lambda d: f"{d:%d/%m/%y}", DAY_FIRST),
    "American": (lambda d: f"{d.month}/{d.day}/{d.year}", MONTH_FIRST),
    "English": (lambda d: f"{month(d)} {d.day}, {d.year}", DAY_FIRST),
    "capitals": (
        lambda d: f"{month(d, letters=3)} {d.day} {d.year}".upper(),
        DAY_FIRST,
    ),
    "Spanish": (lambda d: f"{d.day} de {month(d, _SPANISH)} de {d.year}", DAY_FIRST),
    "with its day": (lambda d: f"{d:%A}, {d.day} {month(d)} {d.year}", DAY_FIRST),
    "dashes": (lambda d: f"{d.day}-{month(d, letters=3)}-{d.year}", DAY_FIRST),
}
MAY = 5  # is short and long


@pytest.mark.parametrize("form", FORMS)
def test_a_shifted_date_is_written_as_that_day_would_be(form):
    write, reading = FORMS[form]
    rng = random.Random(form)
    for _ in range(300):
        old = date(1960, 1, 1) + timedelta(days=rng.randrange(24_000))
        days = rng.choice([-1, 1]) * rng.randrange(1, 366)
        new = shifted_date(write(old), days, reading)
        wanted = write(old + timedelta(days=days)).lower()
        if form == "American":  # 12/10/1960 may have zeros or not
            new, wanted = re.sub(r"\b0", "", new), re.sub(r"\b0", "", wanted)
        if old.month != MAY or form not in {"capitals", "dashes"}:
            assert new.lower() == wanted
        assert reading.of(new) == old + timedelta(days=days)


@pytest.mark.parametrize(
    ("text", "days", "written"),
    [
        ("March 1st, 2024", 1, "March 2nd, 2024"),
        ("10th of May 2023", 1, "11th of May 2023"),
        ("21st of May 2023", 1, "22nd of May 2023"),
        ("5. März 2024", 30, "4. April 2024"),
        ("Lunes, 4 de marzo de 2024", 1, "Martes, 5 de marzo de 2024"),
        ("Mar. 5, 2024", -5, "Feb. 29, 2024"),
        ("2024/1/9", 3, "2024/1/12"),
        ("07-04-1999", 1, "08-04-1999"),
    ],
)
def test_words_suffixes_and_zeros_follow_the_new_day(text, days, written):
    assert shifted_date(text, days, DAY_FIRST) == written


@pytest.mark.parametrize(
    "text",
    [
        "3/5/2024",  # which is the month?
        "March 2024",
        "last Tuesday",
        "Tuesday, March 4, 2024",  # that was a Monday: Tuesday would stay
        "30.2.2024",
        "9999-12-31",
        "",
    ],
)
def test_what_is_not_sure_is_not_moved(text):
    assert shifted_date(text, 1, DateReading()) is None


def test_a_year_of_two_digits_never_jumps_a_century():
    until = DateReading("day_first", 2024)
    assert shifted_date("31.12.24", 1, until) is None
    assert shifted_date("31.12.23", 1, until) == "01.01.24"


def test_the_year_is_found_where_it_alone_is_sure():
    reading = DateReading()
    assert year_of("3/5/2024", reading) == 2024
    assert year_of("autumn of 1987", reading) == 1987
    assert year_of("1987 or 1988", reading) is None
    assert year_of("3/5/24", reading) is None
