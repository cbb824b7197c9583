"""L2 and L4: a charge is on disk before data is read and before an answer leaves."""

import random

import pytest

from server.use_cases.custody.projects import ProjectService
from tests.crash.instruments.books import problems, settle
from tests.crash.instruments.images import film, image_problems
from tests.crash.instruments.orders import DATASETS, PROMISED, trace_answers
from tests.crash.instruments.traces import require_strace
from tests.effort import rounds

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module", autouse=True)
def _strace():
    require_strace()


def test_ledger_and_anchor_are_synced_before_data_is_read_and_before_the_answer_leaves(
    nursery, installation, key
):
    for dataset in DATASETS[1:]:
        installation.load(dataset=dataset)
        with installation.services() as services:
            ProjectService(services, "local:test").grant_dataset("study", dataset)
    count = rounds(20, 8)
    orders = trace_answers(nursery, installation, key, count)
    assert orders == [PROMISED] * count


def test_after_a_power_cut_every_answer_that_was_sent_is_in_the_ledger(
    nursery, installation, key, tmp_path
):
    dice = random.Random()
    filmed = film(nursery, installation, key, questions=rounds(48, 32))
    sends, cuts = 0, rounds(10, 4)
    for number in range(cuts):  # one in each part: in the last, much was sent
        part = len(filmed.events) // cuts
        place = number * part + dice.randrange(part)
        copy, sent = filmed.cut(place, dice, tmp_path / f"cut{number}")
        sends += len(sent)
        assert image_problems(copy, sent) == []
    assert sends > 0
    with nursery.serving(copy):
        settle(copy)
    assert problems(copy) == []
