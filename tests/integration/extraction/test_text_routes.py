"""Over HTTP texts are custodians' alone: nobody else reaches a job, a text, a model."""

import json

import pytest

from server.api.app import openapi_document
from server.bootstrap import make_jobs
from server.persistence import tables
from server.use_cases.custody.people import PeopleService
from server.use_cases.jobs.jobs import Viewer
from tests.support.data.notes import write_gold, write_notes, write_pipeline
from tests.support.installations.harness import (
    STRANGERS,
    ImportingInstallation,
    client,
    serve_in_thread,
)

JOBS = "/v1/admin/jobs"
OPERATOR = Viewer("local:test", None)
QUICK = {"training": {"algorithm": "ap", "iterations": 3}, "rules": "none"}
KINDS = {
    "text.read": {"declaration": "gold.yaml"},
    "text.train": {"population": "people", "model": "m", "gold": "gold"},
    "text.terms": {"declaration": "terms.yaml"},
    "text.tag": {"population": "people", "collection": "gold", "model": "rules"},
    "text.evaluate": {"population": "people", "gold": "gold", "models": ["rules"]},
    "text.pipeline": {"pipeline": "pipeline.yaml"},
}


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = ImportingInstallation(tmp_path_factory.mktemp("texts")).create()
    made.load()
    made.load(STRANGERS, dataset="ours", population="others")
    write_gold(made.folder, range(30))
    write_gold(made.folder, range(30), name="more")
    write_notes(made.folder, range(1, 31))
    write_pipeline(made.folder, models="[rules]")
    with made.services() as services:
        jobs = make_jobs(services)
        jobs.submit(OPERATOR, "text.read", {"declaration": "gold.yaml"})
        jobs.submit(OPERATOR, "text.read", {"declaration": "notes.yaml"})
    made.run_jobs()
    with made.services() as services:
        told = {**KINDS["text.train"], "model": "names", "spec": QUICK}
        make_jobs(services).submit(OPERATOR, "text.train", told)
    made.run_jobs()
    return made


@pytest.fixture(scope="module")
def keys(installation):
    made = {"ada": installation.analyst()}
    people = {
        "grace": ("custodian", ["people"]),
        "edsger": ("custodian", ["others"]),
        "mary": ("auditor", []),
        "root": ("admin", []),
    }
    with installation.services() as services:
        service = PeopleService(services, "local:test")
        for name, (role, populations) in people.items():
            service.create_principal(name, role)
            with services.ledger.recorded("test.custodians", "local:test") as change:
                for one in populations:
                    row = {"population": one, "principal": name}
                    change.insert(tables.custodian, row)
            made[name] = service.create_key(name)["key"]
    return made


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


def submit(http, kind, told):
    return http.post(JOBS, json={"kind": kind, "parameters": told})


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_but_its_custodians_submits_a_job_about_texts(as_, kind):
    for name, status in (("ada", 403), ("mary", 403), ("root", 403), ("edsger", 404)):
        reply = submit(as_(name), kind, KINDS[kind])
        assert reply.status_code == status, (name, reply.text)


def test_a_custodian_makes_a_table_of_texts_over_http(installation, as_):
    grace = as_("grace")
    made = submit(grace, "text.pipeline", KINDS["text.pipeline"])
    assert made.status_code == 202, made.text
    installation.run_jobs()
    seen = grace.get(f"{JOBS}/{made.json()['id']}").json()
    assert seen["state"] == "done", seen["error"]
    assert seen["result"]["texts"]["rows"] == 30
    assert as_("edsger").get(f"{JOBS}/{made.json()['id']}").status_code == 404


def test_what_is_there_and_what_is_not_are_one_reply_to_strangers(as_):
    edsger = as_("edsger")
    there = submit(edsger, "text.tag", KINDS["text.tag"])
    absent = submit(edsger, "text.tag", {**KINDS["text.tag"], "collection": "none"})
    file = submit(edsger, "text.read", {"declaration": "none.yaml"})
    shown = {(one.status_code, one.json()["detail"]) for one in (there, absent, file)}
    assert len(shown) == 1


def test_a_custodian_reads_and_judges_and_sees_no_text(installation, as_):
    grace = as_("grace")
    read = submit(grace, "text.read", {"declaration": "more.yaml"})
    assert read.status_code == 202, read.text
    told = {**KINDS["text.evaluate"], "models": ["names", "rules"]}
    judged = submit(grace, "text.evaluate", told)
    installation.run_jobs()
    replies = [grace.get(f"{JOBS}/{one.json()['id']}") for one in (read, judged)]
    assert [one.json()["state"] for one in replies] == ["done", "done"]
    assert replies[0].json()["actor"] == "grace"
    assert replies[1].json()["result"]["models"][0]["strict"]["f1"] > 0.8
    said = json.dumps([one.json() for one in replies])
    for secret in ("Ann Lee", "Patient", "year old", " ward"):
        assert secret not in said


def test_an_analyst_sees_neither_jobs_nor_results(as_):
    jobs = as_("grace").get(JOBS).json()["items"]
    assert {one["kind"] for one in jobs} >= {"text.read", "text.train"}
    assert as_("ada").get(JOBS).status_code == 403
    assert as_("edsger").get(JOBS).json()["items"] == []
    for one in jobs:
        path = f"{JOBS}/{one['id']}"
        assert as_("ada").get(path).status_code == 403
        assert as_("ada").post(f"{path}/cancel").status_code == 403
        assert as_("edsger").get(path).status_code == 404
        assert as_("edsger").post(f"{path}/cancel").status_code == 404


def test_no_route_is_about_texts_or_models(as_):
    paths = openapi_document()["paths"]
    assert [path for path in paths if "text" in path or "model" in path] == []
    ada = as_("ada")
    for path in ("/v1/texts", "/v1/models", "/v1/admin/texts", "/v1/admin/models"):
        assert ada.get(path).status_code == 404


def test_what_auditors_see_of_it_is_that_it_was_asked_for(as_):
    lines = as_("mary").get("/v1/admin/ledger", params={"limit": 200})
    assert lines.status_code == 200, lines.text
    assert "Ann Lee" not in lines.text
    assert "f1" not in lines.text
