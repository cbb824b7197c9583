"""The rows of the two exports: what was typed in about a patient, and when."""

from dataclasses import dataclass
from datetime import date, timedelta

from server.demo.linking.errors import Clerk, unaccented
from server.demo.linking.households import Home, Resident
from server.demo.notes.people import LAST_DAY, draw_phone, pick

WARDS = ("Cardiology", "Surgery", "Internal Medicine", "Neurology", "Orthopedics")
_DIAGNOSES = ("I10", "E11.9", "J18.9", "I50.9", "K80.20", "N39.0", "S72.001", "J45.909")
_TESTS = (("HbA1c", "%", 4.5, 12.0), ("Potassium", "mmol/L", 3.0, 6.0))
Row = dict[str, str]
ADMISSIONS = (
    *("patient_no", "surname", "given_name", "sex", "born", "street", "postcode"),
    *("town", "phone", "admitted", "ward", "diagnosis"),
)
"""Columns of ``admissions.csv``, in order."""
LABORATORY = (
    *("lab_id", "birth_date", "first_names", "family_name", "gender", "address"),
    *("phone_number", "email", "sampled", "test", "result"),
)
"""Columns of ``laboratory.csv``, in order."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What both exports make their rows of, as it was typed in."""

    given: str
    last: str
    born: date | None
    home: Home
    phone: str


def typed(clerk: Clerk, resident: Resident) -> Typed:
    """Return what a clerk types in about a patient."""
    person, rates = resident.person, clerk.rates
    home = resident.before if clerk.errs(rates.moved) else resident.home
    is_old = resident.earlier is not None and clerk.errs(0.5)
    surname = resident.earlier if is_old and resident.earlier else person.name.last
    given, last = clerk.given(person.name.first), clerk.typed(surname)
    if clerk.errs(rates.exchanged):
        given, last = last, given
    phone = draw_phone(clerk.rng) if clerk.errs(rates.moved) else person.phone
    return Typed(given, last, clerk.day(person.born), home, clerk.kept(phone, 3))


def admission(clerk: Clerk, resident: Resident, number: str, admitted: date) -> Row:
    """Return a row of ``admissions.csv``.

    Args:
        clerk: Whoever types it in.
        resident: The patient.
        number: Their hospital number, of which one patient may have two.
        admitted: When they last came.
    """
    rng, said = clerk.rng, typed(clerk, resident)
    is_loud = clerk.errs(0.1)
    return {
        "patient_no": number,
        "surname": said.last.upper() if is_loud else said.last,
        "given_name": said.given,
        "sex": clerk.kept("F" if resident.person.is_female else "M", 0.5),
        "born": f"{said.born:%d/%m/%Y}" if said.born else "",
        "street": clerk.kept(clerk.typed(said.home.street)),
        "postcode": clerk.kept(said.home.postcode),
        "town": clerk.kept(clerk.typed(said.home.town)),
        "phone": _spaced(said.phone),
        "admitted": f"{admitted:%d/%m/%Y}",
        "ward": pick(rng, WARDS),
        "diagnosis": pick(rng, _DIAGNOSES),
    }


def sample(clerk: Clerk, resident: Resident, number: str) -> Row:
    """Return a row of ``laboratory.csv``: the patient's last sample under this id."""
    rng, said, person = clerk.rng, typed(clerk, resident), resident.person
    test, unit, least, most = pick(rng, _TESTS)
    home, given = said.home, said.given
    street = clerk.kept(_abbreviated(clerk.typed(home.street)))
    sampled = LAST_DAY - timedelta(days=int(rng.integers(1_000)))
    if clerk.errs(0.3):
        given = f"{given} {person.name.initial}."
    return {
        "lab_id": number,
        "birth_date": said.born.isoformat() if said.born else "",
        "first_names": given,
        "family_name": unaccented(said.last) if clerk.errs(0.5) else said.last,
        "gender": "female" if person.is_female else "male",
        "address": f"{street}, {home.town} {home.postcode}" if street else "",
        "phone_number": _dashed(said.phone),
        "email": clerk.kept(resident.email, 8),
        "sampled": sampled.isoformat(),
        "test": test,
        "result": f"{rng.uniform(least, most):.1f} {unit}",
    }


def _spaced(digits: str) -> str:
    return f"{digits[:3]} {digits[3:6]} {digits[6:]}" if digits else ""


def _dashed(digits: str) -> str:
    return f"({digits[:3]}) {digits[3:6]}-{digits[6:]}" if digits else ""


def _abbreviated(street: str) -> str:
    for word, short in (("Street", "St."), ("Avenue", "Ave."), ("Road", "Rd.")):
        street = street.replace(word, short)
    return street
