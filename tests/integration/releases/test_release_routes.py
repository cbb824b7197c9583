"""Releases over real HTTP: published by a custodian, read by whom it is granted to."""

import csv
import hashlib
import io
import sqlite3
from datetime import datetime

import pytest
from sqlalchemy import update

from release.store.manifest_files import is_genuine
from release.store.opening import problems_in
from server.persistence import tables
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.oversight.markdown import moment
from server.use_cases.oversight.statements import StatementService
from server.use_cases.publishing.published import published
from server.use_cases.releases import times as release_times
from server.use_cases.releases.folders import ReleaseFolders
from tests.support.installations.harness import Installation, client, serve_in_thread
from tests.support.installations.publishing import Press, spec
from tests.support.installations.two_persons import Two


class World:
    """A server with a custodian, two analysts, and releases for some of them."""

    def __init__(self, folder):
        self.made = Installation(folder).create()
        self.made.load()
        two = Two.make(self.made, ("carol",))
        two.people(lambda service: service.add_custodian("people", "carol"))
        self.keys = {
            "carol": two.keys["carol"],
            "ada": self.made.analyst("ada", "study", allotment="1"),
            "eve": self.made.analyst("eve", "other", allotment="1"),
        }
        self.press = Press(self.made)

    def published(self, spec_of=spec, **more):
        """Publish over HTTP as a custodian, with a worker; return the release's id."""
        with serve_in_thread(self.made) as url, client(url, self.keys["carol"]) as http:
            told = {"release": spec_of(**more)}
            assert http.post("/v1/admin/releases/plan", json=told).json()["affordable"]
            queued = http.post("/v1/admin/releases", json=told)
            assert queued.status_code == 202, queued.text
        done = self.press.run(queued.json()["id"])
        assert done["state"] == "done", done["error"]
        return done["result"]["release"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("releases"))


@pytest.fixture(scope="module")
def releases(world):
    told = {
        "ours": [{"project": "study"}],
        "eves": [{"principal": "eve"}],
        "open": "public",
        "kept": [],
    }
    return {
        name: world.published(name=name, readers=readers)
        for name, readers in told.items()
    }


@pytest.fixture(scope="module")
def url(world, releases):
    with serve_in_thread(world.made) as served:
        yield served


@pytest.fixture(scope="module")
def http(world, url):
    made = {name: client(url, key) for name, key in world.keys.items()}
    yield made
    for one in made.values():
        one.close()


