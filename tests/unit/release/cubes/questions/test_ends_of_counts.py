"""Ends of intervals: possible counts, chosen rows, errors that go together."""

import numpy as np
import pytest

from query_lang.reading.parse import parse_query
from release.contract.confidence import selected_confidence, widening
from release.contract.domain import CubeDomain
from release.contract.intervals import draw_half_width
from release.contract.models import Roll
from release.cubes.models.cells import CellsModel
from release.cubes.models.parts.boxes import Overlaps
from release.cubes.models.parts.parts import Meeting, parts_of
from release.cubes.questions.answering import AskedCube
from release.cubes.strategies.registry import STRATEGIES
from tests.effort import rounds
from tests.support.noise.meters import cube_of, domain_of, epsilon, run
from tests.unit.release.cubes.asked_cubes import cells_cube


def answered(values, sql, scale=10.0):
    domain = domain_of(*np.shape(values))
    published, _ = cells_cube(domain.dimensions, bound=1, counts="rows")
    model = CellsModel(domain, np.ravel(values), scale)
    asked = AskedCube(published, model)
    try:
        return asked.ask(parse_query(sql))
    finally:
        asked.close()


def ends(answer):
    return [(float(low), float(high)) for low, high in answer.intervals[0].rows]


def test_no_interval_of_a_count_leaves_out_what_is_possible():
    values = [-200, -5, 0, 12, 500]

    answer = answered(values, "SELECT d0, COUNT(*) AS n FROM cube GROUP BY d0")

    assert [row[1] for row in answer.rows] == values  # as measured
    assert ends(answer) == [(0, 30), (0, 30), (0, 30), (0, 42), (470, 530)]
    assert set(answer.half_widths["n"]) == {"30"}


def test_a_sum_of_numbers_that_are_not_negative_ends_at_0_or_above():
    answer = answered([[9, -900], [-9, -900]], "SELECT SUM(d1) AS s FROM cube")

    ((low, high),) = ends(answer)
    assert low == 0
    assert high > 0


def test_rows_that_were_chosen_by_their_estimates_have_wider_intervals():
    values = np.arange(100)
    text = "SELECT d0, COUNT(*) AS n FROM cube GROUP BY d0"
    all_rows = answered(values, text)

    for chosen in (f"{text} HAVING COUNT(*) > 89", f"{text} ORDER BY n DESC LIMIT 10"):
        answer = answered(values, chosen)
        factor = widening(selected_confidence(0.95, 10, 100))
        assert len(answer.rows) == 10
        widths = {float(width) for width in answer.half_widths["n"]}
        assert widths == {np.floor(draw_half_width(10.0) * factor)}
        assert "rows_chosen" in [w.code for w in answer.warnings]
    by_key = answered(values, f"{text} ORDER BY d0 LIMIT 10")
    assert by_key.half_widths["n"] == all_rows.half_widths["n"][:10]
    assert "rows_chosen" not in [w.code for w in by_key.warnings]


def test_intervals_of_rows_that_noise_raised_hold():
    generator = np.random.default_rng(4)
    held = shown = 0
    for _ in range(rounds(60, gate=20)):
        first, second = generator.geometric(1 - np.exp(-0.1), (2, 200))
        answer = answered(
            50 + first - second,
            "SELECT d0, COUNT(*) AS n FROM cube GROUP BY d0 ORDER BY n DESC LIMIT 5",
        )
        held += sum(low <= 50 <= high for low, high in ends(answer))
        shown += len(answer.rows)
    assert held >= 0.89 * shown  # 0.17 of them without the choice in mind


@pytest.mark.parametrize("strategy", ["agrid", "hb"])
def test_errors_of_sums_and_averages_are_not_added_up_value_by_value(strategy):
    image = np.full((24, 6), 40)
    published, _ = cells_cube(domain_of(24, 6).dimensions, bound=1, counts="rows")
    model, _ = run(STRATEGIES[strategy], cube_of(image), epsilon("1"))
    asked = AskedCube(published, model)
    total, average = (
        asked.ask(parse_query(f"SELECT {measure}(d0) AS x FROM cube"))
        for measure in ("SUM", "AVG")
    )
    asked.close()

    ((low, high),) = ends(total)
    assert low <= image.sum(axis=1) @ np.arange(24) <= high
    assert high - low < 8_000  # of 66,240; 30,000 and more value by value
    ((low, high),) = ends(average)
    assert low <= 11.5 <= high
    assert high - low < 1.2


def test_what_a_sum_takes_of_a_part_it_cuts_lies_between_its_least_and_most_weight():
    met = Overlaps(
        np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([2, 1, 1, 2])
    )
    meeting = Meeting.of(met, np.array([4.0, 3.0]), np.array([0, 0]), 1)

    parts = meeting.parts(np.array([5.0, -1.0]))

    assert parts.evenly.tolist() == [9 / 4, 1.0]
    assert parts.least.tolist() == [-1.0, -1.0]
    assert parts.most.tolist() == [5.0, 5.0]
    counts = parts_of(met, np.array([4.0, 3.0]), 2)
    assert counts.least.tolist() == [0.0] * 4
    assert counts.most.tolist() == [1.0] * 4


def test_a_sum_over_whole_boxes_has_the_error_of_their_noise_alone():
    model, _ = run(STRATEGIES["agrid"], cube_of(np.full((8, 8), 90)), epsilon("2"))
    whole = Roll((np.zeros(8, dtype=int), np.zeros(8, dtype=int)), (1, 1))

    told = model.roll(whole)

    assert told.below == pytest.approx(told.above)
    assert told.noise == pytest.approx(told.above)


def test_a_domain_of_one_cell_is_bounded():
    model, _ = run(STRATEGIES["agrid"], cube_of(np.array([[7]])), epsilon("2"))

    assert isinstance(model.domain, CubeDomain)
    assert model.roll(Roll((np.zeros(1, dtype=int),) * 2, (1, 1))).above[0] > 0


@pytest.mark.long
@pytest.mark.statistical
def test_a_list_of_values_that_follows_the_data_holds_as_often_as_any_other():
    image = np.zeros((200, 200), dtype=int)
    image[::5] = 12
    taken = np.where(np.arange(200) % 5 == 0, 0, -1)
    every_fifth = Roll((taken, np.zeros(200, dtype=int)), (1, 1))
    held = 0
    for seed in range(60):
        cube = cube_of(image)
        model, _ = run(STRATEGIES["agrid"], cube, epsilon("0.3"), seed=seed)
        told = model.roll(every_fifth)
        low, high = told.values - told.below, told.values + told.above
        held += int(low[0] <= image.sum() <= high[0])
    assert held >= 46  # fewer happen twice in 10^7 times at 0.95
