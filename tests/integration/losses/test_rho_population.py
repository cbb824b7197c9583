"""A population that counts rho: from its manifest to answers, over real HTTP."""

import json
from datetime import date
from fractions import Fraction

import pytest

from curator_client import Curator
from mechanisms.scales.conversions.zcdp import odds_epsilon_ceil
from mechanisms.scales.gaussian.calibration import gaussian_scale
from mechanisms.scales.gaussian.half_widths import gaussian_half_width
from privacy.losses import Loss
from server.use_cases.custody.populations import PopulationService
from server.use_cases.identity.access import Caller
from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.oversight.odometers import Odometers
from server.use_cases.oversight.statements import StatementService
from server.use_cases.publishing.announcing import ReleaseAnnouncer
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.measured import Measured
from server.use_cases.questions.requests import read_request
from server.use_cases.services.errors import CommandRefusedError
from server.web import Server
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import OPERATOR, Press, spec
from tests.support.installations.recovering import asking, recovery_at_once
from tests.support.noise.samplers import ZeroSampler

pytestmark = pytest.mark.thorough

PURE = 'epsilon_cap: "100000"\n  epsilon_per_query: {min: "0.001", max: "5"}'
RHO = (
    'measure: zcdp\n  delta: "0.000001"\n  rho_cap: "2"\n'
    '  rho_per_query: {min: "0.000001", max: "0.5"}'
)
BY_SEX = "SELECT sex, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY sex"
BY_WARD = "SELECT ward, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY ward"


def rho_manifest(installation, **more):
    """Write the manifest of a population that counts rho."""
    path = installation.write_manifest(**more)
    written = path.read_text()
    assert PURE in written
    path.write_text(written.replace(PURE, RHO))
    return path


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(rho_manifest(made))
    return made


@pytest.fixture
def key(installation):
    return installation.analyst(allotment="1")


def price(http, **more):
    return http.post("/v1/datasets/clinic/plan", json={"sql": BY_WARD, **more}).json()


