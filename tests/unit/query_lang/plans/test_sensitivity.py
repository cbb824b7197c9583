from fractions import Fraction

import pytest

from privacy.contributions import NO_BOUNDS, ContributionBounds
from query_lang.plans.sensitivity import count_rows_sensitivity, count_units_sensitivity
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL


def norms(sql, bounds=NO_BOUNDS):
    found = [m.sensitivity for m in compile_query(sql, HOSPITAL, bounds).measures]
    return [(s.l1, s.l2_squared, s.linf) for s in found]


COUNT = "SELECT COUNT(*) FROM encounters"
UNITS = "SELECT {0}, COUNT(DISTINCT patient_id) FROM encounters GROUP BY {0}"


@pytest.mark.parametrize(
    ("sql", "bounds", "expected"),
    [
        (COUNT, NO_BOUNDS, (4, 16, 4)),
        (COUNT, ContributionBounds((("encounters", 2),)), (2, 4, 2)),
        (COUNT, ContributionBounds((("encounters", 9),)), (4, 16, 4)),
        (COUNT, ContributionBounds((("patients", 1),)), (4, 16, 4)),
        (COUNT, ContributionBounds((), 3), (3, 9, 3)),
        (COUNT, ContributionBounds((("encounters", 2),), 3), (2, 4, 2)),
        (COUNT, ContributionBounds((), None, 1), (4, 16, 4)),
        ("SELECT COUNT(DISTINCT patient_id) FROM encounters", NO_BOUNDS, (1, 1, 1)),
        ("SELECT COUNT(*) FROM patients", NO_BOUNDS, (1, 1, 1)),
        (UNITS.format("sex"), NO_BOUNDS, (1, 1, 1)),
        (UNITS.format("ward"), NO_BOUNDS, (3, 3, 1)),
        (UNITS.format("urgent"), NO_BOUNDS, (2, 2, 1)),
        (UNITS.format("age"), NO_BOUNDS, (4, 4, 1)),
        (UNITS.format("sex, ward"), NO_BOUNDS, (3, 3, 1)),
        (UNITS.format("ward, urgent"), NO_BOUNDS, (4, 4, 1)),
        (UNITS.format("age"), ContributionBounds((), 2), (2, 2, 1)),
        (UNITS.format("age"), ContributionBounds((), None, 3), (3, 3, 1)),
        (UNITS.format("age"), ContributionBounds((), 2, 3), (2, 2, 1)),
        (UNITS.format("sex"), ContributionBounds((), None, 3), (1, 1, 1)),
        (UNITS.format("urgent"), ContributionBounds((), None, 3), (2, 2, 1)),
        (UNITS.format("age"), ContributionBounds((("encounters", 1),)), (1, 1, 1)),
    ],
)
def test_sensitivity_follows_from_rows_groups_and_constant_keys(sql, bounds, expected):
    assert norms(sql, bounds) == [expected]


def test_equal_columns_share_one_vector_and_different_ones_do_not():
    sql = "SELECT COUNT(*) a, COUNT(DISTINCT patient_id) b, COUNT(*) c FROM encounters"
    assert norms(sql) == [(4, 16, 4), (1, 1, 1)]


def test_sensitivities_are_fractions():
    assert isinstance(count_rows_sensitivity(2).l2_squared, Fraction)
    assert isinstance(count_units_sensitivity(2).linf, Fraction)


@pytest.mark.parametrize("rule", [count_rows_sensitivity, count_units_sensitivity])
def test_a_sensitivity_of_nothing_is_refused(rule):
    with pytest.raises(ValueError, match="no noise"):
        rule(0)