SEEN = {
    "ada": {"ours", "open"},
    "eve": {"eves", "open"},
    "carol": {"ours", "eves", "open", "kept"},
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("reader", SEEN)
def test_readers_see_what_is_public_or_granted_and_nothing_else(http, releases, reader):
    listed = http[reader].get("/v1/releases").json()["items"]
    assert {item["name"] for item in listed} == SEEN[reader]
    absent = http[reader].get("/v1/releases/rel_" + "0" * 24)
    for name, release in releases.items():
        for path in (f"/v1/releases/{release}", f"/v1/releases/{release}/download"):
            reply = http[reader].get(path)
            if name in SEEN[reader]:
                assert reply.status_code == 200, reply.text
            else:
                assert (reply.status_code, reply.content) == (404, absent.content)


@pytest.mark.parametrize("reader", SEEN)
def test_a_release_is_read_by_its_name_too(http, releases, reader):
    absent = http[reader].get("/v1/releases/rel_" + "0" * 24)
    for name, release in releases.items():
        for end in ("", "/download"):
            by_id, by_name = (
                http[reader].get(f"/v1/releases/{one}{end}") for one in (release, name)
            )
            assert (by_id.status_code, by_id.content) == (
                by_name.status_code,
                by_name.content,
            )
            seen = name in SEEN[reader]
            assert by_name.status_code == (200 if seen else 404)
            assert seen or by_name.content == absent.content


def test_a_name_written_as_an_id_stands_in_for_no_release(world, http, releases):
    hidden = next(name for name in releases if name not in SEEN["ada"])
    called(world, releases["ours"], releases[hidden])
    try:
        for end in ("", "/download"):
            reply = http["ada"].get(f"/v1/releases/{releases[hidden]}{end}")
            assert reply.status_code == 404
    finally:
        called(world, releases["ours"], "ours")


def called(world, release, name):
    """Rename a published release, as no spec can any more."""
    table = tables.publication
    renamed = update(table).where(table.c.id == release).values(name=name)
    with sqlite3.connect(world.made.data / "curator.sqlite") as connection:
        text = str(renamed.compile(compile_kwargs={"literal_binds": True}))
        connection.execute(text)
    connection.close()


def test_a_download_is_the_file_that_the_signed_manifest_names(http, releases):
    base = f"/v1/releases/{releases['ours']}"
    manifest = http["ada"].get(base).json()["manifest"]
    key = http["ada"].get("/v1/releases/key").json()["public_key"]
    assert is_genuine(manifest, key)
    for form, kind in (("csv", "text/csv"), ("parquet", "application/vnd.apache")):
        reply = http["ada"].get(f"{base}/download", params={"format": form})
        assert reply.headers["content-type"].startswith(kind)
        digest = hashlib.sha256(reply.content).hexdigest()
        assert digest == manifest["files"][f"cube.{form}"]["sha256"]
    rows = list(csv.DictReader(io.StringIO(http["ada"].get(f"{base}/download").text)))
    assert len(rows) == manifest["cells"] == 26
    signed = http["ada"].get(f"{base}/download", params={"format": "json"})
    assert signed.json() == manifest


def test_neither_headers_nor_files_tell_when_they_were_written(world, http, releases):
    base = f"/v1/releases/{releases['ours']}"
    manifest = http["ada"].get(base).json()["manifest"]
    told = {name: file["sha256"] for name, file in manifest["files"].items()}
    for name in (*told, "manifest.json"):
        table, form = name.split(".")
        asked = {"format": form, "table": table}
        reply = http["ada"].get(f"{base}/download", params=asked)
        digest = hashlib.sha256(reply.content).hexdigest()
        assert reply.headers["etag"] == f'"{told.get(name, digest)}"'
        assert "last-modified" not in reply.headers
    charged = datetime.fromisoformat(manifest["charged"]).timestamp()
    (folder,) = world.made.settings.releases.glob(f"{releases['ours']}.*")
    for path in (folder, *folder.iterdir()):
        assert path.stat().st_mtime == pytest.approx(charged, abs=1e-5), path.name


def test_a_part_of_a_file_is_sent_for_its_digest_alone(http, releases):
    path = f"/v1/releases/{releases['ours']}/download"
    whole = http["ada"].get(path)
    for tag, status in ((whole.headers["etag"], 206), ('"another"', 200)):
        ranged = {"Range": "bytes=0-3", "If-Range": tag}
        part = http["ada"].get(path, headers=ranged)
        assert part.status_code == status
        assert part.content == (whole.content[:4] if status == 206 else whole.content)


@pytest.mark.parametrize("asked", ["bytes=5-2", "bytes=abc", "x=1", "bytes=", "lines"])
def test_a_range_that_is_none_is_ignored(http, releases, asked):
    path = f"/v1/releases/{releases['ours']}/download"
    whole, reply = (
        http["ada"].get(path, headers=headers) for headers in ({}, {"Range": asked})
    )
    assert (reply.status_code, reply.content) == (200, whole.content)


def test_a_range_beyond_the_file_is_a_problem(http, releases):
    path = f"/v1/releases/{releases['ours']}/download"
    whole = http["ada"].get(path)
    size = len(whole.content)
    asked = {"Range": f"bytes={size}-"}
    reply = http["ada"].get(path, headers=asked)
    assert (reply.status_code, reply.json()["type"]) == (416, "range_not_satisfiable")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers["content-range"] == f"bytes */{size}"
    other = http["ada"].get(path, headers={**asked, "If-Range": '"another"'})
    assert (other.status_code, other.content) == (200, whole.content)


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [("-3", -3, None), ("2-", 2, None), ("1-2,99999999-", 1, 3)],
)
def test_the_part_that_is_there_is_sent(http, releases, asked, first, last):
    path = f"/v1/releases/{releases['ours']}/download"
    whole = http["ada"].get(path).content
    reply = http["ada"].get(path, headers={"Range": f"bytes={asked}"})
    assert (reply.status_code, reply.content) == (206, whole[first:last])


