"""A population with blocks, over HTTP: each block is spent by itself."""

import json

import pytest
from sqlalchemy import select

from budget.storage.tables import charge
from curator_client import Curator
from privacy.losses import Loss
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.identity.access import Caller
from server.use_cases.operations.doctor import _caps
from server.use_cases.oversight.odometers import Odometers
from server.use_cases.oversight.statements import StatementService
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.requests import read_request
from server.web import Server
from tests.support.enrolment import (
    PATIENTS,
    RHO,
    SITES,
    VISITS,
    Enrolment,
    divided,
    load,
)
from tests.support.installations.harness import ask, client, serve_in_thread
from tests.support.installations.publishing import OPERATOR, Press, spec
from tests.support.installations.recovering import asking, recovery_at_once
from tests.support.noise.samplers import ZeroSampler

pytestmark = pytest.mark.thorough

AT = "SELECT COUNT(*) AS n FROM visits WHERE site = '{}'"
ALL = "SELECT site, COUNT(*) AS n FROM visits GROUP BY site"
JOINED = (
    "SELECT COUNT(*) AS n FROM visits AS v JOIN patients AS p "
    "ON p.patient_id = v.patient_id WHERE p.site = 'north' AND v.day > 1"
)


@pytest.fixture
def installation(tmp_path):
    return divided(tmp_path)


def shown(installation):
    with installation.services() as services:
        return PopulationService(services, "local:test").population("people")


def left(installation):
    return {one["block"]: one["remaining"] for one in shown(installation)["blocks"]}


def test_one_block_is_spent_and_the_other_still_answers(installation):
    key = installation.analyst()
    with (
        serve_in_thread(installation, ZeroSampler) as url,
        client(url, key) as http,
    ):
        first = ask(http, AT.format("north"))
        refused = ask(http, JOINED, epsilon="0.001")
        both = ask(http, ALL, epsilon="0.001")
        other = ask(http, AT.format("south"))
        planned = http.post(
            "/v1/datasets/clinic/plan", json={"sql": JOINED, "epsilon": "0.001"}
        ).json()
        dataset = http.get("/v1/datasets/clinic").json()
        every = http.post(
            "/v1/datasets/clinic/plan", json={"sql": ALL, "epsilon": "0.001"}
        ).json()
    assert first.json()["rows"] == other.json()["rows"] == [[100]]
    assert [one.status_code for one in (refused, both)] == [402, 402]
    assert "a limit that is not shown to you" in refused.json()["detail"]
    assert (planned["blocks"], planned["affordable"]) == (["north"], False)
    assert dataset["blocks"] == {
        "column": "site",
        "tables": ["patients", "visits"],
        "values": ["north", "south"],
    }
    assert (every["blocks"], every["affordable"]) == (["north", "south"], False)
    assert left(installation) == {"north": "0", "south": "0"}


def test_a_third_block_comes_later_with_the_cap_of_the_others(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http, ALL).status_code == 200
        assert ask(http, AT.format("north"), epsilon="0.001").status_code == 402
    grown = Enrolment(
        (*PATIENTS, ("w1", "west", "F")), (*VISITS, ("w1", 2)), sites=(*SITES, "west")
    )
    load(installation, grown, accept_changes=True, reason="a third site")
    assert left(installation) == {"north": "0", "south": "0", "west": "1"}
    with (
        serve_in_thread(installation, ZeroSampler) as url,
        client(url, key) as http,
    ):
        assert ask(http, AT.format("west")).json()["rows"] == [[1]]
        assert ask(http, ALL, epsilon="0.001").status_code == 402
    assert left(installation)["west"] == "0"
    with installation.services() as services:
        assert services.ledger.verify([]).ok


def test_the_same_question_is_free_when_its_blocks_are_spent(installation):
    key = installation.analyst()
    body = {"sql": AT.format("north"), "epsilon": "1"}
    with serve_in_thread(installation) as url, client(url, key) as http:
        first = http.post("/v1/datasets/clinic/queries", json=body).json()
        again = http.post("/v1/datasets/clinic/queries", json=body).json()
    assert again["rows"] == first["rows"]
    assert again["charge"]["reused"]
    assert left(installation) == {"north": "0", "south": "1"}


def plan_of(press, release):
    with press.planner() as planner:
        return planner.plan(OPERATOR, {"release": release})


def test_a_release_is_charged_to_the_blocks_that_its_where_can_touch(installation):
    press = Press(installation)
    own = spec(
        epsilon="0.75",
        dimensions=[{"column": "sex"}],
        **{"from": "patients", "where": "site = 'south'"},
    )
    planned = plan_of(press, own)
    assert (planned["blocks"], planned["remaining"]) == (["south"], "1")
    press.publish(own)
    assert left(installation) == {"north": "1", "south": "0.25"}
    whole = plan_of(press, {key: own[key] for key in own if key != "where"})
    assert (whole["blocks"], whole["remaining"]) == (["north", "south"], "0.25")
    assert not whole["affordable"]


