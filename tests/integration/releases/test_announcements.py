"""Releases that are announced: who sees it, until when, and as a way of plans."""

import contextlib
from datetime import date, timedelta
from decimal import Decimal

import pytest

from budget.ledger import Scope
from curator_client import Curator
from privacy.losses import Loss
from server.use_cases.custody.projects import NewProject
from server.use_cases.identity.access import Caller
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.oversight.statements import StatementService
from server.use_cases.publishing import announcing
from server.use_cases.questions.looked_at import LookedAt
from server.use_cases.questions.requests import read_request
from server.use_cases.releases import announced, foreseen
from server.use_cases.releases.foreseen import SPEC_STEPS
from server.web import Server
from tests.effort import gate_first
from tests.support.data.wards import WARDS
from tests.support.installations.harness import (
    STRANGERS,
    Installation,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import OPERATOR, Press, paths
from tests.support.installations.recovering import asking
from tests.support.installations.two_persons import Two

DAY = date.today() + timedelta(days=90)  # noqa: DTZ011 - months away
BY_SEX = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"


class World:
    """A clinic with a custodian, an analyst who will read, and others who will not."""

    def __init__(self, folder, url=""):
        self.made = Installation(folder, url=url).create()
        self.made.load()
        self.made.load(STRANGERS, dataset="school", population="pupils")
        two = Two.make(self.made, ("carol", "emil"))
        for population, name in (("people", "carol"), ("pupils", "emil")):
            two.people(lambda s, p=population, n=name: s.add_custodian(p, n))
        self.keys = {
            **two.keys,
            "ada": self.made.analyst("ada", "study", allotment="1000"),
            "bob": self.made.analyst("bob", "other", allotment="1000"),
            "eve": self.made.analyst("eve", "lessons", "school"),
        }
        self.two, self.press = two, Press(self.made)
        self.served = contextlib.ExitStack()
        self.serve()

    def serve(self):
        """Serve, or begin to serve anew: what is remembered is the database's alone."""
        self.served.close()
        self.url = self.served.enter_context(serve_in_thread(self.made))
        self.http = {
            name: self.served.enter_context(client(self.url, key))
            for name, key in self.keys.items()
        }

    def send(self, who, verb, path, expected=200, **body):
        more = {"json": body} if body else {}
        reply = self.http[who].request(verb, f"/v1/{path}", **more)
        assert reply.status_code == expected, reply.text
        return reply.json()

    def announce(self, by=DAY, who="carol", expected=201, **changed):
        told = {"release": {**WARDS, **changed}, "by": by.isoformat()}
        return self.send(who, "POST", "admin/announcements", expected, **told)

    def plan(self, sql=BY_SEX, who="ada", expected=200, **more):
        body = {"sql": sql, **({} if "accuracy" in more else {"epsilon": "1"}), **more}
        return self.send(who, "POST", "datasets/clinic/plan", expected, **body)

    def seen(self, who):
        items = self.send(who, "GET", "announcements")["items"]
        return [item["name"] for item in items]


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    with made.served:
        yield made


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def each_world(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = World(tmp_path, url)
    with made.served:
        yield made


def later(planned):
    return [way for way in planned.get("ways", ()) if way["kind"] == "announced"]


def test_an_announcement_is_on_record_and_charges_nothing(each_world):
    made = each_world.announce()
    assert (made["state"], made["by"], made["created_by"]) == (
        "open",
        DAY.isoformat(),
        "carol",
    )
    assert made["spec"]["dimensions"] == WARDS["dimensions"]
    each_world.serve()
    assert each_world.seen("ada") == ["wards"]
    path = f"admin/announcements/{made['id']}"
    assert each_world.send("carol", "GET", path) == made
    taken = each_world.send("carol", "POST", f"{path}/withdraw", reason="next year")
    assert taken == {**made, "state": "withdrawn"}
    assert each_world.seen("ada") == []
    with each_world.made.services() as services:
        ledger = services.ledger
        assert ledger.spent(Scope.population("people")) == Loss(0)
        assert AuditService(services, "local:test").verify()["problems"] == []
        written = StatementService(services).population("people")
    assert written.count("announcement.create") == 1
    assert "announcement.withdraw" in written
    assert "next year" in written
    assert each_world.press.folders() == []


def test_who_will_read_the_release_and_asks_its_dataset_sees_it(world):
    two = world.two
    own = NewProject("elsewhere", ("school",), ("eve",), Loss.parse("1"))
    two.projects(lambda service: service.create_project(own))
    world.announce(name="ours")
    world.announce(name="bobs", readers=[{"principal": "bob"}], epsilon="50")
    world.announce(name="kept", readers=[])
    world.announce(name="open", readers="public", epsilon="50")
    assert world.seen("ada") == ["open", "ours"]
    assert world.seen("bob") == ["open", "bobs"]
    assert world.seen("eve") == []  # who may not ask the dataset
    assert world.seen("carol") == ["open", "kept", "bobs", "ours"]
    assert world.seen("emil") == []
    assert [way["release"] for way in later(world.plan(who="bob"))] == ["bobs", "open"]
    ours = world.send("carol", "GET", "admin/announcements")["items"][-1]["id"]
    for path, verb in ((ours, "GET"), (f"{ours}/withdraw", "POST")):
        world.send("emil", verb, f"admin/announcements/{path}", 404)
    assert world.send("emil", "GET", "admin/announcements")["items"] == []
    world.announce(name="theirs", who="emil", expected=404)


FORESEEN = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT sex, ward, COUNT(*) AS n, COUNT(ward) AS w FROM visits GROUP BY sex, ward",
    (
        "SELECT ward, COUNT(*) AS n FROM visits WHERE sex = 'F' "
        "GROUP BY ward HAVING COUNT(*) > 1000 ORDER BY n DESC LIMIT 2"
    ),
    "SELECT COUNT(*) AS n FROM visits WHERE sex = 'F' OR ward = 'north'",
    "SELECT SUM(CASE WHEN sex = 'F' THEN 2 ELSE 1 END) AS n FROM visits",
]


def test_a_release_is_as_noisy_as_its_announcement_told(world):
    world.announce(epsilon="50")
    told = {sql: world.plan(sql) for sql in FORESEEN}
    for sql, planned in told.items():
        assert later(planned), sql
        (way,) = later(planned)
        assert planned["ways"][-1] == way
        assert (way["epsilon"], way["release"], way["by"]) == (
            "0",
            "wards",
            DAY.isoformat(),
        )
        assert "request" not in way
        assert planned["free"] == [], sql
    done = world.press.publish({**WARDS, "epsilon": "50"})
    assert done["state"] == "done", done["error"]
    assert world.seen("ada") == []
    for sql, planned in told.items():
        now = world.plan(sql)
        assert later(now) == []
        assert [one["name"] for one in now["free"]] == ["wards"]
        widths = widest(world, sql.partition("HAVING")[0])
        assert widths == {
            each["column"]: Decimal(each["half_width_95"])
            for each in later(planned)[0]["half_widths"]
        }, sql


def widest(world, sql):
    """Return the widest half-width of each column, as the release tells them."""
    body = {"sql": sql, "epsilon": "1", "options": {"prefer": "release"}}
    answer = world.send("ada", "POST", "datasets/clinic/queries", **body)
    return {
        each["column"]: max(map(Decimal, each["rows"]))
        for each in answer["half_widths"]
    }


NOT_FORESEEN = [
    "SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS women FROM visits",
    "SELECT age, COUNT(*) AS n FROM visits GROUP BY age",
    "SELECT COUNT(*) AS n FROM visits WHERE age > 35",
    "SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
]


def test_a_server_that_starts_anew_knows_it(world):
    world.announce(epsilon="50")
    before = later(world.plan())
    world.serve()
    assert later(world.plan()) == before != []


def test_what_it_will_not_count_or_nobody_can_foresee_is_no_way(world):
    world.announce(epsilon="50")
    for sql in NOT_FORESEEN:
        assert later(world.plan(sql)) == [], sql


def test_what_cannot_be_foreseen_is_announced_and_is_no_way(world):
    world.announce(name="thin", strategy="sparse_cells", epsilon="50")
    order = {"readers": WARDS["readers"], "epsilon": "20"}
    told = {"release": paths(**order), "by": DAY.isoformat()}
    world.send("carol", "POST", "admin/announcements", 201, **told)
    assert world.seen("ada") == ["paths", "thin"]
    assert later(world.plan()) == []


def test_it_is_told_where_it_is_as_exact_as_wished_for(world):
    world.announce(name="coarse", epsilon="0.01")
    assert later(world.plan()) == []
    world.announce(name="fine", epsilon="50")
    (way,) = later(world.plan())
    assert way["release"] == "fine"
    width = float(way["half_widths"][0]["half_width_95"])
    (wished,) = later(world.plan(accuracy={"within": width}))
    assert wished == way
    exact = {"within": width, "confidence": 0.99}
    assert later(world.plan(accuracy=exact, expected=422)) == []
    (other,) = later(world.plan(accuracy={"within": width * 1.5, "confidence": 0.99}))
    assert other == way
    relative = {"relative": "10%", "at_least": 400}
    assert later(world.plan(accuracy=relative))[0] == way


def test_an_accuracy_that_no_question_may_buy_may_be_waited_for(world):
    sql = "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward"
    before = world.plan(sql, accuracy={"within": 2}, expected=422)
    world.announce(epsilon="70")
    problem = world.plan(sql, accuracy={"within": 2}, expected=422)
    (way,) = later(problem)
    assert float(way["half_widths"][0]["half_width_95"]) <= 2
    assert problem["ways"] == [*before["ways"], way]
    assert later(world.plan(sql, accuracy={"within": 0.5}, expected=422)) == []


def test_of_what_is_free_already_nobody_waits(world):
    world.announce(epsilon="50")
    body = {"sql": BY_SEX, "epsilon": "1"}
    world.send("ada", "POST", "datasets/clinic/queries", **body)
    planned = world.plan()
    assert [one["kind"] for one in planned["free"]] == ["answer"]
    assert later(planned) == []


def test_it_ends_a_month_after_its_day(world, monkeypatch):
    made = world.announce(epsilon="50")
    for days, is_there in ((30, True), (31, False)):
        day = DAY + timedelta(days=days)
        monkeypatch.setattr(announced, "today", lambda day=day: day)
        assert world.seen("ada") == ["wards"] * is_there
        assert len(later(world.plan())) == is_there
        path = f"admin/announcements/{made['id']}"
        state = world.send("carol", "GET", path)["state"]
        assert state == ("open" if is_there else "lapsed")
    world.send("carol", "POST", f"{path}/withdraw", 422)
    again = world.announce(by=DAY + timedelta(days=99), epsilon="60")
    assert again["state"] == "open"  # the name is free again


def test_a_release_that_is_not_seen_yet_is_announced_still(world):
    """Else its announcement's end would tell when work on rows ended."""
    made = world.announce(epsilon="50")
    done = world.press.publish_unseen({**WARDS, "epsilon": "50"})
    assert done["state"] == "done"
    assert world.seen("ada") == ["wards"]
    assert len(later(world.plan())) == 1
    shown = world.send("carol", "GET", f"admin/announcements/{made['id']}")
    assert shown["state"] == "open"


def test_a_withdrawn_release_is_not_announced_again(world):
    made = world.announce(epsilon="50")
    world.press.publish({**WARDS, "epsilon": "50"})
    with world.press.service() as service:
        service.withdraw(OPERATOR, "wards", "the wrong year")
    assert world.seen("ada") == []
    shown = world.send("carol", "GET", f"admin/announcements/{made['id']}")
    assert shown["state"] == "published"
    refused = world.announce(expected=422)
    assert "another name" in refused["detail"]


def test_what_cannot_be_announced_is_refused(world, monkeypatch):
    passed = world.announce(by=date(2020, 1, 1), expected=422)
    assert "has passed" in passed["detail"]
    world.announce(dimensions=[{"column": "note"}], expected=422)
    world.announce(readers=[{"project": "nowhere"}], expected=422)
    world.announce(strategy="best", expected=422)
    world.send("carol", "POST", "admin/announcements", 422, release=WARDS, by="soon")
    world.announce()
    again = world.announce(expected=422)
    assert "is announced already" in again["detail"]
    monkeypatch.setattr(announcing, "MOST_OPEN", 2)
    world.announce(name="second")
    third = world.announce(name="third", expected=422)
    assert "2 announcements of clinic stand already" in third["detail"]
    listed = world.send("carol", "GET", "admin/announcements")["items"]
    assert [item["name"] for item in listed] == ["second", "wards"]


def test_a_plan_counts_what_it_compares_with_and_the_same_again(world):
    def looked_at():
        server = Server(world.made.settings)
        services = server.services
        try:
            _, queries = asking(services)
            request = read_request({"sql": BY_SEX, "epsilon": "1"})
            counted = [LookedAt(), LookedAt()]
            for each in counted:
                queries.plan(Caller("ada", "analyst"), "clinic", request, each)
        finally:
            server.stop()
            services.databases.close()
        return [each.cells for each in counted]

    before = looked_at()
    for number in (1, 2):
        world.announce(name=f"plan_{number}", epsilon="50")
        first, again = looked_at()
        assert first == again  # what is kept is counted like what is new
        assert first - before[0] >= number * SPEC_STEPS / 60_000


def test_what_would_take_too_many_steps_is_not_told(world, monkeypatch):
    world.announce(epsilon="50")
    assert len(later(world.plan())) == 1
    monkeypatch.setattr(foreseen, "FORESEEN_STEPS", 1_000)
    assert later(world.plan()) == []


def test_the_python_client_lists_and_tells_what_is_to_come(world):
    world.announce(epsilon="50")
    with Curator(world.url, world.keys["ada"], dataset="clinic") as curator:
        (one,) = curator.announcements()
        planned = curator.plan(BY_SEX, epsilon="1")
    assert (one["name"], one["by"]) == ("wards", DAY.isoformat())
    width = planned.ways[-1]["half_widths"][0]["half_width_95"]
    text = planned._text()
    assert f"later: for nothing, n ± {width}: the release wards, announced" in text
    assert DAY.isoformat() in text
