"""What a project paid for answers more than was asked, for nothing, over real HTTP."""

from dataclasses import replace

import pytest

from server.persistence.schema import RECORDED_TABLES
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.paid.answers import PaidAnswers
from server.use_cases.questions.paid.readings import PaidReadings
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

PAID = {"options": {"prefer": "paid"}}
BUY = {"options": {"reuse": "never"}}
TABLE = "SELECT sex, ward, COUNT(*) AS n, SUM(age) AS years FROM visits GROUP BY 1, 2"
TOTAL = "SELECT COUNT(*) AS n, SUM(age) AS years FROM visits"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("paid")).create()
    installation.load()
    return installation


def plan(http, sql, **more):
    body = {"sql": sql, "epsilon": "1", **more}
    reply = http.post("/v1/datasets/clinic/plan", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def offers(http, sql, **more):
    """Return what paid answers offer in the place of one that nobody has bought."""
    return [
        each
        for each in plan(http, sql, epsilon="4.5", **more)["free"]
        if each["kind"] == "paid"
    ]


def test_a_roll_up_and_a_slice_of_a_paid_table_are_free(installation):
    key = installation.analyst("ada", "tables")
    by_sex = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    slice_of = (
        "SELECT ward, SUM(age) AS years FROM visits WHERE sex = 'F' GROUP BY ward"
    )
    with serve_in_thread(installation) as url, client(url, key) as http:
        bought = ask(http, TABLE, **BUY).json()
        (offer,) = offers(http, by_sex)
        summed = ask(http, by_sex, **PAID).json()
        sliced = ask(http, slice_of, **PAID).json()
        again = ask(http, by_sex, **PAID).json()
        dear = ask(http, by_sex, options={}).json()
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
        shown = http.get(f"/v1/queries/{summed['query_id']}").json()["answer"]
    for sex, n in summed["rows"]:
        assert n == sum(row[2] for row in bought["rows"] if row[0] == sex)
    for ward, years in sliced["rows"]:
        assert [years] == [r[3] for r in bought["rows"] if r[:2] == ["F", ward]]
    assert sliced["half_widths"][0]["rows"][0] == bought["noise"][1]["half_width_95"]
    assert offer["queries"] == summed["paid"]["queries"] == [bought["query_id"]]
    assert offer["epsilon"] == "1"
    width = int(offer["half_widths"][0]["greatest"])
    assert width == int(summed["half_widths"][0]["rows"][0])
    assert width > int(bought["noise"][0]["half_width_95"])
    (_, n), *_ = summed["rows"]
    ends = [str(max(0, end)) for end in (n - width, n + width)]
    assert summed["intervals"][0]["rows"][0] == ends
    assert summed["charge"] == {"epsilon": "0", "delta": "0", "reused": True}
    assert again["rows"] == summed["rows"]
    assert shown == summed
    assert not dear["charge"]["reused"]  # nobody gets a wider answer unasked
    assert spent == "2"
    with installation.services() as services:
        assert services.ledger.verify(RECORDED_TABLES).ok


def test_the_rest_of_a_total_is_the_least_noisy_of_several_ways(installation):
    key = installation.analyst("eve", "rests")
    women = "SELECT COUNT(*) AS n FROM visits WHERE sex = 'F'"
    others = "SELECT COUNT(*) AS n FROM visits WHERE sex <> 'F'"
    with serve_in_thread(installation) as url, client(url, key) as http:
        total = ask(http, TOTAL, **BUY, epsilon="4").json()["rows"][0][0]
        few = ask(http, women, **BUY, epsilon="2").json()["rows"][0][0]
        rest = ask(http, others, **PAID).json()
        ask(http, "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex", **BUY)
        better = ask(http, others, **PAID).json()
    assert rest["rows"] == [[total - few]]
    assert len(rest["paid"]["queries"]) == 2
    assert len(better["paid"]["queries"]) == 3
    widths = [int(each["half_widths"][0]["rows"][0]) for each in (rest, better)]
    assert widths[1] < widths[0]


@pytest.mark.parametrize("private", [False, True])
def test_what_another_project_paid_is_never_looked_at(installation, private):
    n = int(private)
    bought = installation.analyst(f"buyer{n}", f"sale{n}", private_history=private)
    other = installation.analyst(f"asker{n}", f"study{n}")
    with serve_in_thread(installation) as url:
        with client(url, bought) as http:
            ask(http, TABLE, **BUY)
            assert offers(http, "SELECT COUNT(*) AS n FROM visits")
        with client(url, other) as http:
            assert not offers(http, "SELECT COUNT(*) AS n FROM visits")
            sql, price = "SELECT COUNT(*) AS n FROM visits", str(2 + n)
            paid = ask(http, sql, epsilon=price, **PAID).json()
    assert paid["charge"] == {"epsilon": price, "delta": "0", "reused": False}


def test_what_is_read_for_another_project_meanwhile_is_not_in_a_plan_s_time(
    installation, monkeypatch
):
    key = installation.analyst("tim", "time")
    found, read_anew, found_of = [], PaidReadings._read_anew, PaidAnswers._found

    def remember(self, grant, question, looked_at):
        before = looked_at.texts
        reading = found_of(self, grant, question, looked_at)
        found.append(looked_at.texts - before)
        return reading

    def beside_another(self, paid, grant):
        if grant.project.name == "time":
            other = replace(grant, project=replace(grant.project, name="other"))
            self.of(other, [paid], LookedAt())
        return read_anew(self, paid, grant)

    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http, TABLE, **BUY)
        monkeypatch.setattr(PaidReadings, "_read_anew", beside_another)
        monkeypatch.setattr(PaidAnswers, "_found", remember)
        for _ in range(2):
            plan(http, TOTAL, epsilon="4.5")
    assert found == [1, 0]


