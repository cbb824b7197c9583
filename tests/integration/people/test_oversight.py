"""Statements, reports and snapshots over HTTP: for whom, and what they hold."""

import re

import pytest

from server.persistence import tables
from server.use_cases.custody.people import PeopleService
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    ask,
    client,
    serve_in_thread,
)

BREAKING = (
    "SELECT COUNT(*) FROM visits WHERE note = '```\n# A heading | x |\n<b>' "
    "-- \u202eevil"
)
ROUTES = [
    ("GET", "/v1/admin/datasets/{dataset}/snapshots"),
    ("POST", "/v1/admin/datasets/{dataset}/snapshots/{snapshot}/activate"),
    ("DELETE", "/v1/admin/datasets/{dataset}/snapshots/{snapshot}"),
    ("GET", "/v1/admin/populations/{population}/statement"),
    ("GET", "/v1/admin/projects/{project}/report"),
]


class Hospital:
    """A served installation with people of every role."""

    def __init__(self, folder):
        self.installation = Installation(folder).create()
        self.older = self.installation.load(DEFAULT_ROWS[:60])
        self.newer = self.installation.load()
        self.keys = {"ada": self.installation.analyst(allotment="3")}
        with self.installation.services() as services:
            service = PeopleService(services, "local:test")
            for name, role in (
                ("carl", "custodian"),
                ("strange", "custodian"),
                ("mary", "auditor"),
                ("root", "admin"),
            ):
                service.create_principal(name, role)
                self.keys[name] = service.create_key(name)["key"]
            with services.ledger.recorded("custodian.add", "local:test") as change:
                row = {"population": "people", "principal": "carl"}
                change.insert(tables.custodian, row)
        self.url = None

    def send(self, who, method, path, **more):
        with client(self.url, self.keys[who]) as http:
            return http.request(method, path, **more)

    def path(self, template, **other):
        names = {
            "dataset": "clinic",
            "snapshot": self.older,
            "population": "people",
            "project": "study",
            **other,
        }
        return template.format(**names)


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    made = Hospital(tmp_path_factory.mktemp("oversight"))
    with serve_in_thread(made.installation) as url:
        made.url = url
        with client(url, made.keys["ada"]) as http:
            made.first = ask(http, epsilon="0.5").json()
            made.breaking = ask(http, BREAKING, epsilon="0.25").json()
            made.free = ask(http, epsilon="0.5", options={}).json()
            assert ask(http, epsilon="3").status_code == 402
        yield made


@pytest.mark.sampled
@pytest.mark.parametrize(("method", "template"), ROUTES)
def test_other_roles_are_refused_and_strangers_see_what_the_absent_see(
    hospital, method, template
):
    path = hospital.path(template)
    for who in ("ada", "root"):
        assert hospital.send(who, method, path).status_code == 403
    absent = hospital.path(
        template, dataset="none", population="none", project="none", snapshot="s_none"
    )
    strangers = hospital.send("strange", method, path)
    missing = hospital.send("strange", method, absent)
    own = hospital.send("carl", method, absent)
    assert (strangers.status_code, own.status_code) == (404, 404)
    assert strangers.content == missing.content == own.content


def test_an_auditor_reads_statements_but_changes_no_snapshot(hospital):
    for method, template in ROUTES:
        status = hospital.send("mary", method, hospital.path(template)).status_code
        assert status == (200 if "/datasets/" not in template else 403), template


def test_a_statement_says_the_cap_in_words_and_lists_every_charge(hospital):
    path = hospital.path("/v1/admin/populations/{population}/statement")
    reply = hospital.send("carl", "GET", path)
    assert reply.headers["content-type"] == "text/markdown; charset=utf-8"
    text = reply.text
    assert text.startswith("# Privacy statement: population people\n")
    assert "a factor of at most e^100000 = 10^43430" in text
    assert "**This factor is so large" in text
    assert "**Single custodian.**" in text
    assert "**Anchor on the same device.**" in text
    assert "2 charges, epsilon 0.75 in all; 1 answer given again for nothing" in text
    for asked in (hospital.first, hospital.breaking, hospital.free):
        assert f"### {asked['query_id']}\n" in text
    assert "Spent was: 2 questions, epsilon 0.75; 0 releases, epsilon 0." in text
    assert "## Releases\n\nNone." in text
    assert "| dataset.load |" in text
    assert "| project.create |" in text
    assert "| cap of people: none -> 100000 |" in text
    assert "allotment of study: none -> 3" in text
    assert "No change of this population was put to a second person." in text


def test_a_report_lists_questions_prices_and_refusals(hospital):
    path = hospital.path("/v1/admin/projects/{project}/report")
    text = hospital.send("mary", "GET", path).text
    assert text.startswith("# Report: project study\n")
    assert r"| allotment | epsilon 3 |" in text
    assert r"| spent | epsilon 0.75 |" in text
    assert r"| members | ada (spent 0.75) |" in text
    assert r"| ada | budget_exceeded | clinic | epsilon 3 |" in text
    assert "SELECT COUNT(*) FROM visits" in text


def outside_of_fences(text):
    """Return the lines that Markdown reads as Markdown."""
    fence, kept = None, []
    for line in text.splitlines():
        ticks = re.match(r"(`{3,})", line)
        if fence is None and ticks:
            fence = ticks[1]
        elif fence is not None and line.strip() == fence:
            fence = None
        elif fence is None:
            kept.append(line)
    assert fence is None
    return kept


def test_no_sql_breaks_out_of_its_block(hospital):
    path = hospital.path("/v1/admin/populations/{population}/statement")
    text = hospital.send("carl", "GET", path).text
    kept = outside_of_fences(text)
    assert "# A heading | x |" not in "\n".join(kept)
    assert "<b>" not in "\n".join(kept)
    assert "# A heading | x |" in text
    assert "\u202e" not in text
    assert r"\u{202e}evil" in text


def test_a_custodian_switches_and_erases_snapshots(hospital):
    base = "/v1/admin/datasets/clinic/snapshots"
    listed = hospital.send("carl", "GET", base).json()["items"]
    assert [one["state"] for one in listed] == ["active", "kept"]
    active = hospital.send("carl", "DELETE", f"{base}/{hospital.newer}")
    assert active.status_code == 422
    assert "is the active snapshot" in active.json()["detail"]
    for body, status in ((b"{", 400), (b"[]", 422), (b'{"why": "x"}', 422)):
        path = f"{base}/{hospital.older}/activate"
        reply = hospital.send("carl", "POST", path, content=body)
        assert reply.status_code == status
    assert hospital.send("carl", "POST", path).json()["state"] == "active"
    gone = hospital.send("carl", "DELETE", f"{base}/{hospital.newer}")
    assert gone.json()["state"] == "removed"
    listed = hospital.send("carl", "GET", base).json()["items"]
    assert [one["state"] for one in listed] == ["removed", "active"]
    with hospital.installation.services() as services:
        entries = services.ledger.export()
    actions = [(one["action"], one["actor"]) for one in entries if one["action"]]
    assert ("snapshot.activate", "carl") in actions
    assert ("snapshot.remove", "carl") in actions