def test_an_answer_has_gaussian_noise_and_is_charged_its_rho(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        planned = price(http, rho="0.02")
        body = {"sql": BY_WARD, "rho": "0.02"}
        answer = http.post("/v1/datasets/clinic/queries", json=body).json()
        budget = http.get("/v1/budget").json()["projects"][0]
    # a patient may be in all 4 cells (two wards, other, NULL): the distance is 2
    sigma = gaussian_scale(Fraction(4), Loss.parse("0.02"))
    (noise,) = answer["noise"]
    assert noise["mechanism"] == "discrete_gaussian"
    assert noise["scale"] == repr(sigma)
    assert noise["half_width_95"] == str(gaussian_half_width(sigma, Fraction(95, 100)))
    assert planned["noise"] == answer["noise"]
    assert answer["charge"] == {
        "epsilon": planned["epsilon"],
        "delta": "0.000001",
        "rho": "0.02",
        "reused": False,
    }
    assert planned["rho"] == "0.02"
    assert 0.7 < float(planned["epsilon"]) < 1.1
    assert (budget["spent"], budget["remaining"]) == ("0.02", "0.98")
    assert budget["measure"] == "zcdp"


def test_exact_values_stand_behind_the_noise(installation, key):
    body = {"sql": BY_SEX, "rho": "0.02"}
    with (
        serve_in_thread(installation, ZeroSampler) as url,
        client(url, key) as http,
    ):
        answer = http.post("/v1/datasets/clinic/queries", json=body).json()
    assert answer["rows"] == [["F", 50], ["M", 50]]


def test_a_loss_of_the_other_measure_is_refused_with_what_to_give(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        refused = ask(http, BY_SEX, epsilon="0.5")
        both = http.post(
            "/v1/datasets/clinic/queries",
            json={"sql": BY_SEX, "rho": "0.1", "epsilon": "0.1"},
        )
        too_much = price(http, rho="0.6")
    assert refused.status_code == 422
    assert "give rho instead of epsilon" in refused.json()["detail"]
    assert both.status_code == 422
    assert "one query may spend rho 0.000001 to 0.5" in too_much["detail"]


def test_the_same_question_is_free_and_what_follows_from_it(installation, key):
    total = "SELECT COUNT(*) AS n FROM visits"
    by_ward = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = http.post(
            "/v1/datasets/clinic/queries", json={"sql": by_ward, "rho": "0.1"}
        ).json()
        again = http.post(
            "/v1/datasets/clinic/queries", json={"sql": by_ward, "rho": "0.1"}
        ).json()
        followed = http.post(
            "/v1/datasets/clinic/queries",
            json={"sql": total, "rho": "0.2", "options": {"prefer": "paid"}},
        ).json()
        listed = http.get("/v1/queries").json()["items"]
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    assert again["rows"] == first["rows"]
    free = {"epsilon": "0", "delta": "0.000001", "rho": "0", "reused": True}
    assert again["charge"] == followed["charge"] == free
    assert followed["rows"] == [[sum(row[1] for row in first["rows"])]]
    assert followed["paid"]["rho"] == "0.1"
    sigma = float(first["noise"][0]["scale"])
    width = int(followed["half_widths"][0]["rows"][0])
    assert width == pytest.approx(1.96 * sigma * 2, abs=2)
    assert spent == "0.1"
    assert [each["charge"]["rho"] for each in listed] == ["0", "0", "0.1"]


def test_an_accuracy_is_priced_in_rho(installation, key):
    wish = {"within": 10, "confidence": 0.95}
    with serve_in_thread(installation) as url, client(url, key) as http:
        planned = price(http, accuracy=wish)
        rho = Loss.parse(planned["rho"])
        less = price(http, rho=str(Loss(rho.nano_epsilon - 1)))
        capped = price(http, accuracy={**wish, "at_most": "0.000002"})
    assert planned["noise"][0]["half_width_95"] == "10"
    assert less["noise"][0]["half_width_95"] == "11"
    assert "brings" in capped["detail"]


def test_a_charge_beyond_the_allotment_is_refused_in_rho(installation):
    key = installation.analyst(allotment="0.1")
    with serve_in_thread(installation) as url, client(url, key) as http:
        refused = http.post(
            "/v1/datasets/clinic/queries", json={"sql": BY_WARD, "rho": "0.2"}
        )
        left = http.get("/v1/budget").json()["projects"][0]["remaining"]
    assert refused.status_code == 402
    problem = refused.json()
    assert "cost rho 0.2" in problem["detail"]
    assert problem["attainable"]["rho"] == left == "0.1"


def test_what_the_population_counts_never_changes(installation):
    with installation.services() as services:
        service = LoadService(services, "local:test")
        silent = rho_manifest(installation)
        silent.write_text(silent.read_text().replace(f"  {RHO}\n", ""))
        assert service.load(silent, LoadChoices(), None)["snapshot"]
        changed = installation.write_manifest()
        other = rho_manifest(installation)
        other.write_text(other.read_text().replace("0.000001", "0.0001", 1))
        for path, told in (
            (changed, "epsilon_cap"),
            (other, "population.delta is '0.0001' here but '0.000001'"),
        ):
            with pytest.raises(CommandRefusedError, match=told):
                service.load(path, LoadChoices(), None)
        with pytest.raises(CommandRefusedError, match="counts rho: give rho_cap"):
            raised(services, "epsilon")


def raised(services, word):
    population = PopulationService(services, "local:test")
    return population.set_cap("people", Loss.parse("1"), "less", word=word)


def test_a_population_shows_its_cap_in_rho_and_what_it_amounts_to(installation):
    with installation.services() as services:
        shown = raised(services, "rho")
        statement = StatementService(services).population("people")
    assert (shown["measure"], shown["rho_cap"], shown["delta_cap"]) == (
        "zcdp",
        "1",
        "0.000001",
    )
    assert 6 < float(shown["epsilon_cap"]) < 9
    assert shown["rho_per_query"] == {"min": "0.000001", "max": "0.5"}
    assert "rho 1 (epsilon " in statement
    assert "zero-concentrated" in statement
    assert "probability of at most 0.000001" in statement
    odds = odds_epsilon_ceil(Loss.parse("1"), Fraction(1, 10**6))
    assert f"a factor of at most e^{odds} = " in statement


def recovered(installation, loss, word="rho"):
    """Charge a question, cut it off, and return what recovery answers."""
    server = Server(installation.settings)  # for its executors, and its parts
    services = server.services
    try:
        compiler, queries = asking(services)
        request = read_request({"sql": BY_SEX, word: loss})
        paid = queries.begin(
            Caller("ada", "analyst"), "clinic", request, None, LookedAt()
        )
        services.ledger.give_up(paid.charge.query_id)
        recovery = recovery_at_once(services, compiler, queries)
        assert [recovery.run_once() for _ in range(2)] == [1, 0]
        return json.loads(services.ledger.query(paid.charge.query_id).body)
    finally:
        server.stop()
        services.databases.close()


def test_a_charge_that_was_cut_off_is_answered_again_at_its_rho(installation, key):
    del key
    answer = recovered(installation, "0.3")
    assert answer["charge"]["rho"] == "0.3"
    assert answer["noise"][0]["mechanism"] == "discrete_gaussian"


def test_a_refining_charge_that_was_cut_off_adds_to_the_same_answers(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = ask_rho(http, "0.02", sql=BY_SEX)
    answer = recovered(installation, "0.05")
    assert answer["charge"]["rho"] == "0.03"
    assert answer["paid"]["queries"] == [first["query_id"]]
    assert answer["half_widths"]


def test_an_announced_release_is_foreseen_in_its_rho(installation, key):
    told = spec(epsilon=None, rho="0.5", readers=[{"project": "study"}])
    given = {"release": {k: v for k, v in told.items() if v is not None}}
    with installation.services() as services:
        announcer = ReleaseAnnouncer(services)
        made = announcer.announce(OPERATOR, given, date(2999, 12, 31))
    assert made["rho"] == "0.5"
    people = (
        "SELECT sex, age_band(age, 10) AS band, COUNT(DISTINCT patient_id) AS n "
        "FROM visits GROUP BY sex, age_band(age, 10)"
    )
    asked = {"sql": people, "rho": "0.02"}
    with serve_in_thread(installation) as url, client(url, key) as http:
        planned = http.post("/v1/datasets/clinic/plan", json=asked).json()
    way = planned["ways"][-1]
    assert (way["kind"], way["rho"], way["epsilon"]) == ("announced", "0", "0")
    done = Press(installation).publish(given["release"])
    assert done["state"] == "done", done["error"]
    asked["options"] = {"prefer": "release"}
    with serve_in_thread(installation) as url, client(url, key) as http:
        answer = http.post("/v1/datasets/clinic/queries", json=asked).json()
    (width,) = {width for each in answer["half_widths"] for width in each["rows"]}
    assert way["half_widths"] == [{"column": "n", "half_width_95": width}]


def test_a_plan_counts_what_it_reads_anew_to_refine(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask_rho(http, "0.02", sql=BY_SEX)
    server = Server(installation.settings)
    services = server.services
    try:
        _, queries = asking(services)
        request = read_request({"sql": BY_SEX, "rho": "0.05"})
        asker = Caller("ada", "analyst")
        counted = [LookedAt(), LookedAt()]
        for looked_at in counted:
            queries.plan(asker, "clinic", request, looked_at)
    finally:
        server.stop()
        services.databases.close()
    assert [looked_at.texts for looked_at in counted] == [1, 0]


def test_the_python_client_asks_and_tells_in_rho(installation, key):
    with (
        serve_in_thread(installation) as url,
        Curator(url, key, dataset="clinic") as curator,
    ):
        planned = curator.plan(BY_SEX, rho="0.02")
        answer = planned.ask()
        again = curator.query(BY_SEX, rho=0.02)
        budget, past = curator.budget(), list(curator.history())
    assert planned.rho == "0.02"
    assert str(planned).startswith("price: rho 0.02 (epsilon 0.900 at")
    assert "paid rho 0.02 (epsilon 0.900 at" in str(answer)
    assert "free: answered before" in str(again)
    assert "49 more questions at rho 0.02" in repr(budget)
    assert [one.cells()[3] for one in past] == ["0", "rho 0.02"]


def test_metrics_tell_what_a_rho_amounts_to(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        http.post("/v1/datasets/clinic/queries", json={"sql": BY_SEX, "rho": "0.02"})
    with installation.services() as services:
        readings = Odometers(services).read(late=0)
    assert 0.85 < readings.spent["people"] < 0.95
    assert 11 < readings.caps["people"] < 12


def ask_rho(http, rho, **more):
    body = {"sql": BY_WARD, "rho": rho, **more}
    reply = http.post("/v1/datasets/clinic/queries", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_more_precision_costs_the_difference(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        at_once = price(http, rho="0.05")
        ask_rho(http, "0.01", sql=BY_SEX)  # another question adds nothing
        first = ask_rho(http, "0.02")
        planned = price(http, rho="0.05")
        second = ask_rho(http, "0.05")
        planned_again = price(http, rho="0.05")
        again = ask_rho(http, "0.05")
        other_words = ask_rho(http, "0.05", sql=BY_WARD + " -- once more")
        kept = http.get(f"/v1/queries/{second['query_id']}").json()["answer"]
        third = ask_rho(http, "0.06")
        fresh = ask_rho(http, "0.02", options={"reuse": "never"})
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    assert planned["rho"] == "0.03"
    assert planned["refines"]["queries"] == [first["query_id"]]
    assert planned["noise"] == at_once["noise"]  # of all of it
    assert second["charge"]["rho"] == "0.03"
    assert not second["charge"]["reused"]
    assert second["paid"]["queries"] == [first["query_id"]]
    assert kept == second
    (widths,) = second["half_widths"]
    (noise,) = at_once["noise"]
    assert {int(width) for width in widths["rows"]} <= {
        int(noise["half_width_95"]) + more for more in (0, 1)
    }
    assert planned_again["rho"] == "0"
    assert again["charge"]["reused"]
    assert again["rows"] == other_words["rows"] == second["rows"]
    assert third["charge"]["rho"] == "0.01"
    assert set(third["paid"]["queries"]) == {first["query_id"], second["query_id"]}
    assert fresh["charge"]["rho"] == "0.02"
    assert spent == "0.09"


@pytest.mark.parametrize("within", [5, 8, 20])
def test_an_accuracy_is_kept_by_what_is_refined(installation, key, within):
    wish = {"sql": BY_WARD, "accuracy": {"within": within}}
    with serve_in_thread(installation) as url, client(url, key) as http:
        whole = http.post("/v1/datasets/clinic/plan", json=wish).json()["rho"]
        half = str(Loss(Loss.parse(whole).nano_epsilon // 2))
        ask_rho(http, half)
        planned = http.post("/v1/datasets/clinic/plan", json=wish).json()
        answer = http.post("/v1/datasets/clinic/queries", json=wish).json()
        again = http.post("/v1/datasets/clinic/queries", json=wish).json()
    assert answer["charge"]["rho"] == planned["rho"]
    assert Loss.parse(half) <= Loss.parse(planned["rho"]) <= Loss.parse(whole)
    told = answer.get("half_widths")
    rows = told[0]["rows"] if told else [answer["noise"][0]["half_width_95"]]
    assert max(int(width) for width in rows) <= within
    assert again["charge"]["reused"]
    assert again["rows"] == answer["rows"]


def test_another_project_is_shown_a_refining_draw_by_itself(installation, key):
    other = installation.analyst("grace", "other", allotment="1")
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask_rho(http, "0.02")
        refined = ask_rho(http, "0.06")
        with client(url, other) as theirs:
            shown = ask_rho(theirs, "0.03")
    assert shown["charge"]["reused"]
    assert "paid" not in shown
    assert shown["noise"][0]["l2_sensitivity"] == "2"
    assert shown["rows"] != refined["rows"]


def test_the_mean_is_of_both_draws(installation, key):
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = ask_rho(http, "0.02")
        second = ask_rho(http, "0.04")
    with installation.services() as services:
        kept = services.ledger.measured_vectors(second["query_id"])
    (drawn,) = Measured.read(kept).vectors
    pairs = zip(first["rows"], second["rows"], strict=True)
    # a mean is rounded to a whole number; cells are stored in another order
    told = sorted(2 * mean[-1] - one[-1] for one, mean in pairs)
    assert [row[-1] for row in first["rows"]] != [row[-1] for row in second["rows"]]
    assert all(abs(n - m) <= 1 for n, m in zip(told, sorted(drawn), strict=True))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "SELECT sex, SUM(age) AS n, COUNT(*) AS m FROM visits GROUP BY sex",
            "SELECT sex, COUNT(*) AS m, SUM(age) AS n FROM visits GROUP BY sex",
        ),
        (
            "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward",
            "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex",
        ),
    ],
)
def test_another_order_of_columns_or_keys_is_refined_in_its_own(
    installation, key, monkeypatch, first, second
):
    monkeypatch.setattr("server.answering.QuerySampler", ZeroSampler)
    with serve_in_thread(installation) as url, client(url, key) as http:
        one = ask_rho(http, "0.01", sql=first)
        other = ask_rho(http, "0.03", sql=second)
        at_once = ask_rho(http, "0.05", sql=second, options={"reuse": "never"})
        alone = ask_rho(http, "0.02", sql=second)
    assert other["paid"]["queries"] == [one["query_id"]]
    assert other["rows"] == at_once["rows"]
    assert alone["rows"] == at_once["rows"]
    names = [[column["name"] for column in each["columns"]] for each in (one, other)]
    rows = [
        sorted(sorted(zip(n, map(str, row), strict=True)) for row in each["rows"])
        for n, each in zip(names, (one, other), strict=True)
    ]
    assert rows[0] == rows[1]
    widths = {each["column"]: each["rows"][0] for each in other["half_widths"]}
    for noise in at_once["noise"]:
        ratio = float(widths[noise["column"]]) / float(noise["half_width_95"])
        assert 1 < ratio < 1.6  # rho 0.03 against 0.05, and rounding
