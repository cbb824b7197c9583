"""Which types stand for which identifiers."""

import pytest

from upstream.anonymization.texts.kinds import (
    INDIRECT,
    Kind,
    UndeclaredTypeError,
    kinds_of,
)


def test_usual_types_are_known_in_any_case_and_declared_ones_go_before():
    told = kinds_of(["dob", "NAME", "FALL"], {"FALL": "none", "NAME": "organization"})
    assert told == {"dob": Kind.BIRTH_DATE, "NAME": Kind.ORGANIZATION, "FALL": None}


def test_a_type_that_nobody_declared_is_refused_and_named():
    with pytest.raises(UndeclaredTypeError, match=r"one of name, .*none: BADGE, ZOO$"):
        kinds_of(["NAME", "ZOO", "BADGE"])


def test_a_kind_that_is_none_is_refused():
    with pytest.raises(UndeclaredTypeError, match=r"BADGE: badges$"):
        kinds_of(["BADGE"], {"BADGE": "badges"})


def test_who_is_named_directly_is_none_of_the_indirect_kinds():
    assert {Kind.NAME, Kind.STREET, Kind.PHONE, Kind.RECORD_NUMBER}.isdisjoint(INDIRECT)
