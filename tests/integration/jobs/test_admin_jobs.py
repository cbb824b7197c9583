"""/v1/admin/jobs: custodians of a population see its jobs, and nobody else does."""

import os
import sqlite3
from contextlib import closing

import pytest

from server.bootstrap import make_jobs
from server.persistence import tables
from server.use_cases.custody.people import PeopleService
from server.use_cases.custody.populations import PopulationService
from server.use_cases.jobs import actors
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.loading import job as load_job
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations.harness import (
    STRANGERS,
    ImportingInstallation,
    Installation,
    client,
    serve_in_thread,
)

JOBS = "/v1/admin/jobs"
ABSENT = f"{JOBS}/job_{'0' * 24}"


def add_principal(installation, name, role, populations=()):
    """Make a principal with a key, custodian of the given populations."""
    with installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal(name, role)
        with services.ledger.recorded("test.custodians", "local:test") as change:
            for population in populations:
                row = {"population": population, "principal": name}
                change.insert(tables.custodian, row)
        return service.create_key(name)["key"]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = ImportingInstallation(tmp_path_factory.mktemp("jobs")).create()
    rows = [f"{n},F,30,north,2024-01-01,n" for n in range(501, 561)]
    made.load()
    made.load(rows, dataset="ours", population="others")
    return made


@pytest.fixture(scope="module")
def keys(installation):
    custodian = ("custodian", ["people"])
    principals = {
        "grace": custodian,
        "alan": custodian,
        "edsger": ("custodian", ["others"]),
        "ada": ("analyst",),
        "mary": ("auditor",),
        "root": ("admin",),
    }
    return {
        name: add_principal(installation, name, *told)
        for name, told in principals.items()
    }


@pytest.fixture(scope="module")
def url(installation):
    with serve_in_thread(installation) as url:
        yield url


@pytest.fixture
def as_(url, keys):
    """Return a function that gives a principal's connection."""
    opened = []

    def connect(name):
        opened.append(client(url, keys[name]))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()


@pytest.fixture
def manifest(installation):
    return installation.write_manifest()


def submit(http, path, **more):
    told = {"manifest": str(path), **more}
    return http.post(JOBS, json={"kind": "dataset.load", "parameters": told})


def test_a_custodian_submits_a_load_and_reads_what_became_of_it(
    installation, as_, manifest
):
    grace = as_("grace")
    accepted = submit(grace, manifest.name)  # under the import folder
    assert accepted.status_code == 202, accepted.text
    job = accepted.json()
    assert (job["state"], job["actor"]) == ("queued", "grace")
    installation.run_jobs()
    done = grace.get(f"{JOBS}/{job['id']}").json()
    assert done["state"] == "done"
    assert done["result"]["report"]["tables"][0]["rows_read"] == 200
    assert as_("alan").get(f"{JOBS}/{job['id']}").json() == done


