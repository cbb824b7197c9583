"""Sequences are those that a plain evaluator makes, and one unit moves one of them."""

import random
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from engines.duckdb.sequences import sequence_counts
from privacy.contributions import ContributionBounds
from query_lang.specs.axes import Axis
from query_lang.specs.periods import Periods
from query_lang.specs.sequences import SequenceRequest
from tests.effort import rounds
from tests.support.compiling import compile_sequences
from tests.support.data.hospital import (
    ENCOUNTERS,
    HOSPITAL,
    connect,
    create_table,
    ranked,
)

ROUNDS = rounds(40)
FIRST = date(2024, 1, 1)
CUTS = ("1", "2.5")
LABELS = ("<1", "1-<2.5", ">=2.5")


def some_rows(dice):
    return ranked(
        {
            "unit": unit,
            "row_hash": dice.randrange(2**40),
            "sex": "fm"[unit % 2],
            "ward": dice.choice(["north", "south", None]),
            "level": dice.randint(1, 3),
            "visits": dice.choice([0, 1, 2, 3, 4, None]),
            "cost": dice.choice([None, Decimal("0.99"), Decimal("2.5"), Decimal(4)]),
            "discharged": dice.choice(
                [None, *(FIRST + timedelta(days=dice.randrange(70)) for _ in range(5))]
            ),
            "seen": datetime(2024, 1, dice.randint(1, 3), 8),  # noqa: DTZ001 - stored
        }
        for unit in range(8)
        for _ in range(dice.randint(0, 4))
    )


def counted(connection, plan):
    """Return how many units have each sequence, by group and shown symbols."""
    found = connection.execute(plan.statement.sql, list(plan.statement.parameters))
    batches = iter(lambda: found.fetchmany(3), [])
    raw = sequence_counts(plan.statement, batches)
    values = plan.alphabet.values
    splits = (None,) if plan.split is None else plan.split.values
    shown = Counter()
    for place, count in enumerate(raw.counts.tolist()):
        codes = raw.symbols[raw.starts[place] : raw.starts[place + 1]].tolist()
        group = splits[raw.groups[place]]
        shown[(group, tuple(values[code] for code in codes))] += count
    return shown


def by_unit(rows, order):
    units = defaultdict(list)
    for row in sorted(rows, key=lambda r: r["row_hash"]):
        if row[order] is not None:
            units[row["unit"]].append(row)
    return [sorted(own, key=lambda r: r[order]) for own in units.values()]


def binned(value):
    if value is None:
        return None
    return LABELS[sum(Fraction(value) >= Fraction(cut) for cut in CUTS)]


def taken(own, take, column):
    if take == "count":
        return len(own)
    values = [row[column] for row in own]
    if take == "last":
        return values[-1]
    known = [Fraction(value) for value in values if value is not None]
    if not known:
        return None
    made = {"average": lambda: sum(known) / len(known), "sum": lambda: sum(known)}
    return {**made, "max": lambda: max(known), "min": lambda: min(known)}[take]()


def expected(rows, request):
    shown = Counter()
    for own in by_unit(rows, request.order):
        made = (
            [row[request.symbols.column] for row in own]
            if isinstance(request.symbols, Axis)
            else of_periods(own, request)
        )
        group = None if request.split is None else own[0][request.split.column]
        if made:
            shown[(group, tuple(made[: request.max_length]))] += 1
    return shown


def of_periods(own, request):
    periods = request.symbols
    days = [row[request.order] for row in own]
    days = [day.date() if isinstance(day, datetime) else day for day in days]
    start = days[0] if periods.start is None else periods.start
    found = defaultdict(list)
    for day, row in zip(days, own, strict=True):
        if day < start:
            continue
        if periods.unit == "step":
            place = (day - start) // periods.every
        elif periods.unit == "day":
            place = (day - start).days // periods.every
        else:
            months = (day.year - start.year) * 12 + day.month - start.month
            place = months // periods.every
        found[place].append(row)
    if not found:
        return []
    return [
        binned(taken(found[place], periods.take, periods.of))
        if place in found
        else None
        for place in range(max(found) + 1)
    ]


REQUESTS = [
    SequenceRequest("encounters", "discharged", Axis("ward"), 3),
    SequenceRequest("encounters", "level", Axis("ward"), 2),
    SequenceRequest("encounters", "seen", Axis("level"), 9, split=Axis("sex")),
    *(
        SequenceRequest(
            "encounters",
            "discharged",
            Periods(
                7, "day", None, take, None if take == "count" else "visits", CUTS, "v"
            ),
            5,
            split=Axis("sex"),
        )
        for take in ("average", "sum", "count", "max", "min", "last")
    ),
    SequenceRequest(
        "encounters",
        "discharged",
        Periods(1, "month", date(2024, 2, 1), "average", "cost", CUTS),
        2,
    ),
    SequenceRequest(
        "encounters", "level", Periods(2, "step", 0, "max", "cost", CUTS), 2
    ),
    SequenceRequest(
        "encounters", "seen", Periods(1, "day", None, "sum", "cost", CUTS), 3
    ),
]


@pytest.mark.sampled
@pytest.mark.parametrize("request_", REQUESTS, ids=range(len(REQUESTS)))
def test_sequences_are_those_of_a_plain_evaluator(request_):
    dice = random.Random(5)
    plan = compile_sequences(request_, HOSPITAL)
    with connect() as connection:
        seen = Counter()
        for _ in range(ROUNDS):
            rows = some_rows(dice)
            create_table(connection, ENCOUNTERS, rows)
            found = counted(connection, plan)
            assert found == expected(rows, request_)
            seen += found
    assert len(seen) > 8


