"""Known days in a text."""

import pytest

from tests.unit.upstream.linkage.loop.patients import TYPES, known, said
from upstream.linkage.loop.known import known_spans
from upstream.linkage.loop.matching.dates import days_of

BORN = known(born="27/10/1948")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "27/10/1948",
            "10/27/1948",
            "10/27/48",
            "27.10.48",
            "27-10-1948",
            "1948-10-27",
        ),
        *("1948/10/27", "19481027", "27101948", "10271948", "271048", "27 Oct 1948"),
        *("27-Oct-1948", "27-OCT-48", "October 27, 1948", "october 27th, 1948"),
        *("Oct. 27 1948", "the 27th of October 1948", "27 de octubre de 1948"),
        *("27 de octubre del 1948", "1948 October 27", "27. 10. 1948", "Oct 27 '48"),
        *("October\n27, 1948", "27 / 10 / 1948", "27 October"),
    ],
)
def test_a_day_is_found_in_every_usual_form(text):
    found = said(f"Seen {text}.", BORN)
    assert found == [text.removeprefix("the ")]


@pytest.mark.parametrize(
    "text",
    [
        *("28/10/1948", "27/11/1948", "27/10/1949", "27/10/49", "10/27", "27.10"),
        *("27 Nov 1948", "October 1948", "October 28", "1948", "27/10/1948/3"),
        *(
            "3-27-10-1948",
            "127/10/1948",
            "19481028",
            "Oct Oct 26",
            "27 27 October 1949",
        ),
        *("27 of of of of of of of of of of of October 1948", "27\n\n\n\n\n10 1948"),
    ],
)
def test_another_day_or_a_part_of_one_is_not(text):
    assert said(f"Seen {text}.", BORN) == []


def test_a_day_without_its_year_is_less_sure():
    whole, part = known_spans("27 Oct 1948 or 27 Oct", BORN, TYPES)
    assert part.score < 0.7 < whole.score


def test_a_value_that_can_be_read_in_two_ways_is_looked_for_in_both():
    assert days_of("3/5/48", None) == {
        *((1948, 5, 3), (1948, 3, 5)),
        *((2048, 5, 3), (2048, 3, 5)),
    }
    assert days_of("3/5/1948", "day_first") == {(1948, 5, 3)}
    assert days_of("once upon a time", None) == set()
