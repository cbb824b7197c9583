"""Days are listed by month, season or year."""

from datetime import date

import pytest

from upstream.trajectories.dast.grains import GRAINS, month_year, season_year, year


@pytest.mark.parametrize(
    ("day", "month", "season"),
    [
        (date(2009, 4, 25), "2009-04", "2009-spring"),
        (date(2009, 12, 31), "2009-12", "2010-winter"),
        (date(2010, 1, 1), "2010-01", "2010-winter"),
        (date(2010, 8, 20), "2010-08", "2010-summer"),
        (date(2010, 11, 30), "2010-11", "2010-autumn"),
    ],
)
def test_days_have_months_and_northern_seasons(day, month, season):
    assert month_year(day) == month
    assert season_year(day) == season
    assert year(day) == str(day.year)


def test_grains_have_names():
    assert set(GRAINS) == {"month", "season", "year"}


def test_figure_2_has_five_days_in_four_months():
    days = [(4, 25), (3, 13), (4, 5), (8, 20), (7, 19)]
    assert len({month_year(date(2009, *each)) for each in days}) == 4
