"""L1: a release and questions want the last epsilon; one gets it, whoever comes first.

Publishing runs as a worker does, in a process of its own; analysts ask a server over
HTTP. However a round ends, spent is the cap.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from budget.ledger import Scope
from privacy.losses import Loss
from server.use_cases.oversight.auditing import AuditService
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_process,
)
from tests.support.installations.publishing import Press, spec

pytestmark = pytest.mark.thorough

PEOPLE = Scope.population("people")
ONE = Loss.parse("1")
CLIENTS = 12
ROUNDS = 9
HEAD_STARTS = (0.0, 0.02, 0.05)  # seconds that questions wait, so that either may win


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("race")).create()
    made.load()
    key = made.analyst(allotment="900000")
    with serve_in_process(made) as url, client(url, key) as http:
        yield Press(made), http


def leave_one(press):
    """Set the population's cap to one more than was spent; return it."""
    with press.services() as services, services.ledger.recorded("race", "x") as change:
        limit = services.ledger.spent(PEOPLE) + ONE
        change.set_limit(PEOPLE, limit)
    return limit


def spent(press):
    with press.services() as services:
        return services.ledger.spent(PEOPLE)


def race(house, number):
    """Let one release and many questions want one epsilon; return what became."""
    press, http = house
    job = press.submit(spec(f"round_{number}", epsilon="1"))
    barrier = threading.Barrier(CLIENTS + 1)

    def question():
        barrier.wait(30)
        time.sleep(HEAD_STARTS[number % len(HEAD_STARTS)])
        return ask(http)

    def publish():
        barrier.wait(30)
        return press.run(job)

    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        published = pool.submit(publish)
        asked = [pool.submit(question) for _ in range(CLIENTS)]
        return published.result(60), [one.result(60) for one in asked]


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("number", range(ROUNDS))
def test_one_of_a_release_and_many_questions_gets_the_last_epsilon(house, number):
    press, _ = house
    limit, before = leave_one(press), len(press.folders())
    done, replies = race(house, number)
    answered = sum(reply.status_code == 200 for reply in replies)
    published = done["state"] == "done"
    assert answered + published == 1, (done["error"], [r.text for r in replies])
    assert {reply.status_code for reply in replies} <= {200, 402}
    assert len({reply.content for reply in replies if reply.status_code == 402}) == 1
    assert published or "nothing was charged" in done["error"]
    assert len(press.folders()) == before + published
    assert spent(press) == limit


def test_what_a_release_took_is_not_there_for_questions_and_the_other_way(house):
    press, http = house
    limit = leave_one(press)
    done = press.publish(spec("first", epsilon="1"))
    assert done["state"] == "done", done["error"]
    assert ask(http).status_code == 402
    assert press.publish(spec("second", epsilon="0.000001"))["state"] == "failed"
    assert spent(press) == limit
    limit = leave_one(press)
    assert ask(http).status_code == 200
    assert press.publish(spec("third", epsilon="0.000001"))["state"] == "failed"
    assert spent(press) == limit
    with press.services() as services:
        assert AuditService(services, "local:test").verify()["problems"] == []
