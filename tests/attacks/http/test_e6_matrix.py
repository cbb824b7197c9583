"""E6, whole: every route x every role x what is own, another's, or absent."""

import contextlib
import json
from dataclasses import dataclass
from datetime import date

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import func, select

from budget.storage.databases import Databases
from budget.storage.tables import chain
from privacy.losses import Loss
from server.api.app import make_app
from server.api.clients.offered import CHECKSUMS
from server.bootstrap import make_jobs
from server.installing import initialise
from server.use_cases.approvals.changes import Altered, Change
from server.use_cases.approvals.second_persons import ProposalOpenError, propose
from server.use_cases.custody.projects import NewProject
from server.use_cases.identity.roles import EVERYBODY, ROLES, ROUTES
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.publishing.announcing import ReleaseAnnouncer
from tests.support.copies import store_copy
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    STRANGERS,
    ImportingInstallation,
    Installation,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import OPERATOR, Press, spec
from tests.support.installations.two_persons import Two
from tests.support.linking import store_linkage
from tests.support.manuals import built_manual

RELEASED = [("clinic", "study", "mine"), ("school", "other", "theirs")]
PATHS = {
    "kind": "sequences",
    "strategy": "prefix_tree",
    "order": "day",
    "symbol": {"column": "ward"},
    "max_length": 3,
    "count": None,
    "dimensions": None,
}
NAMES = {"analyst": "ada", "custodian": "carol", "auditor": "olga", "admin": "root"}
QUESTION = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.01"}
STUDY = {"questions": [QUESTION, QUESTION]}
NOBODYS = {
    "population": "nowhere", "dataset": "nowhere", "project": "nowhere",
    "principal": "nobody", "key": "k_" + "0" * 24, "query_id": "q_" + "0" * 24,
    "proposal": "pr_" + "0" * 24, "job": "job_" + "0" * 24, "snapshot": "s_" + "0" * 24,
    "release": "rel_" + "0" * 24, "linkage": "lnk_" + "0" * 24, "pair": "7_8",
    "decision": "dec_" + "0" * 24, "copy": "anon_" + "0" * 24,
    "announcement": "ann_" + "0" * 24,
}  # fmt: skip


@dataclass
class World:
    """A server, a client for each role, and things that are carol's or emil's."""

    installation: Installation
    two: Two
    http: dict
    own: dict
    others: dict
    databases: Databases

    def send(self, role, row, names):
        """Send one route's request with the names of things filled in."""
        verb, template = row.route.split()
        path = template.replace(":path}", "}").format(**names)
        more = {} if row.body is None else {"json": row.body}
        return self.http[role].request(verb, path, **more)


@dataclass(frozen=True)
class Row:
    """How one route is asked; ``status`` is what its own thing brings."""

    route: str
    body: object = None
    status: int = 200
    shared: bool = False  # its things belong to all of the role: nothing is another's


