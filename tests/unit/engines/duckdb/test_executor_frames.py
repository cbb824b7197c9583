from datetime import date, datetime
from decimal import Decimal

import pytest

from engines.duckdb.executor_frames import (
    FrameError,
    read_json,
    read_plan,
    read_vectors,
    vector_sizes,
    write_plan,
    write_vectors,
)
from privacy.sealed import SATURATION
from query_lang.plans.rendered import RenderedPlan, Statement

STATEMENTS = (
    Statement(
        "SELECT ?",
        (1, True, "ä\n{}", Decimal("1.50"), date(2024, 2, 29)),
        (
            ("a", 1, True, None),
            ('{"date": "x"}', 0, False, date(1, 1, 1)),
            (Decimal("-0.10"), datetime(2024, 1, 1, 12, 30, 5), 1, 1),  # noqa: DTZ001
        ),
        (1, 2),
    ),
    Statement("SELECT 2", (), ((),), (0,), (0,)),
)


def test_a_plan_comes_over_as_it_was():
    plan = RenderedPlan(STATEMENTS, (("a",),), 3, ("visits",))
    snapshot, read, seconds = read_plan(read_json(write_plan("snap_1", plan, 60.0)))
    assert (snapshot, seconds, read.vector_count) == ("snap_1", 60.0, 3)
    assert read.statements == STATEMENTS
    kinds = [[type(value) for value in place] for place in read.statements[0].places]
    assert kinds == [[type(v) for v in place] for place in STATEMENTS[0].places]


def test_the_largest_values_come_back():
    vectors = [(SATURATION, -SATURATION, 0), (), (7,)]
    assert read_vectors(write_vectors(vectors), [3, 0, 1]) == vectors


@pytest.mark.parametrize("sizes", [[1], [3], [2, 1], []])
def test_a_reply_of_another_length_is_refused(sizes):
    with pytest.raises(FrameError):
        read_vectors(write_vectors([(1, 2)]), sizes)


def test_the_sizes_are_those_of_the_places_in_the_order_of_the_vectors():
    assert vector_sizes(RenderedPlan(STATEMENTS, (), 3, ())) == [1, 3, 3]


@pytest.mark.parametrize("count", [2, 4])
def test_statements_that_do_not_fill_each_vector_once_are_refused(count):
    with pytest.raises(FrameError):
        vector_sizes(RenderedPlan(STATEMENTS, (), count, ()))


@pytest.mark.parametrize("document", [{}, {"snapshot": 1}, {"statements": []}])
def test_a_request_of_another_form_is_refused(document):
    with pytest.raises(FrameError):
        read_plan(document)