def test_whoever_downloads_every_file_can_verify_them(http, releases, tmp_path):
    base = f"/v1/releases/{releases['open']}/download"
    files = http["eve"].get(base.removesuffix("/download")).json()["manifest"]["files"]
    for name in ("manifest.json", *files):
        table, form = name.split(".")
        reply = http["eve"].get(base, params={"format": form, "table": table})
        (tmp_path / name).write_bytes(reply.content)
    assert problems_in(tmp_path) == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("format=xlsx", 422),
        ("format=csv&format=json", 422),
        ("table=nothing", 404),
        ("table=../manifest&format=json", 404),
        ("table=/etc/passwd", 404),
        ("more=1", 422),
    ],
)
def test_downloads_name_files_of_the_manifest_alone(http, releases, query, status):
    reply = http["ada"].get(f"/v1/releases/{releases['ours']}/download?{query}")
    assert reply.status_code == status


def test_readers_see_a_release_from_its_public_time_on(world, http, monkeypatch):
    told = world.press.publish_unseen(spec(name="later", readers="public"))
    release = told["result"]["release"]
    absent = http["ada"].get("/v1/releases/rel_" + "0" * 24)
    ask = {"sql": "SELECT COUNT(*) FROM later", "confidence": 0.95}

    def replies(reader):
        path = f"/v1/releases/{release}"
        return [
            http[reader].get(path),
            http[reader].get(f"{path}/download"),
            http[reader].post(f"{path}/queries", json=ask),
        ]

    def names(reader):
        return {one["name"] for one in http[reader].get("/v1/releases").json()["items"]}

    for reply in replies("ada"):
        assert (reply.status_code, reply.content) == (404, absent.content)
    assert "later" not in names("ada")
    assert [reply.status_code for reply in replies("carol")] == [200, 200, 200]
    later = "2999-01-01T00:00:00.000000+00:00"
    monkeypatch.setattr(release_times, "now_text", lambda: later)
    assert [reply.status_code for reply in replies("ada")] == [200, 200, 200]
    assert "later" in names("ada")


def test_a_withdrawn_release_is_gone_for_readers(http, releases):
    release = releases["eves"]
    told = {"reason": "the cohort was wrong"}
    path = f"/v1/admin/releases/{release}/withdraw"
    assert http["carol"].post(path, json=told).json()["state"] == "withdrawn"
    for reader in SEEN:
        assert http[reader].get(f"/v1/releases/{release}").status_code == 404
    shown = http["carol"].get(f"/v1/admin/releases/{release}").json()
    assert shown["manifest"]["name"] == "eves"


def test_an_id_is_no_name(world, http, releases):
    told = {"release": spec(name=releases["kept"])}
    refused = http["carol"].post("/v1/admin/releases", json=told)
    assert refused.status_code == 422
    assert "give another name" in refused.json()["detail"]
    called(world, releases["ours"], releases["kept"])
    try:
        shown = http["carol"].get(f"/v1/admin/releases/{releases['kept']}").json()
    finally:
        called(world, releases["ours"], "ours")
    assert shown["id"] == releases["kept"]


