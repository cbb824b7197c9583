"""The same question from each output: classes tell a last patient, noise does not."""

import numpy as np
import pytest

from benchmarks.anonymization.one_question import (
    Method,
    class_games,
    drawn,
    expected_answer,
    made_table,
    noisy_games,
    true_of,
)


def test_who_knows_everybody_else_reads_a_class_and_not_a_noisy_count():
    random = np.random.default_rng(1)
    people = drawn(300, random)
    given = people.table(("age", "sex", "ward"), Method(), 2)
    table = made_table(given, 10, Method()).table
    assert class_games(people, table, 50, random) == 1.0
    assert noisy_games(100_000) == pytest.approx(0.525, abs=0.01)  # 6 deviations
    assert abs(expected_answer(people, table) - true_of(people)) < 10