ROWS = {
    row.route: row
    for row in (
        Row("POST /v1/datasets/{dataset}/plan", QUESTION),
        Row("POST /v1/datasets/{dataset}/queries", QUESTION),
        Row("POST /v1/datasets/{dataset}/plans", STUDY),
        Row("POST /v1/datasets/{dataset}/studies", STUDY),
        Row("GET /v1/datasets"),
        Row("GET /v1/datasets/{dataset}"),
        Row("GET /v1/datasets/{dataset}/sample"),
        Row("GET /v1/datasets/{dataset}/sample.csv"),
        Row("GET /v1/datasets/{dataset}/metadata"),
        Row("GET /v1/queries"),
        Row("GET /v1/queries/{query_id}"),
        Row("GET /v1/budget"),
        Row("GET /v1/admin/populations"),
        Row("GET /v1/admin/populations/{population}"),
        Row("PATCH /v1/admin/populations/{population}", {"epsilon_cap": "900"}),
        Row(
            "POST /v1/admin/populations/{population}/custodians",
            {"principal": "dora"},
            shared=True,
        ),
        Row(
            "DELETE /v1/admin/populations/{population}/custodians/{principal}",
            shared=True,
        ),
        Row("GET /v1/admin/datasets"),
        Row("GET /v1/admin/datasets/{dataset}"),
        Row("GET /v1/admin/datasets/{dataset}/snapshots"),
        Row("POST /v1/admin/datasets/{dataset}/snapshots/{snapshot}/activate"),
        Row("DELETE /v1/admin/datasets/{dataset}/snapshots/{snapshot}"),
        Row("GET /v1/admin/populations/{population}/statement"),
        Row("GET /v1/admin/projects"),
        Row(
            "POST /v1/admin/projects",
            {
                "name": "fresh",
                "datasets": ["clinic"],
                "principals": ["grace"],
                "allotment": "1",
            },
            201,
        ),
        Row("GET /v1/admin/projects/{project}"),
        Row("GET /v1/admin/projects/{project}/report"),
        Row("PATCH /v1/admin/projects/{project}", {"allotment": "90"}),
        Row("POST /v1/admin/projects/{project}/grants", {"principal": "grace"}),
        Row("DELETE /v1/admin/projects/{project}/grants/principals/{principal}"),
        Row("DELETE /v1/admin/projects/{project}/grants/datasets/{dataset}"),
        Row("GET /v1/admin/principals"),
        Row("POST /v1/admin/principals", {"name": "newcomer", "role": "analyst"}, 201),
        Row("POST /v1/admin/principals/{principal}/disable", shared=True),
        Row("POST /v1/admin/principals/{principal}/enable", shared=True),
        Row("GET /v1/admin/keys"),
        Row("POST /v1/admin/keys", {"principal": "grace"}, 201),
        Row("DELETE /v1/admin/keys/{key}", shared=True),
        Row("GET /v1/admin/proposals"),
        Row("GET /v1/admin/proposals/{proposal}"),
        Row("POST /v1/admin/proposals/{proposal}/approve"),
        Row("POST /v1/admin/proposals/{proposal}/reject"),
        Row(
            "POST /v1/admin/jobs",
            {"kind": "dataset.load", "parameters": {"manifest": "people.yaml"}},
            202,
        ),
        Row("GET /v1/admin/jobs"),
        Row("GET /v1/admin/jobs/{job}"),
        Row("POST /v1/admin/jobs/{job}/cancel"),
        Row("GET /v1/admin/linkages"),
        Row("GET /v1/admin/linkages/{linkage}"),
        Row("GET /v1/admin/linkages/{linkage}/doubts"),
        Row("GET /v1/admin/linkages/{linkage}/doubts/{pair}"),
        Row(
            "POST /v1/admin/linkages/{linkage}/doubts/{pair}/decisions",
            {"verdict": "match"},
            201,
        ),
        Row("POST /v1/admin/linkages/{linkage}/decisions/{decision}/undo"),
        Row("GET /v1/admin/linkages/{linkage}/decisions"),
        Row("GET /v1/admin/linkages/{linkage}/agreement"),
        Row("GET /v1/admin/linkages/{linkage}/acts"),
        Row("GET /v1/admin/anonymized"),
        Row("GET /v1/admin/anonymized/{copy}"),
        Row("POST /v1/admin/releases/plan", {"release": spec("planned")}),
        Row("POST /v1/admin/releases", {"release": spec("queued")}, 202),
        Row(
            "POST /v1/admin/announcements",
            {"release": spec("foretold"), "by": "2999-12-31"},
            201,
        ),
        Row("GET /v1/admin/announcements"),
        Row("GET /v1/admin/announcements/{announcement}"),
        Row("POST /v1/admin/announcements/{announcement}/withdraw"),
        Row("GET /v1/announcements"),
        Row("GET /v1/catalog"),
        Row("GET /v1/releases"),
        Row("GET /v1/releases/key"),
        Row("GET /v1/releases/{release}"),
        Row("GET /v1/releases/{release}/download"),
        Row("GET /v1/releases/{release}/tree"),
        Row(
            "POST /v1/releases/{release}/queries", {"sql": "SELECT COUNT(*) FROM mine"}
        ),
        Row("GET /v1/admin/releases"),
        Row("GET /v1/admin/releases/{release}"),
        Row("GET /v1/admin/releases/{release}/verify"),
        Row("POST /v1/admin/releases/{release}/withdraw", {"reason": "wrong cohort"}),
        Row("GET /v1/admin/ledger"),
        Row("GET /v1/admin/ledger/verify"),
        Row("GET /healthz"),
        Row("GET /readyz"),
        Row("GET /openapi.json"),
        Row("GET /"),
        Row("GET /front/page.css"),
        Row("GET /front/start.js"),
        Row("GET /clients/{file}"),
        Row("GET /manual", status=307),
        Row("GET /manual/{path:path}"),
        Row("GET /docs"),
        Row("GET /docs/page.css"),
        Row("GET /docs/start.js"),
        Row("GET /docs/swagger-ui.css"),
        Row("GET /docs/swagger-ui-bundle.js"),
    )
}
SPENT_BY = {  # these end what they name: they have one of their own
    "POST /v1/admin/principals/{principal}/disable": {"principal": "spare"},
    "POST /v1/admin/principals/{principal}/enable": {"principal": "ended"},
    "DELETE /v1/admin/populations/{population}/custodians/{principal}": {
        "principal": "dora"
    },
    "DELETE /v1/admin/projects/{project}/grants/principals/{principal}": {
        "project": "ending",
        "principal": "grace",
    },
    "DELETE /v1/admin/projects/{project}/grants/datasets/{dataset}": {
        "project": "ending"
    },
    "POST /v1/admin/releases/{release}/withdraw": {"release": "doomed"},
}
GUARDED = sorted(route for route, roles in ROUTES.items() if roles != EVERYBODY)
NAMED = sorted(route for route in GUARDED if "{" in route)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    manual = built_manual(tmp_path_factory.mktemp("manual"))
    installation = ImportingInstallation(
        tmp_path_factory.mktemp("matrix"), more_settings={"manual": manual}
    )
    initialise(installation.settings, single_custodian=False)
    two = Two.make(installation, ("carol", "dora", "emil", "spare", "ended"))
    two.people(lambda service: service.disable_principal("ended"), "root")
    older = _load(two, DEFAULT_ROWS, "clinic", "people", approver="carol")
    newer = two.installation.load_manifest(
        two.installation.write_manifest(DEFAULT_ROWS)
    )
    school = _load(two, STRANGERS, "school", "pupils", approver="emil")
    two.people(_fill, actor="root")
    two.people(lambda service: service.add_custodian("people", "dora"))
    for name, dataset, principal in (
        ("study", "clinic", "ada"),
        ("ending", "clinic", "grace"),
        ("other", "school", "eve"),
    ):
        project = NewProject(name, (dataset,), (principal,), Loss.parse("100"))
        two.projects(lambda service, project=project: service.create_project(project))
    keys = {
        role: two.people(lambda service, name=name: service.create_key(name), "root")
        for role, name in NAMES.items()
    }
    spare_key = two.people(lambda service: service.create_key("spare"))["id"]
    eve = two.people(lambda service: service.create_key("eve"), "root")["key"]
    releases = [_release(installation, *one) for one in RELEASED]
    trees = [
        _release(installation, dataset, project, f"{name}_paths", **PATHS)
        for dataset, project, name in RELEASED
    ]
    _release(installation, "clinic", "study", "doomed")
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(serve_in_thread(installation))
        http = {
            role: stack.enter_context(client(url, issued["key"]))
            for role, issued in keys.items()
        }
        http[None] = stack.enter_context(client(url, "nobody"))
        asked = "/v1/datasets/{}/queries"
        mine = http["analyst"].post(asked.format("clinic"), json=QUESTION).json()
        with client(url, eve) as other:
            theirs = other.post(asked.format("school"), json=QUESTION).json()
        own = {
            "population": "people", "dataset": "clinic", "project": "study",
            "file": CHECKSUMS, "path": "index.html",
            "principal": "ada", "key": spare_key, "query_id": mine["query_id"],
            "job": _job(installation, "people"), "snapshot": older, "newer": newer,
            "release": releases[0], "tree": trees[0],
            "copy": _copy(installation, "people"), **_linkage(installation, "people"),
            "announcement": _announce(installation, "clinic", "study", "my_plan"),
        }  # fmt: skip
        others = {
            "population": "pupils", "dataset": "school", "project": "other",
            "principal": "eve", "key": spare_key, "query_id": theirs["query_id"],
            "job": _job(installation, "pupils"), "snapshot": school,
            "release": releases[1], "tree": trees[1],
            "copy": _copy(installation, "pupils"), **_linkage(installation, "pupils"),
            "announcement": _announce(installation, "school", "other", "their_plan"),
        }  # fmt: skip
        with installation.services() as services:
            yield World(installation, two, http, own, others, services.databases)


