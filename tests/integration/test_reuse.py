"""Free answers, snapshots, keys and projects, over real HTTP."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from budget.storage.tables import charge
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.custody.people import PeopleService
from server.use_cases.questions.asking import pricing
from server.use_cases.questions.free_answer_limit import ROW_BYTES, FreeAnswerLimit
from server.use_cases.questions.measured import Measured
from server.use_cases.questions.questions import prepare
from server.use_cases.services.services import today
from tests.crash.instruments.books import answers, stored_bytes
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

ALLOW = {"options": {}}


@pytest.fixture
def installation(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    return installation


def test_an_answer_is_free_on_its_own_snapshot_alone(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid = ask(http, **ALLOW).json()
        free = ask(http, **ALLOW).json()
        cheaper = ask(http, epsilon="0.5", **ALLOW).json()
        dearer = ask(http, epsilon="2", **ALLOW).json()
        installation.load()
        fresh = ask(http, **ALLOW).json()
    assert free["rows"] == cheaper["rows"] == paid["rows"]
    assert free["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
    assert free["query_id"] != paid["query_id"]
    assert dearer["charge"] == {"epsilon": "1", "delta": "0", "reused": False}
    assert not fresh["charge"]["reused"]
    assert fresh["snapshot"] != paid["snapshot"]
    assert fresh["remaining"]["project"] == "99997"  # of the dearer one, what is more


def test_a_revoked_key_and_a_disabled_principal_are_shut_out_at_once(installation):
    key = installation.analyst()
    with (
        serve_in_thread(installation) as url,
        client(url, key) as http,
        installation.services() as services,
    ):
        service = PeopleService(services, "local:test")
        assert ask(http).status_code == 200
        second = service.create_key("ada")
        listed = service.keys()
        service.revoke_key(listed[0]["id"])
        assert ask(http).status_code == 401
        with client(url, second["key"]) as other:
            assert ask(other).status_code == 200
            service.disable_principal("ada")
            assert ask(other).status_code == 401


def test_a_project_asks_until_its_last_day(installation):
    ended = installation.analyst(expires=today())
    going = installation.analyst("eve", "later", expires=today() + timedelta(days=1))
    with serve_in_thread(installation) as url:
        with client(url, ended) as http:
            assert ask(http).status_code == 404
            assert http.get("/v1/datasets").json()["items"] == []
            assert http.get("/v1/budget").json()["projects"] == []
        with client(url, going) as http:
            assert ask(http).status_code == 200


def test_a_free_answer_of_many_cells_takes_little_room_and_replays_byte_for_byte(
    installation,
):
    key = installation.analyst()
    keys = "sex, age, ward"
    many = {"sql": f"SELECT {keys}, COUNT(*) FROM visits GROUP BY {keys}", **ALLOW}
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid = ask(http, **many)
        before = stored_bytes(installation)
        named = {"Idempotency-Key": "again"}
        body = {"epsilon": "1", **many}
        path = "/v1/datasets/clinic/queries"
        free = http.post(path, json=body, headers=named)
        replayed = http.post(path, json=body, headers=named)
        shown = http.get(f"/v1/queries/{free.json()['query_id']}").json()
    assert len(paid.content) > 10_000
    assert free.json()["rows"] == paid.json()["rows"]
    assert free.json()["charge"]["reused"]
    assert replayed.content == free.content
    assert replayed.headers["Idempotency-Replayed"] == "true"
    assert shown["answer"] == free.json()
    assert stored_bytes(installation) - before < 1_000
    with installation.services() as services:
        assert services.ledger.verify(RECORDED_TABLES).ok


def test_a_free_answer_takes_room_for_all_that_is_stored_of_it(
    installation, monkeypatch
):
    key, taken = installation.analyst(), []
    monkeypatch.setattr(FreeAnswerLimit, "take", lambda _, __, size: taken.append(size))
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http, **ALLOW)
        before = stored_bytes(installation)
        ask(http, **ALLOW)
        stored = stored_bytes(installation) - before
    with (
        installation.services() as services,
        services.databases.reader.connect() as connection,
    ):
        texts = connection.execute(select(charge.c.request)).scalars().all()
    (size,) = taken
    assert size == stored + 2 * len(texts[1]) + ROW_BYTES


def test_free_answers_may_store_so_many_bytes_an_hour_and_then_wait(
    installation, monkeypatch
):
    monkeypatch.setattr(
        "server.use_cases.questions.asking.service.FreeAnswerLimit",
        lambda: FreeAnswerLimit(5_000),
    )
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        replies = [ask(http, **ALLOW) for _ in range(6)]
        dear = ask(http, options={"reuse": "never"})
        stored = len(answers(installation))
    statuses = [reply.status_code for reply in replies]
    assert statuses == [200] * 4 + [429] * 2  # the first is paid; 2 kB and more each
    assert replies[-1].json()["type"] == "rate_limited"
    assert int(replies[-1].headers["Retry-After"]) > 60
    assert dear.status_code == 200
    assert stored == 5


def test_a_free_answer_warns_in_the_askers_own_words(installation):
    key = installation.analyst()
    one = "SELECT COUNT(*) FROM visits WHERE ward = 'cellar'"
    other = "SELECT COUNT(*)\nFROM visits\nWHERE ward = 'cellar'"
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http, one, options={})
        free = ask(http, other, options={}).json()
        plain = http.post(
            "/v1/datasets/clinic/plan", json={"sql": other, "epsilon": "1"}
        ).json()
    assert free["charge"]["reused"]
    assert free["warnings"] == plain["warnings"] != []


def test_exports_tell_nothing_of_how_long_execution_took(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http)
    with installation.services() as services:
        charged, answered = services.ledger.export()[-2:]
    assert (charged["kind"], answered["kind"]) == ("charge", "answered")
    assert charged["time"] == answered["time"]


SAME = (
    """SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM visits
    WHERE age > 19 GROUP BY sex""",
    """SELECT AVG(v.age) AS mean_age, v.sex, COUNT(*) AS visits FROM visits AS v
    WHERE NOT v.age <= 19 GROUP BY v.sex ORDER BY visits DESC LIMIT 1""",
    """SELECT sex, COUNT(age) AS n, SUM(age) AS total, COUNT(*) FROM visits
    WHERE age BETWEEN 20 AND 120 GROUP BY sex HAVING AVG(age) >= 0""",
)
"""One question, shown in three ways; of age there is no NULL."""


def test_the_same_question_in_other_words_shows_the_vectors_that_were_paid(
    installation,
):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid, turned, summed = [ask(http, sql=sql, **ALLOW).json() for sql in SAME]
        repeated = ask(http, sql=SAME[1], **ALLOW).json()
        planned = http.post(
            "/v1/datasets/clinic/plan", json={"sql": SAME[2], "epsilon": "1"}
        ).json()
        budget = http.get("/v1/budget").json()["projects"][0]
    assert not paid["charge"]["reused"]
    assert [each["charge"]["reused"] for each in (turned, summed, repeated)] == [
        True
    ] * 3
    counts = {sex: (n, mean) for sex, n, mean in paid["rows"]}
    (mean, sex, visits), *others = turned["rows"]
    assert not others
    assert counts[sex] == (visits, mean)
    assert visits == max(n for n, _ in counts.values())
    assert [column["name"] for column in turned["columns"]] == [
        "mean_age",
        "sex",
        "visits",
    ]
    assert all(counts[sex][0] in {n, m} for sex, n, _, m in summed["rows"])
    assert summed["rows"]
    assert repeated["rows"] == turned["rows"]
    assert planned["free"][0]["id"] == paid["query_id"]
    assert budget["spent"] == "1"
    with installation.services() as services:
        assert services.ledger.verify(RECORDED_TABLES).ok


def test_an_answer_of_a_few_rows_shows_all_that_it_paid_for(installation):
    key = installation.analyst()
    few = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex ORDER BY n DESC LIMIT 1"
    whole = "SELECT sex AS who, COUNT(*) FROM visits GROUP BY sex"
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid = ask(http, sql=few, **ALLOW).json()
        free = ask(http, sql=whole, epsilon="0.5", **ALLOW).json()
        again = ask(http, sql=whole, epsilon="2", **ALLOW).json()
    assert len(paid["rows"]) == 1
    assert paid["rows"][0] in free["rows"]
    assert len(free["rows"]) > 1
    assert free["charge"]["reused"]
    assert free["noise"][0]["scale"] == paid["noise"][0]["scale"]
    assert not again["charge"]["reused"]


def test_an_answer_of_an_earlier_version_is_found_by_its_own_text(
    installation, monkeypatch
):
    """That version stored the former identity, and no vectors."""

    def formerly(*asked, **counting):
        question = prepare(*asked, **counting)
        return replace(question, identity=question.former)

    key = installation.analyst()
    with monkeypatch.context() as earlier:
        earlier.setattr(pricing, "prepare", formerly)
        earlier.setattr(Measured, "encode", lambda _: b"")
        with serve_in_thread(installation) as url, client(url, key) as http:
            paid = ask(http, sql=SAME[0], **ALLOW).json()
    with serve_in_thread(installation) as url, client(url, key) as http:
        free = ask(http, sql=SAME[0], **ALLOW).json()
        other = ask(http, sql=SAME[1], **ALLOW).json()
    assert free["rows"] == paid["rows"]
    assert free["charge"]["reused"]
    assert not other["charge"]["reused"]


def test_totals_are_free_after_their_cells_and_tell_how_noisy_each_row_is(
    installation,
):
    key = installation.analyst()
    cells = "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY "
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid = ask(http, cells + "sex, ward", **ALLOW).json()
        body = {"sql": cells + "ROLLUP (sex, ward)", "epsilon": "1", "options": {}}
        plan = http.post("/v1/datasets/clinic/plan", json=body).json()
        free = ask(http, cells + "ROLLUP (sex, ward)", **ALLOW).json()
    rows = len(paid["rows"])
    assert free["rows"][:rows] == paid["rows"]
    assert free["rows"][-1] == [None, None, sum(row[-1] for row in paid["rows"])]
    assert free["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
    assert plan["cells"] == len(free["rows"])
    sets = plan["totals"]
    assert [each["keys"] for each in sets] == [["sex", "ward"], ["sex"], []]
    assert [each["added"] for each in sets] == [1, sets[1]["added"], rows]
    (widths,) = free["half_widths"]
    planned = [each["half_widths"][0]["half_width_95"] for each in sets]
    assert widths["rows"] == [
        *[planned[0]] * rows,
        *[planned[1]] * (rows // sets[1]["added"]),
        planned[2],
    ]
    assert planned[0] == free["noise"][0]["half_width_95"]
    (intervals,) = free["intervals"]
    assert len(intervals["rows"]) == len(free["rows"])
    assert "half_widths" not in paid
