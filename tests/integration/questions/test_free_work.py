"""What nobody pays for: bounded in each request, and shared out among principals."""

import pytest

from privacy.errors import InvalidOptionError
from privacy.losses import Loss
from server.api.questions import routes
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.projects import NewProject, ProjectService
from server.use_cases.identity.access import Caller
from server.use_cases.identity.shares import FreeWorkLimit
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.paid import readings
from server.use_cases.questions.requests import read_request
from server.web import Server
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

TOTAL = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("free")).create()
    installation.load()
    installation.load(dataset="ward")
    return installation


def plan(http, sql, dataset="clinic", **wish):
    return http.post(
        f"/v1/datasets/{dataset}/plan", json={"sql": sql, **(wish or {"epsilon": "1"})}
    )


def test_whoever_took_too_much_of_the_server_for_nothing_waits(
    installation, monkeypatch
):
    """Plans and refusals count, what is charged does not; nobody else waits for it."""
    taken = {}

    class Counting(FreeWorkLimit):
        def take(self, principal, left, seconds):
            taken[principal] = taken.get(principal, 0) + seconds
            super().take(principal, left, 15 * seconds)

    monkeypatch.setattr(routes, "FreeWorkLimit", lambda **_: Counting())
    eve, ada = installation.analyst("eve", "dear"), installation.analyst("amy", "free")
    with (
        serve_in_thread(installation) as url,
        client(url, eve) as hers,
        client(url, ada) as other,
    ):
        assert ask(hers, TOTAL, epsilon="0.01").status_code == 200
        assert taken == {"eve": 0}
        replies = [plan(hers, f"{TOTAL} WHERE age > {n}") for n in range(15)]
        replies += [plan(hers, f"SELECT nothing{n} FROM visits") for n in range(25)]
        assert [each.status_code for each in replies[:15]] == [200] * 15
        assert replies[15].status_code == 422
        refused = replies[-1]
        assert refused.status_code == 429
        assert refused.json()["type"] == "rate_limited"
        assert int(refused.headers["Retry-After"]) > 0
        assert ask(hers, TOTAL, epsilon="0.02").status_code == 429
        assert plan(other, TOTAL).status_code == 200


def test_stored_answers_in_another_form_count_and_wait(installation, monkeypatch):
    """A large one takes the server a third of a second each time it is written."""
    taken = []

    class Counting(FreeWorkLimit):
        def take(self, principal, left, seconds):
            taken.append(seconds)
            super().take(principal, left, 10_000 * seconds)

    monkeypatch.setattr(routes, "FreeWorkLimit", lambda **_: Counting())
    key = installation.analyst("fay", "forms")
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid = ask(http, "SELECT age, COUNT(*) AS n FROM visits GROUP BY age")
        route = f"/v1/queries/{paid.json()['query_id']}"
        taken.clear()
        arrow = {"Accept": "application/vnd.apache.arrow.stream"}
        replies = [http.get(route, headers=arrow).status_code for _ in range(8)]
        assert http.get(route).status_code == 200  # as JSON it is what is stored
    assert taken[0] > 0
    assert (replies[0], replies[-1]) == (200, 429)


@pytest.fixture
def read(monkeypatch):
    """What is read anew of paid questions, while a test runs."""
    found, real = [], readings.PaidReadings._read_anew

    def counted(self, paid, grant):
        found.append(paid.query_id)
        return real(self, paid, grant)

    monkeypatch.setattr(readings.PaidReadings, "_read_anew", counted)
    return found


def buy(http, dataset, numbers):
    for n in numbers:
        body = {"sql": f"{TOTAL} WHERE age > {20 + n}", "epsilon": "0.01"}
        reply = http.post(f"/v1/datasets/{dataset}/queries", json=body)
        assert reply.status_code == 200, reply.text


