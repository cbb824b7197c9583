"""Spans become values, or none with its reason: nothing is guessed."""

import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.extraction.normalising.ages import MOST_YEARS, normal_age
from upstream.extraction.normalising.dates import normal_date
from upstream.extraction.normalising.numbers import normal_number, units
from upstream.extraction.normalising.words import (
    normal_category,
    normal_code,
    normal_text,
)

MONTHS = {
    "January": "enero",
    "February": "febrero",
    "March": "marzo",
    "April": "abril",
    "May": "mayo",
    "June": "junio",
    "July": "julio",
    "August": "agosto",
    "September": "septiembre",
    "October": "octubre",
    "November": "noviembre",
    "December": "diciembre",
}
ENGLISH, SPANISH = [*MONTHS], [*MONTHS.values()]
GERMAN = [
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
]
DAYS = st.dates(date(1000, 1, 1))


@given(DAYS, st.sampled_from("-/."))
def test_a_date_is_read_in_every_form_that_says_its_order(day, sign):
    forms = {
        day.isoformat(): {},
        f"{day:%Y}{sign}{day.month}{sign}{day.day}": {},
        f"{ENGLISH[day.month - 1]} {day.day}, {day:%Y}": {},
        f"{day.day}th of {ENGLISH[day.month - 1][:3]}. {day:%Y}": {},
        f"{day.day} de {SPANISH[day.month - 1].upper()} de {day:%Y}": {},
        f"den {day.day}. {GERMAN[day.month - 1]} {day:%Y}": {},
        f"{day.day}. {GERMAN[day.month - 1][:3]}. {day:%Y}": {},
        f"{day.day}{sign}{day.month}{sign}{day:%Y}": {"order": "day_first"},
        f"{day.month}{sign}{day.day}{sign}{day:%Y}": {"order": "month_first"},
    }
    for text, told in forms.items():
        assert normal_date(text, **told).value == day.isoformat(), text


@given(DAYS)
def test_a_date_in_numbers_without_an_order_is_read_only_if_one_reading_is_left(day):
    read = normal_date(f"{day.day}/{day.month}/{day:%Y}")
    if day.day > 12 or day.day == day.month:
        assert read.value == day.isoformat()
    else:
        assert (read.value, read.doubt) == (None, "ambiguous")


@given(DAYS.filter(lambda day: day.day > 12))
def test_a_date_that_breaks_the_declared_order_is_not_turned_round(day):
    text = f"{day.day}/{day.month}/{day:%Y}"
    assert normal_date(text, order="month_first").doubt == "impossible"


@given(st.dates(date(1951, 1, 1), date(2050, 12, 31)))
def test_two_digits_of_a_year_need_a_century(day):
    text = f"{day.day} {ENGLISH[day.month - 1]} {day:%y}"
    assert normal_date(text).doubt == "ambiguous"
    assert normal_date(text, years_until=2050).value == day.isoformat()


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("March 2024", "incomplete"),
        ("5 March", "incomplete"),
        ("30 February 2024", "impossible"),
        ("2024-13-01", "impossible"),
        ("yesterday", "unreadable"),
        ("5 March or 6 March 2024", "unreadable"),
        ("", "unreadable"),
        ("٣/٤/٢٠٢٤", "unreadable"),
    ],
)
def test_what_is_no_date_says_why(text, doubt):
    assert normal_date(text).doubt == doubt


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("56", "56"),
        ("56 y/o", "56"),
        ("56-year-old", "56"),
        ("aged 56", "56"),
        ("56 years old", "56"),
        ("56 años de edad", "56"),
        ("18 months", "1"),
        ("11 meses", "0"),
        ("3 weeks", "0"),
        ("2 years and 11 months", "2"),
        ("56-jährige", "56"),
        ("56 J. alt", "56"),
        ("2 Jahre und 11 Monate", "2"),
        ("0", "0"),
    ],
)
def test_an_age_is_in_whole_years(text, years):
    assert normal_age(text).value == years


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("50-55", "ambiguous"),
        ("in her 50s", "ambiguous"),
        ("560", "impossible"),
        ("56 kg", "unit"),
        ("old", "unreadable"),
        ("", "unreadable"),
        ("fifty", "unreadable"),
    ],
)
def test_what_is_no_age_says_why(text, doubt):
    assert normal_age(text).doubt == doubt


@pytest.mark.parametrize(
    ("text", "unit", "told", "value"),
    [
        ("70 kg", "kg", {}, "70"),
        ("154 lb", "kg", {"digits": 2}, "69.85"),
        ("1,250 g", "kg", {"digits": 2}, "1.25"),
        ("72,5 kg", "kg", {"digits": 1, "decimal": ","}, "72.5"),
        ("5 ft 10 in", "cm", {"digits": 1}, "177.8"),
        ("5'10\"", "cm", {"digits": 1}, "177.8"),
        ("98.6 °F", "c", {"digits": 1}, "37.0"),
        ("37 C", "f", {"digits": 1}, "98.6"),
        ("12 mmHg", "mmhg", {}, "12"),
        ("70", "kg", {"assumed": "kg"}, "70"),
        ("12.5 mg/dL", "g/l", {"digits": 3}, "0.125"),
        ("-3 C", "c", {}, "-3"),
        ("0.5", "1", {"digits": 1, "assumed": "1"}, "0.5"),
    ],
)
def test_a_number_is_converted_to_its_columns_unit(text, unit, told, value):
    assert normal_number(text, unit, **told).value == value


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("70", "unit"),
        ("70 cm", "unit"),
        ("70 stones", "unit"),
        ("72,5 kg", "unreadable"),
        ("1.2.3 kg", "unreadable"),
        ("120/80", "unreadable"),
        ("heavy", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_what_is_no_weight_says_why(text, doubt):
    assert normal_number(text, "kg").doubt == doubt


@given(
    st.decimals(0, 10**6, allow_nan=False, places=3),
    st.sampled_from(sorted(units())),
)
def test_a_number_in_its_own_unit_is_itself(number, unit):
    found = normal_number(f"{number} {unit}", unit, digits=3)
    if unit == "1":
        found = normal_number(str(number), unit, digits=3, assumed=unit)
    assert Decimal(found.value) == number


@given(st.text(max_size=120))
def test_no_text_at_all_breaks_a_normaliser(text):
    results = [
        normal_date(text),
        normal_date(text, order="day_first", years_until=2030),
        normal_age(text),
        normal_number(text, "kg", assumed="kg"),
        normal_number(text, "c", digits=9, decimal=","),
        normal_code(text, re.compile("[A-Z]+")),
        normal_category(text, {"a": "b"}),
        normal_text(text),
    ]
    for one in results:
        assert (one.value is None) != (one.doubt is None)
    if (age := results[2].value) is not None:
        assert 0 <= int(age) <= MOST_YEARS


def test_codes_and_categories_are_what_is_declared_or_nothing():
    assert normal_code("e 11.9", re.compile(r"[A-Z]\d\d\.\d")).value == "E11.9"
    assert normal_code("E119", re.compile(r"[A-Z]\d\d\.\d")).doubt == "unreadable"
    assert normal_category(" NORTH\nward ", {"north ward": "north"}).value == "north"
    assert normal_category("attic", {"north": "n"}).doubt == "unknown"
    assert normal_category("attic", {"north": "n"}, "other").value == "other"
    assert normal_text(" two\n lines ").value == "two lines"
