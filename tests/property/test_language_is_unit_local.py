"""Remove any unit from the source files and ingest again: no vector moves too far."""

import random

import pytest

from tests.effort import gate_first
from tests.property.plans import run_pair

pytestmark = pytest.mark.thorough

PAIRS = 12
QUESTIONS = 25  # a pair


@pytest.mark.slow
@pytest.mark.parametrize("pair", gate_first(4, range(PAIRS)))
def test_removing_a_unit_from_the_files_moves_no_vector_too_far(pair):
    counts = run_pair(random.Random(f"files {pair}"), QUESTIONS)

    assert counts["asked"] > counts["refused"]
    assert counts["moved"] > 0
