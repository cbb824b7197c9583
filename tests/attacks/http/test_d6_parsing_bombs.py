"""D6: texts that are meant to hurt cost their sender, never another client."""

import threading
import time
from decimal import Decimal

import pytest

from tests.support.data.bombs import BOMBS
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_process,
)

pytestmark = pytest.mark.thorough

EPSILON = "0.001"
LONGEST_SECONDS = 30  # of the victim's slowest question, on any machine


@pytest.fixture(scope="module")
def raid(tmp_path_factory):
    """Send every bomb while a victim asks; return what each of them met."""
    installation = Installation(tmp_path_factory.mktemp("bombs")).create()
    installation.load()
    attacker = installation.analyst("eve", "attack")
    victim = installation.analyst("ada", "study")
    with serve_in_process(installation) as url:
        ended = threading.Event()
        asked = []

        def ask_on():
            with client(url, victim) as http:
                while not ended.is_set():
                    start = time.monotonic()
                    status = ask(http, epsilon=EPSILON).status_code
                    asked.append((status, time.monotonic() - start))

        thread = threading.Thread(target=ask_on)
        thread.start()
        try:
            with client(url, attacker) as http:
                replies = [ask(http, bomb, epsilon=EPSILON) for bomb in BOMBS]
                budget = http.get("/v1/budget").json()
        finally:
            ended.set()
            thread.join()
    return replies, budget, asked


def test_there_are_two_hundred_bombs_and_none_twice():
    assert len(set(BOMBS)) == len(BOMBS) >= 200


def test_each_bomb_is_answered_or_refused_as_any_other_text(raid):
    replies, _, _ = raid
    odd = {
        bomb[:80]: reply.status_code
        for bomb, reply in zip(BOMBS, replies, strict=True)
        if reply.status_code not in {200, 400, 413, 422}
    }
    assert odd == {}


def test_most_bombs_are_refused_and_some_are_questions_like_others(raid):
    answered = sum(reply.status_code == 200 for reply in raid[0])
    assert 20 < answered < len(BOMBS) / 2


def test_a_refused_bomb_costs_nothing_and_an_answered_one_its_price(raid):
    replies, budget, _ = raid
    answered = sum(reply.status_code == 200 for reply in replies)
    (project,) = budget["projects"]
    assert Decimal(project["spent"]) == answered * Decimal(EPSILON)


def test_a_victim_is_answered_all_the_while(raid):
    _, _, asked = raid
    assert len(asked) > 1
    assert {status for status, _ in asked} == {200}
    assert max(seconds for _, seconds in asked) < LONGEST_SECONDS