def test_caps_are_set_for_all_blocks_and_told_of_each(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        ask(http, AT.format("north"), epsilon="0.25")
    with installation.services() as services:
        raised = PopulationService(services, "local:test").set_cap(
            "people", Loss.parse("2"), "agreed"
        )
        statement = StatementService(services).population("people")
        readings = Odometers(services).read(late=0)
        found = [one.detail for one in _caps(services)]
    assert (raised["epsilon_cap"], raised["spent"], raised["remaining"]) == (
        "2",
        "0.25",
        "1.75",
    )
    assert [one["remaining"] for one in raised["blocks"]] == ["1.75", "2"]
    assert "| north | epsilon 2 | epsilon 0.25, a factor of 1.29 | epsilon 1.75 |" in (
        statement
    )
    assert "| south | epsilon 2 | epsilon 0, a factor of 1 | epsilon 2 |" in statement
    assert "epsilon 0.25 of north" in statement
    assert "Charged was: 1 question, epsilon 0.25; 0 releases" in statement
    assert "to every block that is named beside it" in statement
    assert "cap of block north of people: 1 -> 2" in statement
    assert readings.block_spent[("people", "north")] == Loss.parse("0.25").epsilon
    assert readings.block_caps[("people", "south")] == 2
    assert readings.spent["people"] == Loss.parse("0.25").epsilon
    assert found == [
        "block north of population people has spent 0.25 of 2",
        "block south of population people has spent 0 of 2",
    ]


def test_blocks_that_count_rho_are_spent_by_themselves(tmp_path):
    installation = divided(tmp_path, Enrolment(cap=RHO))
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        asked = [
            http.post(
                "/v1/datasets/clinic/queries",
                json={"sql": AT.format(site), "rho": "0.5"},
            ).status_code
            for site in ("north", "south")
        ]
    assert asked == [200, 200]
    assert [one["rho_cap"] for one in shown(installation)["blocks"]] == ["0.5", "0.5"]
    assert left(installation) == {"north": "0", "south": "0"}


def test_the_python_client_tells_which_blocks_are_charged(installation):
    key = installation.analyst()
    with (
        serve_in_thread(installation) as url,
        Curator(url, key, dataset="clinic") as curator,
    ):
        planned = curator.plan(JOINED, epsilon="0.1")
    assert planned.blocks == ["north"]
    assert str(planned).startswith(
        "price: epsilon 0.1 (charged to the block north; affordable)"
    )


def test_a_custodian_sees_the_blocks_of_each_charge(installation):
    key = installation.analyst()
    with installation.services() as services:
        people = PeopleService(services, "local:test")
        people.create_principal("kim", "auditor")
        auditor = people.create_key("kim")["key"]
    with serve_in_thread(installation) as url:
        with client(url, key) as http:
            ask(http, JOINED, epsilon="0.1")
        with client(url, auditor) as http:
            lines = http.get("/v1/admin/ledger").json()["items"]
    assert [one["blocks"] for one in lines if one["kind"] == "charge"] == [["north"]]


def test_the_questions_of_a_study_touch_the_same_blocks(installation):
    key = installation.analyst()
    wish = {"accuracy": {"within": 30}}
    north, south = ({"sql": AT.format(site), **wish} for site in ("north", "south"))
    joined = {"sql": JOINED, **wish}
    plans = "/v1/datasets/clinic/plans"
    with serve_in_thread(installation) as url, client(url, key) as http:
        refused = http.post(plans, json={"questions": [north, south]})
        all_of_both = http.post(
            plans, json={"questions": [north, {"sql": ALL, **wish}]}
        )
        planned = http.post(plans, json={"questions": [north, joined]}).json()
    for reply in (refused, all_of_both):
        assert reply.status_code == 422
        assert "touch the same blocks" in reply.json()["detail"]
    assert planned["blocks"] == ["north"]


def test_recovery_executes_nothing_beyond_the_blocks_that_were_charged(installation):
    """A text that was read for another's was charged for that one's blocks."""
    installation.analyst()
    server = Server(installation.settings)
    services = server.services
    try:
        compiler, queries = asking(services)
        charged = {}
        for text, read_as in ((ALL, AT.format("north")), (JOINED, JOINED)):
            request = read_request({"sql": read_as, "epsilon": "0.1"})
            asked = queries.begin(
                Caller("ada", "analyst"), "clinic", request, None, LookedAt()
            )
            charged[asked.charge.query_id] = text
            own = charge.c.query_id == asked.charge.query_id
            with services.databases.writer.begin() as connection:
                told = json.loads(
                    connection.execute(select(charge.c.request).where(own)).scalar_one()
                )
                written = json.dumps({**told, "sql": text})
                connection.execute(charge.update().where(own).values(request=written))
            services.ledger.give_up(asked.charge.query_id)
        recovery = recovery_at_once(services, compiler, queries)
        for _ in range(6):
            recovery.run_once()
        states = [services.ledger.query(query_id).state for query_id in charged]
    finally:
        server.stop()
        services.databases.close()
    assert states == ["failed", "answered"]