@pytest.mark.long
def test_a_database_that_another_writer_holds_is_503_and_queues_nothing(
    installation, as_, manifest
):
    grace = as_("grace")
    before = grace.get(JOBS).json()
    with closing(sqlite3.connect(installation.data / "curator.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        refused = submit(grace, manifest.name)
    assert (refused.status_code, refused.json()["type"]) == (503, "ledger_unavailable")
    assert "look whether it was done" in refused.json()["detail"]
    assert grace.get(JOBS).json() == before


def undated(reply):
    return {name: told for name, told in reply.headers.items() if name != "date"}


def test_another_custodians_job_and_none_are_the_same_404(as_, manifest):
    job = submit(as_("grace"), manifest).json()["id"]
    edsger = as_("edsger")
    assert job not in [item["id"] for item in edsger.get(JOBS).json()["items"]]
    for theirs, absent in (
        (edsger.get(f"{JOBS}/{job}"), edsger.get(ABSENT)),
        (edsger.post(f"{JOBS}/{job}/cancel"), edsger.post(f"{ABSENT}/cancel")),
    ):
        assert (theirs.status_code, theirs.content) == (404, absent.content)
        probability = {"date": "", "x-request-id": ""}
        assert {**theirs.headers, **probability} == {**absent.headers, **probability}
    assert as_("grace").post(f"{JOBS}/{job}/cancel").json()["state"] == "cancelled"
    cursor = edsger.get(JOBS, params={"cursor": job})
    assert cursor.content == edsger.get(JOBS, params={"cursor": "job_x"}).content
    assert cursor.status_code == 422


def test_a_custodian_cannot_load_into_anothers_population(as_, manifest):
    assert submit(as_("edsger"), manifest).status_code == 404


def test_absent_wrong_and_anothers_manifests_are_the_same_404(as_, installation):
    edsger, write = as_("edsger"), installation.write_manifest
    theirs = write()
    wrong = write()
    wrong.write_text(theirs.read_text().replace("max: 120", "max: none"))
    unread = write()
    unread.write_text("population: {id")
    absent = write()
    absent.unlink()
    replies = [submit(edsger, path.name) for path in (theirs, wrong, unread, absent)]
    assert {(reply.status_code, reply.content) for reply in replies} == {
        (404, replies[0].content)
    }
    assert submit(as_("grace"), absent.name).content == replies[0].content
    told = submit(as_("grace"), wrong.name)
    assert (told.status_code, told.json()["type"]) == (422, "invalid_request")
    assert "age" in told.text or "number" in told.text


def test_a_manifest_that_names_a_pipe_or_is_huge_is_refused_at_once(as_, installation):
    pipe, huge = installation.write_manifest(), installation.write_manifest()
    os.mkfifo(pipe.parent / "codes.csv")
    own = "hierarchies: [{name: own, file: codes.csv}]\nsnapshot_date"
    pipe.write_text(pipe.read_text().replace("snapshot_date", own))
    with huge.open("wb") as file:
        file.truncate(1 << 40)  # more than any memory
    told = submit(as_("grace"), pipe.name)
    assert (told.status_code, "no regular file" in told.text) == (422, True)
    assert submit(as_("grace"), huge.name).status_code == 404


def test_a_manifest_swapped_after_the_custodian_was_checked_is_not_loaded(
    as_, installation, manifest, monkeypatch
):
    other = installation.write_manifest().read_text()

    def check(connection, actor, population):
        manifest.write_text(other + "# changed\n")

    monkeypatch.setattr(load_job, "check_custodian", check)
    job = submit(as_("grace"), manifest.name).json()["id"]
    installation.run_jobs()
    ended = as_("grace").get(f"{JOBS}/{job}").json()
    assert (ended["state"], "submit again" in ended["error"]) == ("failed", True)


@pytest.mark.parametrize("end", ["remove", "disable"])
def test_a_job_of_somebody_who_is_no_custodian_any_more_fails(
    installation, url, as_, manifest, end
):
    name = f"late_{end}"
    key = add_principal(installation, name, "custodian", ["people"])
    before = as_("grace").get("/v1/admin/datasets/clinic").json()["snapshot"]
    with client(url, key) as http:
        job = submit(http, manifest.name).json()["id"]
    with installation.services() as services:
        service = PeopleService(services, "local:test")
        if end == "remove":
            service.remove_custodian("people", name)
        else:
            service.disable_principal(name)
    installation.run_jobs()
    ended = as_("grace").get(f"{JOBS}/{job}").json()
    assert (ended["state"], "no enabled custodian" in ended["error"]) == (
        "failed",
        True,
    )
    after = as_("grace").get("/v1/admin/datasets/clinic").json()["snapshot"]
    assert after == before


def test_a_job_for_a_population_that_others_created_meanwhile_fails(as_, installation):
    path = installation.write_manifest(STRANGERS, dataset="taken", population="pupils")
    job = submit(as_("edsger"), path.name).json()["id"]
    before = installation.load_manifest(path)
    installation.run_jobs()
    with installation.services() as services:
        shown = make_jobs(services).show(Viewer("local:test", None), job)
        after = PopulationService(services, "local:test").dataset("taken")["snapshot"]
    assert (shown["state"], after) == ("failed", before)


def test_a_custodian_taken_away_while_the_load_runs_records_nothing(
    as_, installation, manifest, monkeypatch
):
    checks = []

    def check(connection, actor, population):
        checks.append((actor, population))
        if len(checks) == 2:  # in the transaction that records
            message = "no custodian now"
            raise CommandRefusedError(message)

    for place in (load_job, actors):
        monkeypatch.setattr(place, "check_custodian", check)
    job = submit(as_("grace"), manifest.name).json()["id"]
    before = as_("grace").get("/v1/admin/datasets/clinic").json()["snapshot"]
    installation.run_jobs()
    ended = as_("grace").get(f"{JOBS}/{job}").json()
    assert (ended["state"], ended["error"]) == ("failed", "no custodian now")
    assert checks == [("grace", "people")] * 2
    assert as_("grace").get("/v1/admin/datasets/clinic").json()["snapshot"] == before


def test_who_asks_for_a_new_population_alone_sees_the_job(as_, installation):
    path = installation.write_manifest(dataset="fresh", population="newcomers")
    job = submit(as_("edsger"), path).json()["id"]
    assert as_("edsger").get(f"{JOBS}/{job}").status_code == 200
    assert job in [item["id"] for item in as_("edsger").get(JOBS).json()["items"]]
    assert as_("grace").get(f"{JOBS}/{job}").status_code == 404
    as_("edsger").post(f"{JOBS}/{job}/cancel")


@pytest.mark.parametrize("name", ["ada", "mary", "root"])
def test_other_roles_have_no_such_route(as_, name, manifest):
    http = as_(name)
    for reply in (
        http.get(JOBS),
        http.get(ABSENT),
        http.post(f"{ABSENT}/cancel"),
        submit(http, manifest),
    ):
        assert (reply.status_code, reply.json()["type"]) == (403, "forbidden")


def test_without_a_key_nothing_is_read(url, manifest):
    with client(url, "cur_none") as http:
        replies = [http.get(JOBS), http.get(ABSENT), submit(http, manifest)]
        replies += [http.post(f"{ABSENT}/cancel"), http.post(JOBS, content=b"{")]
    assert {reply.status_code for reply in replies} == {401}


def test_jobs_come_in_pages_newest_first(as_, manifest):
    alan = as_("alan")
    ids = [submit(alan, manifest).json()["id"] for _ in range(3)]
    first = alan.get(JOBS, params={"limit": 2}).json()
    assert [item["id"] for item in first["items"]] == ids[:0:-1]
    then = {"limit": 1, "cursor": first["next_cursor"]}
    assert alan.get(JOBS, params=then).json()["items"][0]["id"] == ids[0]
    for job in ids:
        alan.post(f"{JOBS}/{job}/cancel")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "malformed_json"),
        (b'{"kind": "a", "kind": "b", "parameters": {}}', 400, "malformed_json"),
        (b"[]", 422, "invalid_request"),
        (b'{"kind": "dataset.load"}', 422, "invalid_request"),
        (b'{"kind": "dataset.load", "parameters": []}', 422, "invalid_request"),
        (b'{"kind": 1, "parameters": {}}', 422, "invalid_request"),
        (b'{"kind": "rm", "parameters": {}}', 422, "invalid_request"),
        (b'{"kind": "dataset.load", "parameters": {}}', 422, "invalid_request"),
        (
            b'{"kind": "dataset.load", "parameters": {"manifest": "/etc/passwd"}}',
            422,
            "invalid_request",
        ),
        (
            b'{"kind": "dataset.load", "parameters": {"manifest": "a\\u0000.yaml"}}',
            422,
            "invalid_request",
        ),
        (
            b'{"kind": "dataset.load", "parameters": {"manifest": "a", "x": 1}}',
            422,
            "invalid_request",
        ),
        (b" " * 20_000, 413, "too_large"),
    ],
)
def test_bad_bodies_are_refused_before_anything_is_queued(as_, body, status, code):
    grace = as_("grace")
    before = grace.get(JOBS).json()
    refused = grace.post(JOBS, content=body)
    assert (refused.status_code, refused.json()["type"]) == (status, code)
    assert grace.get(JOBS).json() == before


def test_bad_parameters_of_lists_are_refused(as_):
    grace = as_("grace")
    for query in ({"limit": 0}, {"limit": 201}, {"cursor": "a\0b"}):
        assert grace.get(JOBS, params=query).status_code == 422
    assert grace.get(f"{JOBS}/job%00").status_code == 404


def test_without_an_import_folder_nothing_is_queued(tmp_path):
    bare = Installation(tmp_path).create()
    path = bare.write_manifest()
    key = add_principal(bare, "grace", "custodian")
    with serve_in_thread(bare) as url, client(url, key) as http:
        refused = submit(http, path)
        assert (refused.status_code, refused.json()["type"]) == (422, "invalid_request")
        assert http.get(JOBS).json() == {"items": [], "next_cursor": None}
