"""A patient who is known, for the tests of the loop."""

from upstream.linkage.declared import FieldSpec
from upstream.linkage.loop.facts import PatientFacts
from upstream.linkage.loop.known import known_spans

FIELDS = {
    "given": FieldSpec(kind="name"),
    "last": FieldSpec(kind="name"),
    "whole": FieldSpec(kind="full_name"),
    "born": FieldSpec(kind="date", order="day_first"),
    "phone": FieldSpec(kind="phone"),
    "mail": FieldSpec(kind="email"),
    "no": FieldSpec(kind="id"),
    "street": FieldSpec(kind="address"),
    "town": FieldSpec(kind="place"),
    "postcode": FieldSpec(kind="code"),
    "sex": FieldSpec(kind="category"),
    "weight": FieldSpec(kind="number"),
}
TYPES = {
    **dict.fromkeys(("given", "last", "whole"), "NAME"),
    "born": "DATE",
    "phone": "PHONE",
    "mail": "EMAIL",
    "no": "ID",
    **dict.fromkeys(("street", "town", "postcode"), "PLACE"),
    "sex": "SEX",
    "weight": "WEIGHT",
}


def known(**values):
    """Return the facts of a patient: a value, or a tuple of them, by field."""
    return PatientFacts(
        FIELDS,
        {
            name: value if isinstance(value, tuple) else (value,)
            for name, value in values.items()
        },
    )


EVERYTHING = known(
    given=("José", "Will"),
    last=("Muñoz-Kowalski", "O'Brien", "De La Cruz", "Young"),
    whole="Grant, Maria T.",
    born=("27/10/1948", "1/2/50", "nonsense"),
    phone="+1 (663) 555-2073",
    mail="j.munoz@example.org",
    no=("5681042", "AB-0012345"),
    street="12 Maple Street, Apt 3",
    town=("Greenville", "Troy"),
    postcode="29601",
    sex="F",
    weight="80",
)


def said(text, facts):
    """Return what is found in a text."""
    return [text[span.start : span.end] for span in known_spans(text, facts, TYPES)]
