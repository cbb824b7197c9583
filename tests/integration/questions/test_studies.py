"""Several questions for one charge, over real HTTP."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from privacy.errors import CuratorError
from privacy.losses import Loss
from server.api.questions.routes import QueryEndpoint
from server.api.routing.backlog import Backlog
from server.api.routing.slots import SlotClock
from server.api.routing.turns import SLACK
from server.use_cases.identity.access import Caller
from server.use_cases.questions import looked_at
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.studies.documents import is_as_sure, parts_document
from server.use_cases.questions.studies.requests import read_study
from server.use_cases.questions.studies.steps import of_text
from server.use_cases.questions.studies.strategies import MOST_STEPS
from server.use_cases.questions.studying import StudyService
from server.use_cases.services.documents import encode
from server.web import Server
from tests.integration.losses.test_rho_population import rho_manifest
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    client,
    serve_in_thread,
    serving,
)
from tests.support.noise.samplers import ZeroSampler

pytestmark = pytest.mark.thorough

BY_SEX = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
TOTAL = "SELECT COUNT(*) AS n FROM visits"
BY_BOTH = "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward"
BY_AGE = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age"
MEAN = "SELECT AVG(age) AS years FROM visits"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("studies")).create()
    installation.load()
    return installation


def study(*questions, **more):
    return {"questions": [dict(sql=sql, **wish) for sql, wish in questions], **more}


def within(steps):
    return {"accuracy": {"within": steps}}


def plan(http, body):
    reply = http.post("/v1/datasets/clinic/plans", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def ask(http, body, **more):
    reply = http.post("/v1/datasets/clinic/studies", json=body, **more)
    assert reply.status_code == 200, reply.text
    return reply.json()


def cells(answer):
    return {tuple(row[:-1]): row[-1] for row in answer["rows"]}


def test_one_charge_pays_for_answers_that_add_up(installation):
    key = installation.analyst("ada", "adding")
    body = study(
        (TOTAL, within(60)),
        (BY_SEX, within(40)),
        (BY_BOTH, within(30)),
        (MEAN, {"epsilon": "0.5"}),
    )
    with serve_in_thread(installation) as url, client(url, key) as http:
        planned = plan(http, body)
        asked = ask(http, body)
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
        again = ask(http, body)
        shown = http.get(f"/v1/queries/{asked['query_id']}").json()
        (listed, *_) = http.get("/v1/queries").json()["items"]
    total, by_sex, by_both, mean = asked["answers"]
    assert spent == planned["epsilon"] == asked["charge"]["epsilon"]
    assert float(spent) < float(planned["one_by_one"]["epsilon"])
    (n,) = cells(total).values()
    assert n == sum(cells(by_sex).values())
    for (sex,), n in cells(by_sex).items():
        assert n == sum(m for (s, _), m in cells(by_both).items() if s == sex)
    for told, answer in zip(planned["questions"][:3], asked["answers"], strict=False):
        (expected,) = told["half_widths"]
        assert set(answer["half_widths"][0]["rows"]) == {expected["greatest"]}
    assert mean["noise"] == planned["questions"][3]["noise"]
    assert again["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
    assert [one["rows"] for one in again["answers"]] == [
        one["rows"] for one in asked["answers"]
    ]
    assert shown["study"] == asked
    assert listed["sql"].count(";") == 3


def test_a_study_given_to_another_project_says_nothing_of_the_first_one(installation):
    body = study((TOTAL, within(71)), (BY_SEX, within(52)), (MEAN, {"epsilon": "0.3"}))
    first = installation.analyst("fay", "paid", allotment="7.125")
    other = installation.analyst("oda", "given", allotment="5.5")
    with serve_in_thread(installation) as url:
        with client(url, first) as http:
            paid = ask(http, body)
        with client(url, other) as http:
            given = ask(http, body)
            shown = http.get(f"/v1/queries/{given['query_id']}").text
    left = paid["remaining"]["project"]
    assert given["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
    for one in (given, *given["answers"]):
        assert one["query_id"] == given["query_id"] != paid["query_id"]
        assert one["remaining"] == {"project": "5.5", "principal": None}
    for text in (json.dumps(given), shown):
        assert paid["query_id"] not in text
        assert f'"{left}"' not in text


@pytest.fixture
def asked(monkeypatch):
    """One more for each question whose caller was let in."""
    found, real = [], QueryEndpoint._asked

    async def counted(self, *given):
        found.append(None)
        return await real(self, *given)

    monkeypatch.setattr(QueryEndpoint, "_asked", counted)
    return found


def wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("permits", [64, 2])
def test_others_wait_for_one_request_of_a_caller_who_sends_many(
    installation, monkeypatch, asked, permits
):
    """And those that wait hold no permit: others would be told that all are taken."""
    many = installation.analyst(f"two{permits}", f"once{permits}")
    other = installation.analyst(f"o{permits}", f"one{permits}")
    body = study((TOTAL, within(90)))
    begun, is_read, may_end = [], threading.Event(), threading.Event()
    plan_study, plan_question = StudyService.plan, QueryService.plan

    def slowly(*given):
        begun.append(None)
        assert may_end.wait(60)
        return plan_study(*given)

    def noticed(*given):
        is_read.set()
        return plan_question(*given)

    monkeypatch.setattr(StudyService, "plan", slowly)
    monkeypatch.setattr(QueryService, "plan", noticed)
    server = Server(replace(installation, permits=permits).settings)
    with (
        serving(server) as url,
        client(url, many) as http,
        client(url, other) as another,
        ThreadPoolExecutor(5) as threads,
    ):
        send = partial(http.post, "/v1/datasets/clinic/plans", json=body)
        replies = [threads.submit(send) for _ in range(4)]
        wait_until(lambda: len(asked) == 4 and begun)
        body = {"sql": TOTAL, "epsilon": "0.5"}
        last = threads.submit(another.post, "/v1/datasets/clinic/plan", json=body)
        was_read, begun_by_then = is_read.wait(30), len(begun)
        may_end.set()
        assert (was_read, begun_by_then) == (True, 1)
        assert {each.result().status_code for each in (*replies, last)} == {200}
    assert len(begun) == 4


def test_a_callers_next_request_is_read_when_the_last_one_is_by_public_costs(
    installation, monkeypatch
):
    """How long reading really took would tell others what the server does beside."""
    key = installation.analyst("clk", "clock")
    made, wanted = [], []
    promise, begin = Backlog._promise, SlotClock.begin

    def promised(self, ticket, cost):
        made.append(promise(self, ticket, cost))
        return made[-1]

    async def begun(self, moment):
        wanted.append(moment - SLACK * self.slot_seconds)
        return await begin(self, moment)

    monkeypatch.setattr(Backlog, "_promise", promised)
    monkeypatch.setattr(SlotClock, "begin", begun)
    with (
        serve_in_thread(installation) as url,
        client(url, key) as http,
        ThreadPoolExecutor(4) as threads,
    ):
        asked = {"sql": TOTAL, "epsilon": "0.5"}
        send = partial(http.post, "/v1/datasets/clinic/plan", json=asked)
        replies = [threads.submit(send) for _ in range(4)]
        assert {each.result().status_code for each in replies} == {200}
    assert wanted == pytest.approx([each.read for each in made[:3]], abs=1e-6)
    assert wanted == sorted(set(wanted))


@pytest.mark.parametrize("total", ["0.000000001", "900"])
def test_what_a_refused_study_took_is_counted(installation, total):
    name = f"r{len(total)}"
    installation.analyst(name, f"counted_{name}")
    body = study(*((f"{TOTAL} WHERE age > {n}", within(90)) for n in range(8)))
    request = read_study({**body, "epsilon": total})
    counted = LookedAt()
    server = Server(installation.settings)
    server.start()
    try:
        with pytest.raises(CuratorError):
            server.studies.plan(Caller(name, "analyst"), "clinic", request, counted)
    finally:
        server.stop()
        server.services.databases.close()
    assert counted.cells > 8 * 300  # a text each, and the search


@pytest.mark.parametrize(
    "odd",
    [
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP(ward)",
        f"{BY_WARD} ORDER BY n DESC LIMIT 1",
        "SELECT ward, COUNT(*) * 2 AS n FROM visits GROUP BY ward",
        "SELECT ward, AVG(age) AS years FROM visits GROUP BY ward",
    ],
)
def test_what_does_not_add_up_holds_nothing_and_is_shown_as_it_was_drawn(
    installation, odd
):
    name = f"odd{sum(map(ord, odd))}"
    key = installation.analyst(name, name)
    slices = [f"{TOTAL} WHERE ward = '{ward}'" for ward in ("north", "south")]
    body = study(
        (odd, {"epsilon": "0.9"}), *((sql, within(500)) for sql in (TOTAL, *slices))
    )
    with serve_in_thread(installation) as url, client(url, key) as http:
        told, asked = plan(http, body), ask(http, body)
    (part,) = [part for part in told["parts"] if 0 in part["questions"]]
    assert part["questions"] == [0]
    assert not part["adds_up"]
    assert asked["answers"][0]["noise"]


def test_a_stored_study_is_given_only_where_each_table_is_as_sure(installation):
    key = installation.analyst("sal", "surer")
    bound = {"bounds": {"max_rows_per_unit": 1}}

    def both(of_all, of_one):
        asked = [
            {"sql": TOTAL, "accuracy": {"within": of_all}},
            {"sql": TOTAL, "accuracy": {"within": of_one}, "options": bound},
        ]
        return read_study({"questions": asked})

    server = Server(installation.settings)
    server.start()
    try:
        caller = Caller("sal", "analyst")

        def planned(request):
            return server.studies._planned(caller, "clinic", request, LookedAt())

        paid = planned(both(400, 20)).question
        stored = json.loads(encode({"parts": parts_document(paid.of)}))
        assert is_as_sure(stored, planned(both(400, 20)).question.of)
        assert is_as_sure(stored, planned(both(500, 30)).question.of)
        assert not is_as_sure(stored, planned(both(40, 200)).question.of)
    finally:
        server.stop()
        server.services.databases.close()
    del key


def test_many_slices_of_one_table_are_brought_together_at_once(installation):
    """Pair by pair this took seconds, and none of them were counted."""
    installation.analyst("sue", "slices")
    slices = [
        f"{TOTAL} WHERE age BETWEEN {n} AND {n + n % 4}" for n in range(20, 89, 3)
    ]
    asked = [(BY_AGE, within(150)), *((sql, within(320)) for sql in slices)]
    body = study(*asked)
    counted = LookedAt()
    server = Server(installation.settings)
    server.start()
    try:
        told = json.loads(
            server.studies.plan(
                Caller("sue", "analyst"), "clinic", read_study(body), counted
            )
        )
    finally:
        server.stop()
        server.services.databases.close()
    assert len(asked) == 24
    assert len(told["parts"]) <= 3
    assert 4 * float(told["epsilon"]) < float(told["one_by_one"]["epsilon"])
    texts = sum(of_text(sql) for sql, _ in asked)
    assert counted.cells < texts + 1.5 * MOST_STEPS  # tables and half-widths beside


def test_answers_without_noise_are_exact(installation):
    key = installation.analyst("eve", "exact")
    wards = ["north", "south", "attic"]
    rows = [row.split(",") for row in DEFAULT_ROWS]
    body = study(
        (BY_SEX, within(9)),
        (BY_WARD, within(9)),
        ("SELECT COUNT(*) FROM visits WHERE sex = 'F'", within(30)),
        (BY_SEX.replace("AS n", "AS other"), within(12)),
        (
            "SELECT sex, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY sex",
            within(8),
        ),
        (TOTAL, within(12)),
    )
    with (
        serve_in_thread(installation, ZeroSampler) as url,
        client(url, key) as http,
    ):
        asked = ask(http, body)
    by_sex, by_ward, women, again, people, total = map(cells, asked["answers"])
    assert by_sex == again == {(s,): sum(r[1] == s for r in rows) for s in "FM"}
    assert by_ward == {
        ("north",): sum(r[3] == "north" for r in rows),
        ("south",): sum(r[3] == "south" for r in rows),
        ("other",): sum(r[3] == wards[2] for r in rows),
        (None,): 0,
    }
    assert women == {(): by_sex["F",]}
    assert people == {("F",): 50, ("M",): 50}
    assert total == {(): len(rows)}
    measured = [table["sql"] for part in asked["parts"] for table in part["tables"]]
    assert len(measured) < len(asked["answers"])


def test_a_total_is_spent_and_makes_all_half_widths_alike(installation):
    key = installation.analyst("tom", "totals")
    questions = [(TOTAL, within(60)), (BY_SEX, within(40)), (BY_BOTH, within(30))]
    with serve_in_thread(installation) as url, client(url, key) as http:
        small, large = (
            plan(http, study(*questions, epsilon=total)) for total in ("0.5", "1")
        )
        refused = http.post(
            "/v1/datasets/clinic/plans", json=study(*questions, rho="0.5")
        )
        even = plan(http, study((TOTAL, {}), (MEAN, {}), epsilon="1"))
        without = http.post("/v1/datasets/clinic/plans", json=study((TOTAL, {})))
    assert (small["epsilon"], large["epsilon"]) == ("0.5", "1")
    widths = [
        [int(q["half_widths"][0]["greatest"]) for q in each["questions"]]
        for each in (small, large)
    ]
    assert all(abs(one - 2 * other) <= 3 for one, other in zip(*widths, strict=True))
    assert refused.json()["type"] == "epsilon_out_of_range"
    assert [part["tables"][0]["epsilon"] for part in even["parts"]] == ["0.5", "0.5"]
    assert without.json()["detail"].startswith("questions[0]: give exactly one")


def test_tables_of_a_study_are_paid_numbers_afterwards(installation):
    key = installation.analyst("pam", "after")
    body = study((TOTAL, within(90)), (BY_BOTH, within(30)), (MEAN, {"epsilon": "0.5"}))
    free = {"epsilon": "1", "options": {"prefer": "paid"}}
    with serve_in_thread(installation) as url, client(url, key) as http:
        asked = ask(http, body)
        by_ward = http.post(
            "/v1/datasets/clinic/queries", json={"sql": BY_WARD, **free}
        ).json()
    by_both = cells(asked["answers"][1])
    assert by_ward["charge"]["reused"]
    assert by_ward["paid"]["queries"] == [asked["query_id"]]
    assert by_ward["paid"]["epsilon"] == asked["charge"]["epsilon"]
    for (ward,), n in cells(by_ward).items():
        assert n == sum(m for (_, w), m in by_both.items() if w == ward)


def test_the_questions_of_a_study_share_what_is_looked_for(installation, monkeypatch):
    """Each of 24 could look through all paid answers, while everybody waited."""
    key = installation.analyst("sid", "shared")
    with serve_in_thread(installation) as url, client(url, key) as http:
        body = {"sql": BY_AGE, "epsilon": "1", "options": {"reuse": "never"}}
        assert http.post("/v1/datasets/clinic/queries", json=body).status_code == 200
    wish = {"accuracy": {"relative": "5%", "at_least": 10}}
    texts = (f"{BY_AGE} HAVING n > {limit}" for limit in range(3))
    request = read_study(study(*((text, wish) for text in (BY_AGE, *texts))))
    server, counted = Server(installation.settings), []
    server.start()
    try:
        for most in (looked_at.MOST_DERIVED, looked_at.MOST_DERIVED, 1):
            monkeypatch.setattr(looked_at, "MOST_DERIVED", most)
            counted.append(LookedAt())
            caller = Caller("sid", "analyst")
            server.studies.plan(caller, "clinic", request, counted[-1])
    finally:
        server.stop()
        server.services.databases.close()
    first, again, shared = (each.derived for each in counted)
    assert first == again  # what is remembered changes nothing
    assert 0 < 3 * shared < first


def test_a_study_killed_before_its_answer_is_answered_for_nothing_more(installation):
    key = installation.analyst("kim", "killed")
    request = read_study(
        study((TOTAL, within(59)), (BY_BOTH, within(29)), (MEAN, {"epsilon": "0.5"}))
    )
    server = Server(installation.settings)
    server.start()
    try:
        kim = Caller("kim", "analyst")
        paid = server.studies.begin(kim, "clinic", request, None, LookedAt())
    finally:
        server.stop()
        server.services.databases.close()
    query_id = paid.charge.query_id
    with serve_in_thread(installation) as url, client(url, key) as http:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            shown = http.get(f"/v1/queries/{query_id}").json()
            if shown["state"] != "in_flight":
                break
            time.sleep(0.1)
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    total, by_both, _ = shown["study"]["answers"]
    assert spent == str(paid.question.charged) == shown["study"]["charge"]["epsilon"]
    assert sum(cells(by_both).values()) == sum(cells(total).values())


def test_a_refusal_says_of_which_question_it_is(installation):
    key = installation.analyst("rob", "refused")
    wrong = study((TOTAL, within(60)), ("SELECT MAX(age) FROM visits", within(3)))
    many = study(*[(TOTAL, within(60))] * 25)
    with serve_in_thread(installation) as url, client(url, key) as http:
        replies = [
            http.post("/v1/datasets/clinic/studies", json=body).json()
            for body in (wrong, many, {"questions": [{"sql": 3}]})
        ]
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    assert replies[0]["type"] == "sql_not_allowed"
    assert replies[0]["detail"].startswith("questions[1]: ")
    assert "at most 24" in replies[1]["detail"]
    assert replies[2]["detail"].startswith("questions[0]: ")
    assert spent == "0"


def test_one_key_brings_one_study(installation):
    key = installation.analyst("ivy", "keyed")
    body = study((TOTAL, within(60)), (BY_SEX, within(40)), options={"reuse": "never"})
    headers = {"Idempotency-Key": "once"}
    with serve_in_thread(installation) as url, client(url, key) as http:
        one, other = (ask(http, body, headers=headers) for _ in range(2))
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    assert one == other
    assert spent == one["charge"]["epsilon"]


def test_a_study_may_cost_the_engine_no_more_than_one_question(installation):
    key = installation.analyst("max", "costly")
    of_age = "SELECT COUNT(*) FROM visits WHERE age < {}"
    many = study(*[(of_age.format(age), within(200)) for age in range(20, 44)])
    crowded = replace(installation, permits=1_024)  # so one patient's rows may add less
    with serve_in_thread(crowded) as url, client(url, key) as http:
        refused = http.post("/v1/datasets/clinic/studies", json=many).json()
        few = plan(http, study((of_age.format(20), within(200))))
    assert (refused["type"], refused["rule"]) == ("sql_not_allowed", "too_costly")
    assert few["one_by_one"]["epsilon"] == few["epsilon"]


def drawn(random):
    """Return a random study: questions whose numbers may follow from one another."""
    keys = ["sex", "ward", "age_band(age, 20)"]
    counted = ["COUNT(*)", "COUNT(DISTINCT patient_id)", "SUM(age)"]
    conditions = ["", " WHERE sex = 'F'", " WHERE ward IN ('north', 'south')"]
    questions = []
    for _ in range(random.randint(2, 7)):
        grouped = random.sample(keys, random.randint(0, 3))
        number = random.choice(counted)
        sql = f"SELECT {', '.join([*grouped, number])} AS n FROM visits"
        sql += random.choice(conditions)
        sql += f" GROUP BY {', '.join(grouped)}" if grouped else ""
        width = random.choice([60, 120, 240]) * (100 if "SUM" in number else 1)
        questions.append((sql, within(width)))
    return study(*questions)


def test_what_would_be_dearer_together_is_measured_one_by_one(installation):
    key = installation.analyst("una", "apart")
    body = study((TOTAL, within(20)), (BY_BOTH, within(100)))  # together 1 % dearer
    with serve_in_thread(installation) as url, client(url, key) as http:
        planned = plan(http, body)
    assert planned["epsilon"] == planned["one_by_one"]["epsilon"]
    assert [part["questions"] for part in planned["parts"]] == [[0], [1]]


def test_no_study_is_dearer_than_its_questions_or_wider_than_is_wished(installation):
    """Random studies: their plans alone, which follow from texts and wishes."""
    key = installation.analyst("ann", "random")
    studies = [drawn(Random(seed)) for seed in range(12)]
    with serve_in_thread(installation) as url, client(url, key) as http:
        plans = [plan(http, body) for body in studies]
    for body, planned in zip(studies, plans, strict=True):
        losses = [t["epsilon"] for part in planned["parts"] for t in part["tables"]]
        spent = sum(Loss.parse(loss).nano_epsilon for loss in losses)
        price = Loss.parse(planned["epsilon"])
        assert spent == price.nano_epsilon
        assert price <= Loss.parse(planned["one_by_one"]["epsilon"])
        for asked, told in zip(body["questions"], planned["questions"], strict=True):
            (width,) = told["half_widths"]
            assert int(width["greatest"]) <= asked["accuracy"]["within"]
        answered = sorted(n for part in planned["parts"] for n in part["questions"])
        assert answered == list(range(len(body["questions"])))
    assert any(len(part["questions"]) > 1 for p in plans for part in p["parts"])


def test_what_is_stored_is_named_and_other_forms_are_refused(installation):
    key = installation.analyst("sam", "stored")
    body = study((TOTAL, within(33)), (BY_WARD, within(33)))
    csv = {"Accept": "text/csv"}
    with serve_in_thread(installation) as url, client(url, key) as http:
        paid = http.post(
            "/v1/datasets/clinic/queries", json={"sql": TOTAL, **within(33)}
        ).json()
        first, second = plan(http, body)["questions"]
        fresh = plan(http, {**body, "options": {"reuse": "never"}})["questions"]
        refused = http.post("/v1/datasets/clinic/studies", json=body, headers=csv)
        path = f"/v1/queries/{ask(http, body)['query_id']}"
        assert http.get(path).status_code == 200
        assert http.get(path, headers=csv).status_code == 406
    assert [one["id"] for one in first["free"]] == [paid["query_id"]]
    assert second["free"] == fresh[0]["free"] == []
    assert refused.status_code == 406


def test_a_population_that_counts_rho_pays_rho(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(rho_manifest(made))
    key = made.analyst(allotment="2")
    body = study((TOTAL, within(60)), (BY_SEX, within(50)), (BY_BOTH, within(40)))
    with serve_in_thread(made) as url, client(url, key) as http:
        planned = plan(http, body)
        asked = ask(http, body)
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    total, by_sex, _ = asked["answers"]
    assert spent == planned["rho"] == asked["charge"]["rho"]
    assert float(spent) <= float(planned["one_by_one"]["rho"])
    assert sum(cells(by_sex).values()) == cells(total)[()]
    table = planned["parts"][0]["tables"][0]
    assert table["noise"][0]["mechanism"] == "discrete_gaussian"