def _load(two, rows, dataset, population, approver):
    manifest = two.installation.write_manifest(
        rows, dataset=dataset, population=population
    )
    with pytest.raises(ProposalOpenError):
        two.installation.load_manifest(manifest)
    two.approve_all(approver)
    loaded = two.installation.load_manifest(manifest)
    manifest.rename(manifest.with_name(f"{population}.yaml"))
    return loaded


def _job(installation, population):
    """Queue a job about a population as the host; return its id."""
    told = {"manifest": f"{population}.yaml"}
    with installation.services() as services:
        viewer = Viewer("local:test", None)
        return make_jobs(services).submit(viewer, "dataset.load", told)["id"]


def _linkage(installation, population):
    """Write a linkage of a population; return the names of what is in it."""
    with installation.services() as services:
        return store_linkage(services, population)


def _copy(installation, population):
    """Write an anonymized copy of a population; return its id."""
    with installation.services() as services:
        return store_copy(services, population)


def _release(installation, dataset, project, name, **more):
    """Publish a release that a project's members may read; return its id."""
    press = Press(installation)
    told = spec(name, dataset=dataset, readers=[{"project": project}], **more)
    told = {key: value for key, value in told.items() if value is not None}
    return press.publish(told)["result"]["release"]


def _announce(installation, dataset, project, name):
    """Announce a release that a project's members will read; return the id."""
    told = spec(name, dataset=dataset, readers=[{"project": project}])
    with installation.services() as services:
        announcer = ReleaseAnnouncer(services)
        made = announcer.announce(OPERATOR, {"release": told}, date(2999, 12, 31))
    return made["id"]