ASKED = (
    ("SELECT COUNT(DISTINCT patient_id) AS n FROM visits", {}),  # of several wards
    ("SELECT sex, AVG(age) AS mean FROM visits GROUP BY sex", {}),
    ("SELECT sex, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY n DESC LIMIT 1", {}),
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 50", {}),  # of no key that was paid
    ("SELECT COUNT(*) AS n FROM visits", {"bounds": {"max_rows_per_unit": 1}}),
)


def test_what_paid_numbers_do_not_add_up_to_is_not_offered(installation):
    key = installation.analyst("bob", "sums")
    units = "SELECT ward, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY ward"
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http, TABLE, **BUY)
        ask(http, units, **BUY)
        assert offers(http, "SELECT COUNT(*) AS n FROM visits")
        for sql, options in ASKED:
            assert offers(http, sql, options=options) == [], sql


def test_the_next_snapshot_owes_nothing_to_what_was_paid_before(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http, TABLE, **BUY)
        assert offers(http, TOTAL)
        installation.load()
        assert offers(http, TOTAL) == []


def test_a_relative_accuracy_is_priced_by_what_a_probe_has_shown(installation):
    key = installation.analyst("kim", "wishes")
    sql = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
    wish = {"relative": "10%", "at_least": 2}
    body = {"sql": sql, "accuracy": wish, "options": {"reuse": "never"}}
    with serve_in_thread(installation) as url, client(url, key) as http:

        def priced(**more):
            asked = {**body, "accuracy": {**wish, **more}}
            return http.post("/v1/datasets/clinic/plan", json=asked)

        public = priced().json()
        refused = priced(at_most=public["priced_by"]["probe"]).json()
        probe = ask(http, sql, epsilon="4", options={"reuse": "never"}).json()
        known = priced().json()
        paid = http.post("/v1/datasets/clinic/queries", json=body).json()
    assert public["priced_by"]["facts"] == "public"
    assert refused["type"] == "epsilon_out_of_range"
    assert known["priced_by"] == {
        "facts": "paid",
        "queries": [probe["query_id"]],
        "probe": None,
        "at_best": known["priced_by"]["at_best"],
    }
    assert float(known["epsilon"]) < float(public["epsilon"])
    assert paid["charge"]["epsilon"] == known["epsilon"]


def test_what_was_paid_says_that_narrower_counts_are_too_small(installation):
    key = installation.analyst("nan", "narrower")
    wide = "SELECT COUNT(*) AS n FROM visits"
    narrow = f"{wide} WHERE age > 60 AND sex = 'F'"
    people = narrow.replace("*", "DISTINCT patient_id")
    body = {"sql": narrow, "accuracy": {"relative": "10%", "at_least": 10}}
    with serve_in_thread(installation) as url, client(url, key) as http:

        def priced(**more):
            reply = http.post("/v1/datasets/clinic/plan", json={**body, **more})
            assert reply.status_code == 200, reply.text
            return reply.json()

        before = priced()
        paid = ask(http, wide, epsilon="4", options={}).json()
        after, unlike = priced(), priced(sql=people)
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    assert before["priced_by"]["at_best"] is None
    assert after["epsilon"] == before["epsilon"]  # of how large it is at least: nothing
    told = after["priced_by"]
    assert (told["facts"], told["queries"]) == ("public", [paid["query_id"]])
    assert 0 < float(told["probe"]) <= float(told["at_best"])
    # ten rows a patient, at most so many with their noise
    most = paid["rows"][0][0] + 12
    assert float(told["at_best"]) >= 2.9 * 10 / max(10, most / 10)
    assert unlike["priced_by"]["queries"] == []
    assert spent == "4"


def test_what_is_as_accurate_as_wished_for_is_given_by_itself(installation):
    key = installation.analyst("zoe", "accuracies")
    by_sex = "SELECT sex, COUNT(*) AS n FROM visits WHERE ward = 'south' GROUP BY sex"
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http, TABLE, epsilon="2", **BUY).status_code == 200

        def suffices(**wish):
            body = {"sql": by_sex, "accuracy": wish}
            planned = http.post("/v1/datasets/clinic/plan", json=body).json()
            return [each["suffices"] for each in planned["free"]]

        def asked(**wish):
            body = {"sql": by_sex, "accuracy": wish}
            return http.post("/v1/datasets/clinic/queries", json=body).json()

        given = asked(within=60)
        width = max(float(w) for w in given["half_widths"][0]["rows"])
        told = [
            suffices(within=60),
            suffices(within=width),
            suffices(within=width, cells="100%"),  # all at once miss more often
            suffices(within=width, confidence=0.99),
            suffices(within=width - 1),
        ]
        just, paid = asked(within=width), asked(within=width - 1)
    assert told == [[True], [True], [False], [False], [False]]
    assert (given["charge"]["reused"], given["charge"]["epsilon"]) == (True, "0")
    assert just["charge"]["reused"]
    assert not paid["charge"]["reused"]
