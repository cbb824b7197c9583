"""One story calls every route: its replies are as described, its examples are true."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest

from server.use_cases.anonymization.grants import HandOut
from server.use_cases.anonymization.hand_outs import HandOutService
from server.use_cases.approvals.second_persons import ProposalOpenError
from server.use_cases.loading.loading import LoadChoices
from tests.support.copies import store_copy
from tests.support.installations import replies
from tests.support.installations.harness import (
    ImportingInstallation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import paths, spec
from tests.support.installations.texts import OPERATOR
from tests.support.installations.two_persons import Two
from tests.support.linking import write_exports

POPULATION, STUDY = "populations/people", "projects/study"
SOON = (datetime.now(UTC) + timedelta(days=7)).date().isoformat()
CHANGED = LoadChoices(accept_changes=True, reason="longer stays")


class Story:
    """People of every role, and what they do; each step must succeed."""

    def __init__(self, two, installation, http):
        self.two = two
        self.installation = installation
        self.http = http

    def send(self, who, method, path, status=200, **body):
        more = {"json": body} if body else {}
        where = path if path.startswith("/") else f"/v1/admin/{path}"
        reply = self.http[who].request(method, where, **more)
        assert reply.status_code == status, (method, where, reply.text)
        return reply.json()

    def together(self, method, path, **body):
        """Propose something as carol, and do it once dora has approved."""
        made = self.send("carol", method, path, 202, **body)
        proposal = f"proposals/{made['proposal']}"
        self.send("dora", "GET", proposal)
        self.send("dora", "POST", f"{proposal}/approve")
        self.send("carol", method, path, **body)

    def load(self, manifest):
        given = {"manifest": manifest.name}
        job = self.send(
            "carol", "POST", "jobs", 202, kind="dataset.load", parameters=given
        )
        self.installation.run_jobs()
        return self.send("carol", "GET", f"jobs/{job['id']}")


def hire(story):
    story.send("root", "POST", "principals", 201, name="ada", role="analyst")
    story.send("root", "POST", "principals/ada/disable")
    story.send("root", "POST", "principals/ada/enable")
    story.send("root", "GET", "principals")
    key = story.send("root", "POST", "keys", 201, principal="ada")
    other = story.send("root", "POST", "keys", 201, principal="ada")
    story.send("root", "DELETE", f"keys/{other['id']}")
    story.send("root", "GET", "keys")
    story.send("root", "DELETE", f"{POPULATION}/custodians/emil")
    story.send("root", "POST", f"{POPULATION}/custodians", principal="emil")
    return key["key"]


def keep(story):
    story.send("carol", "PATCH", POPULATION, epsilon_cap="90")
    story.together("PATCH", POPULATION, epsilon_cap="95")
    raised = story.send("carol", "PATCH", POPULATION, 202, epsilon_cap="99")
    story.send("dora", "POST", f"proposals/{raised['proposal']}/reject", reason="no")
    later = with_codes(story.installation.write_manifest(dataset="later", cap="95"))
    done = story.load(later)
    assert done["result"], done["error"]
    jobs = story.send("carol", "GET", "jobs")["items"]
    story.send("carol", "POST", f"jobs/{jobs[0]['id']}/cancel")
    study = {"datasets": ["clinic", "later"], "principals": ["ada"], "allotment": "20"}
    story.send("carol", "POST", "projects", 201, name="study", **study)
    dear = {**study, "allotment": "200"}
    assert story.send("carol", "POST", "projects", 201, name="dear", **dear)["note"]
    story.send("carol", "PATCH", STUDY, purpose="wards", expires=SOON)
    story.together("PATCH", STUDY, allotment="300")
    story.send("carol", "POST", f"{STUDY}/grants", principal="ada", allotment="1")
    story.together("POST", f"{STUDY}/grants", principal="ada", allotment="20")
    story.send("carol", "DELETE", f"{STUDY}/grants/datasets/later")
    story.send("carol", "POST", f"{STUDY}/grants", dataset="later")
    story.send("carol", "DELETE", "projects/dear/grants/principals/ada")
    for path in ("populations", POPULATION, "datasets", "datasets/clinic"):
        story.send("carol", "GET", path)
    for path in ("projects", STUDY, "proposals"):
        story.send("carol", "GET", path)


def with_codes(manifest):
    """Let a manifest declare a hierarchy, and a rule of display."""
    text = manifest.read_text()
    codes = "{name: note, type: text, domain: {hierarchy: icd10}, source: form}"
    text = text.replace("{name: note, type: text}", codes)
    manifest.write_text(text.replace("tables:", "display: {hide_below: 11}\ntables:"))
    return manifest


def switch(story):
    """Load other declarations, go back, and erase what they were loaded with."""
    newer = story.installation.write_manifest(max_rows=12, cap="95")
    with contextlib.suppress(ProposalOpenError):
        story.two.loads(lambda service: service.load(newer, CHANGED, None))
    story.two.approve_all("dora")
    story.two.loads(lambda service: service.load(newer, CHANGED, None))
    path = "datasets/clinic/snapshots"
    new, old = (one["id"] for one in story.send("carol", "GET", path)["items"])
    story.together("POST", f"{path}/{old}/activate", reason="back")
    story.send("carol", "DELETE", f"{path}/{new}")


def link(story):
    """Link the records of a hospital, and decide a doubtful pair."""
    write_exports(story.installation.folder, load=None)
    linkage = {"linkage": "patients.yaml"}
    job = {"kind": "linkage.link", "parameters": linkage}
    story.send("carol", "POST", "jobs", 202, **job)
    story.installation.run_jobs()
    (item,) = story.send("carol", "GET", "linkages")["items"]
    path = f"linkages/{item['id']}"
    doubt = story.send("carol", "GET", f"{path}/doubts")["items"][0]
    pair = f"{path}/doubts/{doubt['left']}_{doubt['right']}"
    made = story.send("carol", "POST", f"{pair}/decisions", 201, verdict="match")
    applied = {"population": "people", "linkage": "patients"}
    job = {"kind": "linkage.apply", "parameters": applied}
    story.send("carol", "GET", pair)
    story.send("carol", "GET", f"{path}/doubts")
    story.send("dora", "POST", f"{pair}/decisions", 201, verdict="match")
    story.send("carol", "POST", "jobs", 202, **job)
    story.installation.run_jobs()
    for shown in (path, f"{path}/decisions", f"{path}/agreement", f"{path}/acts"):
        story.send("carol", "GET", shown)
    story.send("carol", "POST", f"{path}/decisions/{made['decision']}/undo")


def copy(story):
    """Hand out two copies of texts, and look at who got them."""
    to, folder = HandOut("Ada, registry", "protocol 12"), story.installation.folder
    with story.installation.services() as services:
        made = [store_copy(services, "people") for _ in range(2)]
        for one in made:
            given = (OPERATOR, one, to, folder / one)
            with pytest.raises(ProposalOpenError):
                HandOutService(services).hand_out(*given)
            story.two.approve_all("carol")
            HandOutService(services).hand_out(*given)
    story.send("carol", "GET", "anonymized")
    story.send("carol", "GET", f"anonymized/{made[0]}")


def publish(story):
    readers = [{"project": "study"}]
    for told, times in (
        (spec(readers="public"), 2),  # the second one is approved
        (paths(epsilon="20", readers=readers), 1),
    ):
        story.send("carol", "POST", "releases/plan", release=told)
        for _ in range(times):
            story.send("carol", "POST", "releases", 202, release=told)
            story.installation.run_jobs()
            story.two.approve_all("dora")
    told = spec("planned", count="rows", epsilon="99", readers=readers)
    day = "2999-12-31"
    made = story.send("carol", "POST", "announcements", 201, release=told, by=day)
    story.send("carol", "GET", "announcements")
    story.send("carol", "GET", f"announcements/{made['id']}")
    releases = story.send("carol", "GET", "releases")["items"]
    for one in releases:
        story.send("carol", "GET", f"releases/{one['id']}")
        story.send("carol", "GET", f"releases/{one['id']}/verify")
    return {one["name"]: f"/v1/releases/{one['id']}" for one in releases}


def analyse(story, released):
    for path in ("", "/clinic", "/later", "/clinic/sample"):
        story.send("ada", "GET", f"/v1/datasets{path}")
    sql = "SELECT sex, AVG(age) AS mean, COUNT(*) AS n FROM visits GROUP BY sex"
    priced = {"sql": sql, "epsilon": "1", "project": "study"}
    story.send("ada", "POST", "/v1/datasets/clinic/plan", **priced)
    answered = ask(story.http["ada"], sql, project="study").json()
    people = (
        "SELECT sex, age_band(age, 10) AS band, COUNT(DISTINCT patient_id) AS n "
        "FROM visits GROUP BY sex, age_band(age, 10)"
    )
    for sql in (priced["sql"], people):  # one is stored, one is in a release
        plan = {**priced, "sql": sql}
        assert story.send("ada", "POST", "/v1/datasets/clinic/plan", **plan)["free"]
    by_sex = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    rows = {**priced, "sql": "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"}
    plan = story.send("ada", "POST", "/v1/datasets/clinic/plan", **rows)
    assert plan["ways"][-1]["kind"] == "announced"
    by_both = "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward"
    texts = (priced["sql"], by_sex, by_both)
    questions = [{"sql": sql, "epsilon": "1"} for sql in texts]
    study = {"questions": questions, "project": "study"}
    story.send("ada", "POST", "/v1/datasets/clinic/plans", **study)
    studied = story.send("ada", "POST", "/v1/datasets/clinic/studies", **study)
    story.send("ada", "GET", f"/v1/queries/{studied['query_id']}")
    for path in ("queries", f"queries/{answered['query_id']}", "budget"):
        story.send("ada", "GET", f"/v1/{path}")
    for path in ("releases", "releases/key", "announcements"):
        story.send("ada", "GET", f"/v1/{path}")
    for name, path in released.items():
        story.send("ada", "GET", path)
        story.send("ada", "POST", f"{path}/queries", sql=f"SELECT COUNT(*) FROM {name}")
    story.send("ada", "GET", f"{released['paths']}/tree?prefix=[%22north%22]")


def look_back(story, released):
    for path in ("ledger", "ledger/verify"):
        story.send("mary", "GET", path)
    for path in released.values():
        withdrawn = path.replace("/v1/", "") + "/withdraw"
        story.send("carol", "POST", withdrawn, reason="the wrong year")
    (planned,) = story.send("carol", "GET", "announcements")["items"]
    story.send("carol", "POST", f"announcements/{planned['id']}/withdraw")
    for path in ("/healthz", "/readyz"):
        story.send("mary", "GET", path)


@pytest.fixture
def story(tmp_path):
    two = Two.made(tmp_path, cap="100")
    two.people(lambda service: service.create_principal("mary", "auditor"))
    two.keys["mary"] = two.people(lambda service: service.create_key("mary"))["key"]
    installation = ImportingInstallation(tmp_path)
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(serve_in_thread(installation))

        def enter(key):
            return stack.enter_context(client(url, key))

        told = Story(two, installation, {n: enter(key) for n, key in two.keys.items()})
        told.http["ada"] = enter(hire(told))
        yield told


@pytest.mark.long
def test_every_route_replies_as_the_document_says(story):
    keep(story)
    switch(story)
    link(story)
    copy(story)
    released = publish(story)
    analyse(story, released)
    look_back(story, released)
    seen = replies.check_collected()
    assert set(replies.validators()) - seen.keys() == set()
    untrue = {
        key: never_sent(replies.example_of(*key), sent) for key, sent in seen.items()
    }
    assert {key: places for key, places in untrue.items() if places} == {}


def never_sent(example, sent):
    """Return the places of an example that no real reply of this story has."""
    real = set().union(*map(replies.members, sent))
    return sorted(replies.members(example) - real)
