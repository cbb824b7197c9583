"""More epsilon for a question that was paid for: the difference, over real HTTP."""

from dataclasses import replace

import pytest

from budget.ledger import ChargeRequest, NotRefinable, Refinement, Scope
from curator_client import Curator
from privacy.losses import Loss
from server.use_cases.questions.measured import Measured
from tests.integration.losses.test_rho_population import (
    BY_SEX,
    BY_WARD,
    recovered,
)
from tests.support.installations.harness import (
    Installation,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

MEAN = "SELECT sex, AVG(age) AS n FROM visits GROUP BY sex"


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(made.write_manifest())
    return made


@pytest.fixture
def key(installation):
    return installation.analyst(allotment="4")


def post(http, route, **body):
    reply = http.post(f"/v1/datasets/clinic/{route}", json={"sql": BY_WARD, **body})
    assert reply.status_code == 200, reply.text
    return reply.json()


def asked(http, epsilon, **more):
    return post(http, "queries", epsilon=epsilon, **more)


def planned(http, epsilon, **more):
    return post(http, "plan", epsilon=epsilon, **more)


def test_more_epsilon_costs_the_difference(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        at_once = planned(http, "0.5")
        first = asked(http, "0.2")
        plan = planned(http, "0.5")
        second = asked(http, "0.5")
        kept = http.get(f"/v1/queries/{second['query_id']}").json()["answer"]
        again, less = asked(http, "0.5"), asked(http, "0.2")
        other_words = asked(http, "0.4", sql=BY_WARD + " -- once more")
        third = asked(http, "1")
        fresh = asked(http, "0.2", options={"reuse": "never"})
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    assert plan["epsilon"] == second["charge"]["epsilon"] == "0.3"
    assert plan["refines"]["queries"] == [first["query_id"]]
    assert plan["refines"]["epsilon"] == "0.2"
    assert plan["noise"] == second["noise"] == at_once["noise"]
    assert second["paid"]["queries"] == [first["query_id"]]
    assert kept == second
    assert (
        f"had paid epsilon 0.2 for these numbers ({first['query_id']})"
        in (second["derivation"])
    )
    for free in (again, less, other_words):
        assert free["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
        assert free["rows"] == second["rows"]
        assert free["noise"] == second["noise"]
        assert "paid" not in free
    assert third["charge"]["epsilon"] == "0.5"
    assert third["paid"] == {
        "kind": "paid",
        "queries": [second["query_id"]],
        "epsilon": "0.5",
    }
    assert fresh["charge"]["epsilon"] == "0.2"
    assert spent == "1.2"


def test_a_little_more_costs_a_tenth_more(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        asked(http, "0.5")
        plan, answer = planned(http, "0.501"), asked(http, "0.501")
    assert plan["epsilon"] == answer["charge"]["epsilon"] == "0.05"
    assert answer["noise"] == plan["noise"]


def test_averages_are_refined_too(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        at_once = planned(http, "1", sql=MEAN)
        asked(http, "0.5", sql=MEAN)
        answer = asked(http, "1", sql=MEAN)
    assert answer["charge"]["epsilon"] == "0.5"
    assert answer["noise"] == at_once["noise"]


def test_another_text_of_one_meaning_pays_the_whole(installation, key):
    """Its statements are other ones: its numbers need not be the very same."""
    other = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE 'F' = sex"
    same = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE sex IN ('F')"
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = asked(http, "0.2", sql=same)
        free = asked(http, "0.2", sql=other)
        more = planned(http, "0.5", sql=other)
    assert free["rows"] == first["rows"]
    assert more["epsilon"] in {"0.3", "0.5"}
    assert ("refines" in more) == (more["epsilon"] == "0.3")


def test_what_was_refined_is_not_added_up_with_what_refines_it(installation, key):
    """Their noise is not independent: the finer one alone is used."""
    by_sex = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    women = "SELECT COUNT(*) AS n FROM visits WHERE sex = 'F'"
    with serve_in_thread(installation) as url, client(url, key) as http:
        asked(http, "0.2", sql=by_sex)
        finer = asked(http, "0.5", sql=by_sex)
        offers = planned(http, "0.1", sql=women)["free"]
        slice_of = asked(http, "0.1", sql=women, options={"prefer": "paid"})
    assert [offer["queries"] for offer in offers] == [[finer["query_id"]]]
    shown = {row[0]: row[-1] for row in finer["rows"]}
    assert slice_of["rows"] == [[shown["F"]]]


def test_a_most_is_what_is_paid_now(installation, key):
    wish = {"accuracy": {"within": 6}}
    with serve_in_thread(installation) as url, client(url, key) as http:
        whole = Loss.parse(post(http, "plan", **wish)["epsilon"])
        half = Loss(whole.nano_epsilon // 2 + 1_000)
        asked(http, str(half))
        most = {"accuracy": {"within": 6, "at_most": str(half)}}
        plan, answer = post(http, "plan", **most), post(http, "queries", **most)
        less = {"within": 3, "at_most": str(half)}
        refused = http.post(
            "/v1/datasets/clinic/plan", json={"sql": BY_WARD, "accuracy": less}
        )
    assert plan["epsilon"] == answer["charge"]["epsilon"]
    assert Loss.parse(plan["epsilon"]) == whole.minus_floor_zero(half)
    assert float(answer["noise"][0]["half_width_95"]) <= 6
    assert refused.status_code == 422


def test_a_charge_that_was_cut_off_goes_on_from_the_same_answer(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = asked(http, "0.2", sql=BY_SEX)
    answer = recovered(installation, "0.5", "epsilon")
    assert answer["charge"]["epsilon"] == "0.3"
    assert answer["paid"]["queries"] == [first["query_id"]]
    with serve_in_thread(installation) as url, client(url, key) as http:
        at_once = planned(http, "0.5", sql=BY_SEX)
        assert asked(http, "0.5", sql=BY_SEX)["rows"] == answer["rows"]
    assert answer["noise"] == at_once["noise"]


def test_a_draw_is_gone_on_from_once(installation, key):
    """What fails after its charge has taken the noise with it."""
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = asked(http, "0.2")
    with installation.services() as services:
        forget_what_was_drawn(services, first["query_id"])
    with serve_in_thread(installation) as url, client(url, key) as http:
        plan = planned(http, "0.5")
    assert plan["epsilon"] == "0.5"
    assert "refines" not in plan


def forget_what_was_drawn(services, query_id):
    """Charge what goes on from an answer, and let it fail."""
    record = services.ledger.query(query_id)
    request = ChargeRequest(
        query_id="q_fails",
        principal=record.principal,
        project=record.project,
        population="people",
        dataset=record.dataset,
        snapshot=record.snapshot,
        scopes=(Scope.population("people"),),
        loss=Loss.parse("0.1"),
        question="none",
        private_history=False,
        idempotency_key=None,
        fingerprint=None,
        request_json=record.request_json,
        refines=Refinement(query_id, Loss.parse("0.3")),
    )
    made = services.ledger.charge(request)
    services.ledger.fail(made.charge.query_id)
    twice = services.ledger.charge(replace(request, query_id="q_twice"))
    assert twice == NotRefinable()


def test_what_is_kept_of_a_draw_says_of_what_it_was(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = asked(http, "0.2")
    with installation.services() as services:
        kept = Measured.read(services.ledger.measured_vectors(first["query_id"]))
    assert len(kept.drawn.plan) == 64
    assert [f"{scale!r}" for scale in kept.drawn.scales] == [first["noise"][0]["scale"]]


def test_the_python_client_says_what_it_goes_on_from(installation, key):
    sql = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
    wish = {"relative": "10%", "at_least": 1}
    with (
        serve_in_thread(installation) as url,
        Curator(url, key, dataset="clinic") as curator,
    ):
        public = str(curator.plan(sql, accuracy=wish))
        first = curator.query(sql, epsilon="0.1")
        planned = str(curator.plan(sql, epsilon="0.5"))
        unsure = str(curator.plan(sql, accuracy=wish))
        second = curator.query(sql, epsilon="0.5")
    assert "priced as if all numbers were small" in public
    assert "is no loss: what was paid counts" in public
    assert planned.startswith("price: epsilon 0.4 (")
    assert f"goes on from {first.query_id}: the price is what is left" in planned
    assert "bought at epsilon 0.2 first, may make this cheaper" in unsure
    footer = str(second).splitlines()[-1]
    assert footer.strip().startswith("(paid epsilon 0.4, going on from what was paid;")
    assert "± holds 95 % of the noise" in footer


TWINS = "SELECT sex, COUNT(*) AS a, COUNT(sex) AS b FROM visits GROUP BY sex"


def test_shares_that_change_places_pay_the_whole(installation, key):
    """Each scale belongs to its own vector: with other shares they would be mixed."""
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = {"weights": {"a": 3, "b": 7}}
        asked(http, "0.1", sql=TWINS, options=first)
        swapped = {"weights": {"a": 7, "b": 3}}
        other = planned(http, "0.25", sql=TWINS, options=swapped)
        same = planned(http, "0.25", sql=TWINS, options=first)
    assert "refines" not in other
    assert other["epsilon"] == "0.25"
    assert same["epsilon"] == "0.15"


def test_a_most_holds_where_nothing_may_be_reused(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        asked(http, "0.3")
        body = {
            "sql": BY_WARD,
            "accuracy": {"within": 24, "at_most": "0.3"},
            "options": {"reuse": "never"},
        }
        routes = [f"/v1/datasets/clinic/{route}" for route in ("plan", "queries")]
        refused = [http.post(route, json=body).status_code for route in routes]
    assert refused == [422, 422]


def test_a_refused_wish_names_a_probe_at_what_is_left_to_pay(installation, key):
    sql = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
    wish = {"relative": "10%", "at_least": 1, "at_most": "0.5"}
    with serve_in_thread(installation) as url, client(url, key) as http:
        asked(http, "0.1", sql=sql)
        body = {"sql": sql, "accuracy": wish}
        refused = http.post("/v1/datasets/clinic/plan", json=body).json()
        probes = [way for way in refused.get("ways", []) if way["kind"] == "probe"]
        priced = [planned(http, way["request"]["epsilon"], sql=sql) for way in probes]
    assert [way["epsilon"] for way in probes] == [plan["epsilon"] for plan in priced]
