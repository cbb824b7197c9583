"""Kinds of identifiers, and which of them the types of a model stand for.

Source: 45 CFR 164.514(b)(2)(i), the eighteen kinds of HIPAA's Safe Harbor, (A) to (R);
164.514(e)(2), the limited data set.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from privacy.errors import CuratorError


class Kind(StrEnum):
    """What an identifier is."""

    NAME = "name"  # (A)
    STREET = "street"  # (B), as all of geography below a state
    PLACE = "place"
    ZIP = "zip"
    ORGANIZATION = "organization"
    DATE = "date"  # (C), as ages are
    BIRTH_DATE = "birth_date"
    AGE = "age"
    PHONE = "phone"  # (D)
    FAX = "fax"  # (E)
    EMAIL = "email"  # (F)
    SOCIAL_SECURITY = "social_security"  # (G)
    RECORD_NUMBER = "record_number"  # (H)
    PLAN_NUMBER = "plan_number"  # (I)
    ACCOUNT = "account"  # (J)
    LICENCE = "licence"  # (K)
    VEHICLE = "vehicle"  # (L)
    DEVICE = "device"  # (M)
    URL = "url"  # (N)
    IP_ADDRESS = "ip_address"  # (O)
    BIOMETRIC = "biometric"  # (P)
    PHOTO = "photo"  # (Q)
    OTHER_NUMBER = "other_number"  # (R)
    PROFESSION = "profession"  # none of the eighteen, but it narrows people down
    SEX = "sex"  # likewise


INDIRECT: Final = frozenset(
    {
        *(Kind.PLACE, Kind.ZIP, Kind.ORGANIZATION, Kind.DATE, Kind.BIRTH_DATE),
        *(Kind.AGE, Kind.PROFESSION, Kind.SEX),
    }
)
"""Kinds that narrow people down together; each of the others names somebody."""

NO_IDENTIFIER: Final = "none"
"""What is declared of a type that identifies nobody, such as a diagnosis."""

_USUAL: Final = {
    Kind.NAME: "NAME PERSON PATIENT DOCTOR STAFF RELATIVE",
    Kind.STREET: "ADDRESS STREET",
    Kind.PLACE: "CITY PLACE LOCATION COUNTY",
    Kind.ZIP: "ZIP POSTCODE",
    Kind.ORGANIZATION: "HOSPITAL ORGANIZATION ORGANISATION EMPLOYER",
    Kind.DATE: "DATE ADMISSION_DATE DISCHARGE_DATE",
    Kind.BIRTH_DATE: "BIRTH_DATE BIRTHDATE DOB",
    Kind.AGE: "AGE",
    Kind.PHONE: "PHONE TELEPHONE",
    Kind.FAX: "FAX",
    Kind.EMAIL: "EMAIL",
    Kind.SOCIAL_SECURITY: "SSN SOCIAL_SECURITY",
    Kind.RECORD_NUMBER: "MRN RECORD_NUMBER HOSPITAL_NO ID",
    Kind.PLAN_NUMBER: "PLAN_NUMBER HEALTH_PLAN",
    Kind.ACCOUNT: "ACCOUNT",
    Kind.LICENCE: "LICENCE LICENSE",
    Kind.VEHICLE: "VEHICLE",
    Kind.DEVICE: "DEVICE",
    Kind.URL: "URL",
    Kind.IP_ADDRESS: "IP IP_ADDRESS",
    Kind.PROFESSION: "PROFESSION OCCUPATION",
    Kind.SEX: "SEX GENDER",
}
USUAL_KINDS: Final[Mapping[str, Kind]] = {
    label: kind for kind, labels in _USUAL.items() for label in labels.split()
}
"""What types usually mean, by their names in capitals."""


class UndeclaredTypeError(CuratorError):
    """A type of spans is not said to be an identifier, nor to be none."""


def kinds_of(
    labels: Iterable[str], declared: Mapping[str, str] | None = None
) -> dict[str, Kind | None]:
    """Return what types stand for; None: they identify nobody.

    Args:
        labels: All types that spans may have.
        declared: Of types: a kind's name, or ``none``. It goes before what is usual.

    Raises:
        UndeclaredTypeError: A type is not declared, and has no usual meaning, or a
            kind is none. Nothing is kept because nobody thought of it.

    >>> kinds_of(["DOB", "FALL"], {"FALL": "none"})
    {'DOB': <Kind.BIRTH_DATE: 'birth_date'>, 'FALL': None}
    """
    told = declared or {}
    unknown = sorted(
        {
            label
            for label in labels
            if label not in told and label.upper() not in USUAL_KINDS
        }
    )
    names = {*Kind, NO_IDENTIFIER}
    wrong = sorted(
        f"{label}: {kind}" for label, kind in told.items() if kind not in names
    )
    if unknown or wrong:
        which = ", ".join(unknown or wrong)
        kinds = ", ".join([*Kind, NO_IDENTIFIER])
        message = f"say what these types are, one of {kinds}: {which}"
        raise UndeclaredTypeError(message)
    return {label: _kind_of(label, told) for label in labels}


def _kind_of(label: str, told: Mapping[str, str]) -> Kind | None:
    if label not in told:
        return USUAL_KINDS[label.upper()]
    return None if told[label] == NO_IDENTIFIER else Kind(told[label])
