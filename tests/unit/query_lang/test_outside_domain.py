import pytest

from privacy.schema import ColumnType, RangeDomain, ValuesDomain
from query_lang.expressions import Facts
from query_lang.outside_domain import MOST_LOOKED_FOR, declared_instead, nearest_value
from tests.unit.query_lang.test_compile import compiled

WARDS = ("cardiology", "internal medicine", "intensive care", "surgery", "1")


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("Cardiology", "cardiology"),
        (" surgery ", "surgery"),
        ("cardiologie", "cardiology"),
        ("surg", "surgery"),
        ("intensive care unit", "intensive care"),
        ("int", None),
        ("dermatology", None),
        ("", None),
        ("11", "1"),
    ],
)
def test_the_value_that_may_have_been_meant_is_found(written, near):
    assert nearest_value(written, WARDS) == near


def test_long_lists_are_not_looked_through():
    values = tuple(f"code {n}" for n in range(257))
    assert nearest_value("code 1", values) is None
    assert nearest_value("code 1", values[:256]) == "code 1"
    told = Facts(ColumnType.TEXT, domain=ValuesDomain(values))
    assert declared_instead("x", told, is_near_wanted=True).endswith("and 251 more")


def test_ranges_are_told_by_their_ends():
    years = Facts(ColumnType.INTEGER, domain=RangeDomain(2020, 2025))
    said = declared_instead(1999, years, is_near_wanted=True)
    assert said == ": declared are 2020 to 2025"


def test_a_warning_says_what_may_have_been_meant_and_stops_looking_in_long_texts():
    listed = ", ".join(f"'nort{n}'" for n in range(MOST_LOOKED_FOR + 2))
    sql = f"SELECT COUNT(*) FROM encounters WHERE ward IN ({listed})"
    said = [warning.detail for warning in compiled(sql).warnings]
    looked = ["did you mean 'north'? declared: north" in each for each in said]
    assert looked == [True] * MOST_LOOKED_FOR + [False] * 2
    assert all("declared: north" in each for each in said)
