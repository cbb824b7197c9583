"""Ages and ZIP codes as Safe Harbor has them."""

import pytest

from upstream.anonymization.texts.cut_values import (
    NOWHERE,
    OLDER,
    SPARSE_ZIP3,
    top_coded_age,
    zip3,
)


@pytest.mark.parametrize("text", ["56 y/o", "89", "89-year-old", "in her 80s", "60-65"])
def test_ages_up_to_89_stay_as_they_are_written(text):
    assert top_coded_age(text) == text


@pytest.mark.parametrize(
    "text", ["90", "93-year-old", "in her 90s", "85-95", "101 años"]
)
def test_ages_above_89_are_one(text):
    assert top_coded_age(text) == OLDER


@pytest.mark.parametrize("text", ["ninety-two", "elderly", ""])
def test_an_age_without_a_number_is_not_sure(text):
    assert top_coded_age(text) is None


def test_of_zip_codes_three_digits_stay_where_many_people_share_them():
    assert zip3("30322") == zip3(" 30322-1007 ") == "303"
    assert all(zip3(f"{three}12") == NOWHERE for three in SPARSE_ZIP3)
    assert zip3("30322", {"303"}) == NOWHERE
    assert zip3("3032") is zip3("EC1A 1BB") is None