def _fill(service):
    for name, role in (
        *(("ada", "analyst"), ("eve", "analyst"), ("grace", "analyst")),
        ("olga", "auditor"),
    ):
        service.create_principal(name, role)


def _propose(world, population):
    """Propose something as the host; return its id."""
    number = len(world.two.entries("proposal.create"))
    change = Change("anonymized.grant", population, (Altered("number", None, number),))
    with world.installation.services() as services:
        with pytest.raises(ProposalOpenError) as waiting:
            propose(services, "local:test", change)
        return waiting.value.proposal["proposal"]


def _names(world, row):
    """Return the names of what is own, another's, and nobody's, for one route."""
    own, others = dict(world.own), dict(world.others)
    if "{proposal}" in row.route:
        own["proposal"] = _propose(world, "people")
        others["proposal"] = _propose(world, "pupils")
    if row.route.endswith("/tree"):
        own["release"], others["release"] = own["tree"], others["tree"]
    if row.route.endswith("{announcement}/withdraw"):
        name = f"doomed_{_head(world)}"
        told = world.installation, "clinic", "study", name
        own["announcement"] = _announce(*told)
    own.update(SPENT_BY.get(row.route, {}))
    if row.route.startswith("DELETE") and "{snapshot}" in row.route:
        own["snapshot"] = own["newer"]  # the older one is active by then
    return own, others, NOBODYS


def _shape(reply):
    """Return all that a caller sees, but for the time of day and a random id."""
    headers = {
        k: v for k, v in reply.headers.items() if k not in {"date", "x-request-id"}
    }
    return reply.status_code, headers, reply.content


def _head(world):
    """Return the place of the ledger's last entry."""
    with world.databases.reader.connect() as connection:
        return connection.execute(select(func.max(chain.c.seq))).scalar_one()


def _written(world, after):
    """Return kind and principal of each entry after a place of the ledger."""
    entries = select(chain.c.kind, chain.c.body).where(chain.c.seq > after)
    with world.databases.reader.connect() as connection:
        rows = connection.execute(entries.order_by(chain.c.seq)).all()
    return [(row.kind, json.loads(row.body)["principal"]) for row in rows]


def test_every_route_has_a_row_in_the_table_and_in_this_test():
    served = {
        f"{verb} {route.path}"
        for route in make_app().routes
        if isinstance(route, APIRoute)
        for verb in route.methods
    }
    assert served == set(ROUTES)
    assert served == set(ROWS)
    assert {role for roles in ROUTES.values() for role in roles} == set(ROLES)


