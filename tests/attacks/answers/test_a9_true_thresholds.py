"""A9: nothing is suppressed, clamped or rounded by a threshold on the true count."""

import pytest

from tests.support.installations.arms import ZERO, make_installation
from tests.support.installations.harness import ask, client, serve_in_thread

SAMPLES = 120
THRESHOLDS = (1, 5, 10, 11, 20)  # the customary minimum sizes; the display rule is 11


def _rows():
    """Put k patients in the north, k - 1 in the south, by sex and for each k."""
    unit = 0
    for k in THRESHOLDS:
        for ward, size in (("north", k), ("south", k - 1)):
            for _ in range(size):
                unit += 1
                yield f"{unit},F,{k},{ward},2024-01-01,n"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = make_installation(tmp_path_factory.mktemp("sizes"), list(_rows()))
    return made, made.analyst()


def _sql(k, ward):
    return f"SELECT COUNT(*) AS n FROM visits WHERE age = {k} AND ward = '{ward}'"


def test_exact_counts_around_every_threshold_pass_through_unchanged(installation):
    made, key = installation
    with serve_in_thread(made, ZERO) as url, client(url, key) as http:
        for k in THRESHOLDS:
            for ward, size in (("north", k), ("south", k - 1)):
                assert ask(http, _sql(k, ward)).json()["rows"] == [[size]]


@pytest.mark.slow
def test_small_and_negative_counts_are_returned_on_both_sides_of_a_threshold(
    installation,
):
    made, key = installation
    with serve_in_thread(made) as url, client(url, key) as http:
        for ward in ("north", "south"):
            replies = [ask(http, _sql(11, ward), "0.02") for _ in range(SAMPLES)]
            values = [reply.json()["rows"][0][0] for reply in replies]
            assert {type(value) for value in values} == {int}
            # Scale 500 for at most 10 rows a patient: each event below has a
            # probability over 0.4 (0.009 for the last), so that none fails once in a
            # million.
            assert min(values) < 0 < max(values)
            assert len(set(values)) > SAMPLES // 2
            assert any(value % 5 for value in values)
            assert any(-100 < value < 100 for value in values)


def test_answers_on_both_sides_of_a_threshold_say_the_same_beside_their_rows(
    installation,
):
    made, key = installation
    with serve_in_thread(made) as url, client(url, key) as http:
        for k in THRESHOLDS:
            above, below = (ask(http, _sql(k, w)).json() for w in ("north", "south"))
            for member in ("columns", "noise", "charge", "warnings", "snapshot"):
                assert above[member] == below[member]
            assert set(above) == set(below)