def test_two_datasets_in_turn_are_read_once(installation, read):
    """One project's paid questions were read anew whenever the dataset changed."""
    wanted = NewProject("two", ("clinic", "ward"), ("duo",), Loss.parse("100"))
    with installation.services() as services:
        people = PeopleService(services, "local:test")
        people.create_principal("duo", "analyst")
        ProjectService(services, "local:test").create_project(wanted)
        key = people.create_key("duo")["key"]
    with serve_in_thread(installation) as url, client(url, key) as http:
        for dataset in ("clinic", "ward"):
            buy(http, dataset, range(3))
        for n in range(4):
            for dataset in ("clinic", "ward"):
                reply = plan(http, f"{TOTAL} WHERE age > {40 + n}", dataset)
                assert reply.status_code == 200
    assert len(read) == len(set(read)) == 6


def test_a_request_reads_few_paid_texts_anew_and_the_next_one_goes_on(
    installation, read
):
    key = installation.analyst("tia", "many")
    with serve_in_thread(installation) as url, client(url, key) as http:
        buy(http, "clinic", range(30))
    read.clear()
    with serve_in_thread(installation) as url, client(url, key) as http:
        numbers = []
        for _ in range(3):
            assert plan(http, f"{TOTAL} WHERE age > 60").status_code == 200
            numbers.append(len(read))
    assert numbers[0] == 15 < numbers[1] == numbers[2] == len(set(read))


def test_long_paid_texts_are_read_anew_a_few_at_a_time_and_count_as_such(
    installation,
):
    key = installation.analyst("lea", "long")
    with serve_in_thread(installation) as url, client(url, key) as http:
        for n in range(6):
            sql = f"{TOTAL} WHERE age < {n + 70} -- {'x' * 12_000}"
            body = {"sql": sql, "epsilon": "0.01"}
            assert http.post("/v1/datasets/clinic/queries", json=body).is_success
    server = Server(installation.settings)
    server.start()
    try:
        counted, request = (
            LookedAt(),
            read_request({"sql": f"{TOTAL} WHERE age > 60", "epsilon": 1}),
        )
        server.queries.plan(Caller("lea", "analyst"), "clinic", request, counted)
    finally:
        server.stop()
        server.services.databases.close()
    assert counted.texts == 3
    assert counted.cells > 3 * 12_000 / 3


def test_reading_again_what_was_paid_for_is_no_free_work(installation, monkeypatch):
    key, taken = installation.analyst("uma", "again"), []

    class Counting(FreeWorkLimit):
        def take(self, principal, left, seconds):
            taken.append(seconds)

    with serve_in_thread(installation) as url, client(url, key) as http:
        for n in range(15):
            body = {"sql": f"{TOTAL} WHERE age <> {n + 20}", "epsilon": "0.01"}
            assert http.post("/v1/datasets/clinic/queries", json=body).is_success
    monkeypatch.setattr(routes, "FreeWorkLimit", lambda **_: Counting())
    with serve_in_thread(installation) as url, client(url, key) as http:
        for _ in range(2):
            assert plan(http, f"{TOTAL} WHERE age < 60").status_code == 200
    anew, kept = taken
    assert 0 < anew < kept + 0.02


def test_a_price_that_is_not_searched_for_is_not_counted(installation):
    """Many averages, refused after a tenth of a second, counted one and a half."""
    counted = []
    many = ", ".join(f"AVG(age + {n}) AS a{n}" for n in range(40))
    wish = {"within": 5, "rows": 900}
    asked = {"sql": f"SELECT {many} FROM visits", "accuracy": wish}
    installation.analyst("ivo", "averages")
    server = Server(installation.settings)
    server.start()
    try:
        for within in (5, 6):
            counted.append(LookedAt())
            request = read_request({**asked, "accuracy": {**wish, "within": within}})
            with pytest.raises(InvalidOptionError, match="at most 32 numbers"):
                server.queries.plan(
                    Caller("ivo", "analyst"), "clinic", request, counted[-1]
                )
    finally:
        server.stop()
        server.services.databases.close()
    assert max(each.cells for each in counted) < 32 * 100