@pytest.mark.parametrize("route", GUARDED)
def test_without_a_key_every_thing_is_401(world, route):
    row = ROWS[route]
    replies = [_shape(world.send(None, row, names)) for names in _names(world, row)]
    assert replies[0][0] == 401
    assert replies[1:] == replies[:-1]


@pytest.mark.parametrize("route", GUARDED)
def test_a_role_without_the_route_is_403_whatever_it_names_and_on_record(world, route):
    row = ROWS[route]
    names = _names(world, row)
    for role in sorted(set(ROLES) - ROUTES[route]):
        before = _head(world)
        replies = [_shape(world.send(role, row, each)) for each in names]
        assert replies[0][0] == 403, (role, replies[0])
        assert json.loads(replies[0][2])["type"] == "forbidden"
        assert replies[1:] == replies[:-1]
        assert _written(world, before) == [("refused", NAMES[role])] * 3


@pytest.mark.parametrize("route", NAMED)
def test_anothers_and_absent_things_are_one_404_and_write_nothing(world, route):
    row = ROWS[route]
    _, others, nobodys = _names(world, row)
    before = _head(world)
    for role in sorted(ROUTES[route]):
        absent = world.send(role, row, nobodys)
        assert absent.status_code == 404, absent.text
        assert absent.json()["type"] == "not_found"
        unlike = world.send(role, row, {**nobodys, **dict.fromkeys(nobodys, "a.b~")})
        assert _shape(unlike) == _shape(absent)
        if not row.shared and role != "auditor":  # auditors see all populations
            assert _shape(world.send(role, row, others)) == _shape(absent)
    assert _head(world) == before


@pytest.mark.parametrize("route", list(ROWS))  # the order in which they stand
def test_the_route_serves_each_of_its_roles(world, route):
    row = ROWS[route]
    own = _names(world, row)[0]
    for role in sorted(ROUTES[route] or set(ROLES)):
        reply = world.send(role, row, own)
        assert reply.status_code == row.status, reply.text


LISTS = {
    "/v1/datasets": ("analyst", "name", "clinic", "school"),
    "/v1/admin/populations": ("custodian", "name", "people", "pupils"),
    "/v1/admin/datasets": ("custodian", "name", "clinic", "school"),
    "/v1/admin/projects": ("custodian", "name", "study", "other"),
    "/v1/admin/proposals": ("custodian", "population", "people", "pupils"),
    "/v1/admin/jobs": ("custodian", "population", "people", "pupils"),
    "/v1/admin/linkages": ("custodian", "population", "people", "pupils"),
    "/v1/admin/releases": ("custodian", "name", "mine", "theirs"),
    "/v1/releases": ("analyst", "name", "mine", "theirs"),
    "/v1/admin/announcements": ("custodian", "name", "my_plan", "their_plan"),
    "/v1/admin/ledger": ("custodian", "population", "people", "pupils"),
}


@pytest.mark.parametrize("path", LISTS)
def test_lists_hold_what_is_own_alone(world, path):
    role, member, own, other = LISTS[path]
    if path == "/v1/admin/proposals":
        _propose(world, "people")
        _propose(world, "pupils")
    items = world.http[role].get(path, params={"limit": 200}).json()["items"]
    shown = {item[member] for item in items}
    assert own in shown
    assert other not in shown


def test_names_in_a_body_that_are_anothers_are_not_there(world):
    http = world.http["custodian"]
    body = {"name": "late", "principals": ["ada"], "allotment": "1"}
    grants = "/v1/admin/projects/study/grants"
    for path, bodies in (
        ("/v1/admin/projects", [{**body, "datasets": [d]} for d in ("school", "no")]),
        (grants, [{"dataset": d} for d in ("school", "no")]),
        (grants, [{"principal": "nobody"}]),
    ):
        replies = [_shape(http.post(path, json=each)) for each in bodies]
        assert replies[0][0] == 404
        assert replies[1:] == replies[:-1]


def test_an_auditor_sees_every_entry_and_a_custodian_charges_alone(world):
    seen = world.http["auditor"].get("/v1/admin/ledger", params={"limit": 200}).json()
    kinds = {item["kind"] for item in seen["items"]}
    assert {"admin", "refused"} <= kinds
    held = world.http["custodian"].get("/v1/admin/ledger").json()["items"]
    assert {item["kind"] for item in held} <= {"charge", "free"}
    assert world.http["auditor"].get("/v1/admin/ledger/verify").json()["ok"]