@pytest.mark.sampled
@pytest.mark.parametrize("request_", REQUESTS, ids=range(len(REQUESTS)))
def test_one_unit_moves_one_sequence_by_one_and_the_order_of_rows_none(request_):
    dice = random.Random(6)
    plan = compile_sequences(request_, HOSPITAL)
    moved = Counter()
    with connect() as connection:
        for _ in range(ROUNDS):
            rows = some_rows(dice)
            create_table(connection, ENCOUNTERS, rows)
            whole = counted(connection, plan)
            dice.shuffle(rows)
            create_table(connection, ENCOUNTERS, rows)
            assert counted(connection, plan) == whole
            others = [row for row in rows if row["unit"] != 3]
            create_table(connection, ENCOUNTERS, others)
            less = counted(connection, plan)
            assert not less - whole
            moved[(whole - less).total()] += 1
    assert set(moved) <= {0, 1}
    assert moved[1] > ROUNDS / 4


def test_a_bound_keeps_rows_by_their_hash_before_the_sequence_is_made():
    bounds = ContributionBounds(max_rows_per_unit=2)
    request = SequenceRequest("encounters", "level", Axis("ward"), 9, bounds=bounds)
    rows = ranked(
        {"unit": 1, "row_hash": 5 - level, "level": level, "ward": ward, "sex": "f"}
        for level, ward in ((1, "north"), (2, "south"), (3, "north"))
    )
    plan = compile_sequences(request, HOSPITAL)
    with connect() as connection:
        create_table(connection, ENCOUNTERS, rows)
        assert counted(connection, plan) == {(None, ("south", "north")): 1}
    assert "before its sequence is made" in plan.warnings[0].detail


@pytest.mark.parametrize("start", [-1, 0, -(2**63)])
def test_periods_at_the_ends_of_64_bits_are_counted_as_others(start):
    """A unit's row that made the whole count fail would tell that it is there."""
    steps = Periods(1, "step", start, "count", None, ("2",), "v")
    plan = compile_sequences(
        SequenceRequest("encounters", "visits", steps, 3), HOSPITAL
    )
    near = {"unit": 1, "row_hash": 1, "sex": "f", "level": 1, "visits": start + 2}
    far = {**near, "unit": 2, "row_hash": 2, "visits": 2**63 - 1}
    with connect() as connection:
        create_table(connection, ENCOUNTERS, ranked([near, far]))
        found = counted(connection, plan)
    assert found == {
        (None, (None, None, "<2")): 1,
        (None, (None, None, None)): 1,
    }


def test_a_stranger_to_the_domain_leaves_nothing():
    request = SequenceRequest("encounters", "level", Axis("ward"), 9)
    rows = ranked(
        {"unit": 1, "row_hash": n, "level": n, "ward": ward, "sex": "f"}
        for n, ward in ((1, "attic"), (2, "south"))
    )
    plan = compile_sequences(request, HOSPITAL)
    with connect() as connection:
        create_table(connection, ENCOUNTERS, rows)
        assert counted(connection, plan) == {(None, ("south",)): 1}


def test_many_symbols_are_cut_and_read_by_their_number():
    request = SequenceRequest(
        "encounters", "level", Axis("admitted", bins=("2024-02-01",)), 2
    )
    plan = compile_sequences(request, HOSPITAL)
    assert plan.alphabet.values == ("2024-01-30..2024-01-31", "2024-02-01", None)
    raw = sequence_counts(
        plan.statement, [[(0, "\u0102\u0100", 5, 3), (0, "\u0101", 2, 1)]]
    )
    assert raw.symbols.tolist() == [1, 2, 0]
    assert raw.starts.tolist() == [0, 1, 3]
    assert raw.counts.tolist() == [1, 3]
    assert raw.phases.tolist() == [2, 5]


def test_combining_marks_are_symbols_of_their_own():
    with connect() as connection:
        marks = "".join(chr(0x100 + code) for code in (0x200, 0x201, 0x240, 0x241))
        (cut,) = connection.execute("SELECT left(?, 3)", [marks]).fetchone()
    assert cut == marks[:3]


@pytest.mark.parametrize(
    "rows",
    [
        [(0, "\u0100", 0, 1), (0, "\u0100", 0, 1)],
        [(0, "", 0, 1)],
        [(0, "\u0100\u0100\u0100", 0, 1)],
        [(0, "\u0103", 0, 1)],
        [(0, "a", 0, 1)],
    ],
)
def test_what_is_no_sequence_is_an_error_of_the_rendering(rows):
    plan = compile_sequences(
        SequenceRequest("encounters", "level", Axis("ward"), 2), HOSPITAL
    )
    with pytest.raises(ValueError, match=r"sequence|mark"):
        sequence_counts(plan.statement, [rows])


def test_nobody_has_no_sequence():
    plan = compile_sequences(
        SequenceRequest("encounters", "level", Axis("ward"), 2), HOSPITAL
    )
    raw = sequence_counts(plan.statement, [])
    assert raw.starts.tolist() == [0]
    assert np.size(raw.symbols) == np.size(raw.counts) == np.size(raw.groups) == 0
