"""A cube's counts are those of the query that it is, and one unit moves them by D."""

import random
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pytest

from engines.duckdb.cubes import sparse_counts
from query_lang.specs.axes import Axis
from query_lang.specs.cubes import CubeRequest, CubeStatement
from tests.effort import IS_LONG
from tests.support.compiling import compile_cube, compile_query
from tests.support.data.hospital import (
    ENCOUNTERS,
    HOSPITAL,
    connect,
    create_table,
    ranked,
    run,
)

AXES = [
    Axis("sex"),
    Axis("ward"),
    Axis("smoker"),
    Axis("urgent"),
    Axis("dose"),
    Axis("level"),
    Axis("age", bands=20),
    Axis("age", name="generation", bins=("18", "65")),
    Axis("admitted"),
    Axis("admitted", name="month", level="month"),
    Axis("admitted", name="weekday", level="weekday"),
    Axis("admitted", name="part", bins=2),
]
ROUNDS = 60


def some_rows(dice):
    days = [date(2024, 1, 30) + timedelta(days=n) for n in range(3)]
    return ranked(
        {
            "unit": unit,
            "row_hash": dice.randrange(2**40),
            "sex": "fm"[unit % 2],
            "ward": dice.choice(["north", "south", "attic", None]),
            "smoker": dice.choice([True, False, None]),
            "urgent": dice.choice([True, False]),
            "dose": dice.choice([Decimal("0.5"), Decimal("1.5")]),
            "level": dice.randint(1, 3),
            "age": dice.choice([0, 17, 18, 64, 65, 120, None]),
            "admitted": dice.choice([*days, None]),
        }
        for unit in range(8)
        for _ in range(dice.randint(0, 4))
    )


def counted(connection, plan):
    """Return every cell's count, C order."""
    found = connection.execute(plan.statement.sql, list(plan.statement.parameters))
    raw = sparse_counts(plan.statement, iter(lambda: found.fetchmany(3), []))
    assert np.all(np.diff(raw.cells) > 0)
    assert np.all(raw.counts > 0)
    dense = np.zeros(plan.size, dtype=np.int64)
    dense[raw.cells] = raw.counts
    return dense


def rounds():
    dice = random.Random(20270503)
    for _ in range(ROUNDS):
        axes = tuple(dice.sample(AXES, dice.randint(1, 3)))
        yield dice, CubeRequest("encounters", axes, dice.choice([True, False]))


def test_a_cube_counts_what_the_query_counts():
    compared = 0
    for dice, request in rounds():
        if len({axis.column for axis in request.axes}) < len(request.axes):
            continue  # keys that follow from others have no cells of their own there
        compared += 1
        plan = compile_cube(request, HOSPITAL)
        keys = ", ".join(dimension.expression for dimension in plan.dimensions)
        named = ", ".join(f"{d.expression} AS {d.name}" for d in plan.dimensions)
        count = "COUNT(DISTINCT patient_id)" if request.counts_units else "COUNT(*)"
        query = compile_query(
            f"SELECT {named}, {count} AS n FROM encounters GROUP BY {keys}", HOSPITAL
        )
        with connect() as connection:
            create_table(connection, ENCOUNTERS, some_rows(dice))
            (expected,) = run(connection, query.rendered)
            assert tuple(counted(connection, plan)) == expected
        assert plan.l1_sensitivity == query.measures[0].sensitivity.l1
    assert compared > ROUNDS // 3


@pytest.mark.long
def test_no_unit_moves_a_cube_by_more_than_it_says():
    for dice, request in rounds():
        plan = compile_cube(request, HOSPITAL)
        rows = some_rows(dice)
        with connect() as connection:
            create_table(connection, ENCOUNTERS, rows)
            whole = counted(connection, plan)
            for unit in range(8) if IS_LONG else dice.sample(range(8), 2):
                rest = [row for row in rows if row["unit"] != unit]
                create_table(connection, ENCOUNTERS, rest)
                moved = np.abs(whole - counted(connection, plan)).sum()
                assert moved <= plan.l1_sensitivity


def test_cells_of_a_domain_too_large_for_any_array_have_numbers():
    keys = tuple(tuple(range(1_000)) for _ in range(4))
    statement = CubeStatement("", (), keys)
    rows = [
        (999, 999, 999, 999, 5),
        (0, 0, 0, 0, 1),
        (0, 0, 1, 0, 2),
        (0, 0, 0, 1000, 9),
    ]
    raw = sparse_counts(statement, [rows])
    assert raw.cells.tolist() == [0, 1_000, 10**12 - 1]
    assert raw.counts.tolist() == [1, 2, 5]


def test_two_rows_for_one_cell_are_a_fault():
    statement = CubeStatement("", (), (("a", None),))
    with pytest.raises(ValueError, match="two rows"):
        sparse_counts(statement, [[("a", 1)], [("a", 2)]])
    assert sparse_counts(statement, []).cells.tolist() == []


@pytest.mark.parametrize(
    ("axes", "bound"),
    [(["sex"], 1), (["sex", "level"], 3)],
)
def test_attributes_of_people_pay_one_whatever_rows_they_have(axes, bound):
    """Somebody with every row that is allowed moves the cube by exactly its D."""
    known = {axis.name or axis.column: axis for axis in AXES}
    request = CubeRequest("encounters", tuple(known[name] for name in axes), True)
    plan = compile_cube(request, HOSPITAL)
    rows = [
        {
            "unit": unit,
            "row_hash": 10 * unit + level,
            "sex": "fm"[unit % 2],
            "ward": "north",
            "smoker": True,
            "urgent": False,
            "dose": Decimal("0.5"),
            "level": 1 + level % 3,
            "age": 64,
            "admitted": date(2024, 1, 30),
        }
        for unit in range(3)
        for level in range(4)
    ]
    images = []
    for units in (3, 2):
        with connect() as connection:
            own = (row for row in rows if row["unit"] < units)
            create_table(connection, ENCOUNTERS, ranked(own))
            images.append(counted(connection, plan))
    assert int(np.abs(images[0] - images[1]).sum()) == plan.l1_sensitivity == bound
