"""A8: a cell never appears, or fails to, because one patient exists."""

from itertools import product

import pytest

from tests.effort import rounds
from tests.support.installations.harness import ask

SEXES = ["F", "M"]
WARDS = ["north", "south", "other", None]
AGES = list(range(121))
CASES = {
    "ward": WARDS,
    "sex, ward": list(product(SEXES, WARDS)),
    "ward, sex": list(product(WARDS, SEXES)),
    "age": AGES,
    "age, sex": list(product(AGES, SEXES)),
    "sex, age, ward": list(product(SEXES, AGES, WARDS)),
}
CONDITIONS = ("", "WHERE ward = 'north'", "WHERE age = 111", "WHERE note = 'nobody'")
REPEATS = rounds(5, gate=2)


def _cells(reply):
    width = len(reply.json()["columns"]) - 1
    cells = [tuple(row[:width]) for row in reply.json()["rows"]]
    return [cell[0] for cell in cells] if width == 1 else cells


@pytest.mark.parametrize("keys", CASES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_declared_cell_comes_back_whoever_is_there(arms, keys, condition):
    sql = f"SELECT {keys}, COUNT(*) FROM visits {condition} GROUP BY {keys}"
    for arm in arms.values():
        for _ in range(REPEATS):
            reply = ask(arm.http, sql, epsilon="0.5")
            cells = _cells(reply)
            # A key that is never NULL has no NULL cell; ward may be NULL.
            assert cells == CASES[keys]
            assert all(type(row[-1]) is int for row in reply.json()["rows"])


def test_days_are_public_whether_or_not_somebody_was_seen(arms):
    sql = "SELECT day, COUNT(DISTINCT patient_id) FROM visits GROUP BY day"
    seen = [_cells(ask(arm.http, sql)) for arm in arms.values()]
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][0] == "2024-01-01"
    assert seen[0][-2:] == ["2024-12-31", None]
    assert len(seen[0]) == 367