def test_a_spec_that_does_not_fit_is_a_problem_with_a_sentence(http):
    for changed, said in (
        ({"from": "strangers"}, "strangers"),
        ({"dimensions": [{"column": "note"}]}, "no declared list"),
        ({"epsilon": "0.0000000001"}, "epsilon"),
    ):
        for path in ("/v1/admin/releases/plan", "/v1/admin/releases"):
            reply = http["carol"].post(path, json={"release": spec("odd", **changed)})
            assert reply.status_code == 422, reply.text
            assert said in reply.json()["detail"]
    elsewhere = {"release": spec("odd", dataset="nowhere")}
    assert http["carol"].post("/v1/admin/releases", json=elsewhere).status_code == 404


def test_the_populations_statement_tells_of_releases(world, http, releases):
    told = {"reason": "the cohort was wrong"}  # unless it was withdrawn before
    http["carol"].post(f"/v1/admin/releases/{releases['eves']}/withdraw", json=told)
    shown = releases_told(world, "population", "people")
    for name, release in releases.items():
        (line,) = [one for one in shown if f"| {name} ({release}) | cube, " in one]
        is_withdrawn = name == "eves"
        assert ("| nobody |" in line) is is_withdrawn
        assert line.endswith("UTC by carol: the cohort was wrong |") is is_withdrawn
    with world.made.services() as services:
        written = StatementService(services).population("people")
    assert "| release.begin |" in written
    assert "| release.publish |" not in written  # its time tells how long work took
    assert "COUNT(DISTINCT patient)" in written
    assert "### release eves, rel_" in written


def test_a_report_tells_of_what_its_members_may_read_and_of_no_other_reader(
    world, releases
):
    shown = releases_told(world, "project", "study")
    readers = {line.split("| ")[1].split(" (")[0]: line for line in shown}
    assert set(readers) == {"open", "ours"}
    assert "| everybody with a key |" in readers["open"]
    assert "| project study |" in readers["ours"]


def test_statements_and_reports_tell_of_no_release_before_its_public_time(
    world, http, monkeypatch
):
    awaited = spec(name="awaited", readers=[{"project": "study"}])
    told = world.press.publish_unseen(awaited)
    release = told["result"]["release"]
    (line,) = lines_of(release, world, "population", "people")
    assert "| not yet |" in line
    assert lines_of(release, world, "project", "study") == []
    row = http["carol"].get(f"/v1/admin/releases/{release}").json()
    later = "2999-01-01T00:00:00.000000+00:00"
    monkeypatch.setattr(release_times, "now_text", lambda: later)
    for kind, name in (("population", "people"), ("project", "study")):
        (line,) = lines_of(release, world, kind, name)
        assert f"| {moment(row['visible'])} |" in line


def lines_of(release, world, kind, name):
    """Return the lines that tell of one release."""
    return [line for line in releases_told(world, kind, name) if release in line]


def releases_told(world, kind, name):
    """Return the lines of releases in a statement or a report."""
    with world.made.services() as services:
        text = getattr(StatementService(services), kind)(name)
    section = text.split("## Releases")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if "(rel_" in line]


def test_no_auditor_has_files_read_before_their_public_time(world, monkeypatch):
    """How long a reply takes would tell when the files were stored (PRIVACY 2)."""
    told = world.press.publish_unseen(spec(name="sealed"))
    with world.press.services() as services:
        (row,) = [row for row in published(services) if row.name == "sealed"]
        folder = ReleaseFolders(world.made.settings.releases).path(
            str(row.id), str(row.manifest_sha256)
        )
    assert told["result"]["release"] == row.id
    (folder / "cube.csv").write_text("altered", "utf-8")
    with world.made.services() as services:
        service = AuditService(services, "local:test")
        assert service.outline()["ok"]
        assert "sealed" in service.verify()["problems"][0]
        later = "2999-01-01T00:00:00.000000+00:00"
        monkeypatch.setattr(release_times, "now_text", lambda: later)
        assert "sealed" in service.outline()["problems"][0]
