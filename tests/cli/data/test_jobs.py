"""curator job, and dataset load --background."""

import errno
import json

import pytest

from budget.chain.anchor import HeldAnchor
from privacy.errors import LedgerUnavailableError
from server.bootstrap import make_services
from tests.cli.conftest import Commands
from tests.support.installations.harness import ImportingInstallation


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """Commands on an installation with an import folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(ImportingInstallation(tmp_path).create())


def work(commands):
    commands.installation.run_jobs()


def submit(commands, manifest=None):
    manifest = manifest or commands.installation.write_manifest()
    return commands.json("dataset", "load", manifest, "--background")["job"]


def test_a_load_in_the_background_is_queued_and_then_done(jobs):
    job = submit(jobs)
    queued = jobs.json("job", "show", job)
    assert (queued["state"], queued["population"]) == ("queued", "people")
    assert jobs.json("dataset", "list")["items"] == []
    work(jobs)
    done = jobs.json("job", "show", job)
    assert (done["state"], done["attempts"], done["error"]) == ("done", 1, None)
    (dataset,) = jobs.json("dataset", "list")["items"]
    assert dataset["snapshot"] == done["result"]["snapshot"]
    assert done["result"]["report"]["tables"][0]["rows_read"] == 200


def test_a_jobs_lineage_says_what_was_read_and_made(jobs):
    manifest = jobs.installation.write_manifest()
    job = submit(jobs, manifest)
    work(jobs)
    done = jobs.json("job", "show", job)
    first, second = done["lineage"]["inputs"]
    assert first["path"] == str(manifest)
    assert len(first["sha256"]) == 64
    assert second == {
        "path": str(manifest.with_suffix(".csv")),
        "size_bytes": manifest.with_suffix(".csv").stat().st_size,
    }
    made = {"dataset": "clinic", "snapshot": done["result"]["snapshot"]}
    assert done["lineage"]["outputs"] == [made]
    assert done["lineage"]["code_version"]
    assert done["parameters"]["manifest"] == str(manifest)


def test_following_a_job_to_its_end_exits_as_the_job_ended(jobs):
    good = submit(jobs)
    bad = submit(jobs, jobs.installation.write_manifest(["x,F,1,north,never,n"]))
    work(jobs)
    followed = jobs.run("job", "follow", good)
    assert "state: done" in followed.stdout
    assert "100% done" in followed.stderr
    assert json.loads(jobs.run("job", "follow", good, "--json").stdout)["id"] == good
    failed = jobs.run("job", "follow", bad, code=1)
    assert "state: failed" in failed.stdout
    assert ".csv" in failed.stdout  # the sentence says where


def test_a_cancelled_job_is_never_run(jobs):
    job = submit(jobs)
    assert jobs.json("job", "cancel", job)["state"] == "cancelled"
    work(jobs)
    jobs.run("job", "follow", job, code=1)
    assert jobs.json("dataset", "list")["items"] == []


def test_jobs_are_listed_newest_first_in_pages(jobs):
    ids = [submit(jobs) for _ in range(3)]
    page = jobs.json("job", "list", "--limit", "2")
    assert [item["id"] for item in page["items"]] == [ids[2], ids[1]]
    rest = jobs.json("job", "list", "--cursor", page["next_cursor"])
    assert [item["id"] for item in rest["items"]] == [ids[0]]
    assert rest["next_cursor"] is None
    assert ids[0] in jobs.run("job", "list").stdout


def test_what_cannot_be_loaded_is_refused_before_it_is_queued(jobs, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "m.yaml"
    outside.write_text(jobs.installation.write_manifest().read_text())
    link = jobs.installation.folder / "link.yaml"
    link.symlink_to(outside)
    wrong = jobs.installation.folder / "wrong.yaml"
    wrong.write_text("version: 1\n")
    table = jobs.installation.folder / "table.csv"
    table.write_text("patient_id\n4711\n")
    for path, said in (
        (outside, "under CURATOR_IMPORT"),
        (link, "under CURATOR_IMPORT"),
        (jobs.installation.folder / "none.yaml", "under CURATOR_IMPORT"),
        (table, "under CURATOR_IMPORT"),
        (wrong, "dataset"),
    ):
        refused = jobs.said("dataset", "load", path, "--background")
        assert said in refused, path
        assert "4711" not in refused
    assert jobs.json("job", "list")["items"] == []


def test_without_an_import_folder_there_are_no_jobs(curator):
    manifest = curator.installation.write_manifest()
    said = curator.said("dataset", "load", manifest, "--background")
    assert "CURATOR_IMPORT is not set" in said


def test_a_manifest_that_was_changed_after_submission_is_not_loaded(jobs):
    manifest = jobs.installation.write_manifest()
    job = submit(jobs, manifest)
    manifest.write_text(manifest.read_text().replace("max: 120", "max: 90"))
    work(jobs)
    ended = jobs.json("job", "show", job)
    assert ended["state"] == "failed"
    assert "changed since the job was submitted" in ended["error"]


def test_a_dry_run_in_the_background_reports_and_changes_nothing(jobs):
    manifest = jobs.installation.write_manifest()
    job = jobs.json("dataset", "load", manifest, "--background", "--dry-run")["job"]
    work(jobs)
    done = jobs.json("job", "show", job)
    assert (done["state"], done["result"]["snapshot"]) == ("done", None)
    assert jobs.json("dataset", "list")["items"] == []
    assert list((jobs.installation.data / "snapshots").iterdir()) == []


def test_the_chain_names_the_job_and_who_asked_for_it(jobs):
    job = submit(jobs)
    work(jobs)
    assert jobs.json("ledger", "verify")["ok"]
    services = make_services(jobs.installation.settings)
    with services.databases.reader.connect() as connection:
        bodies = connection.exec_driver_sql("SELECT body FROM chain").scalars().all()
    services.databases.close()
    (entry,) = [json.loads(b) for b in bodies if '"dataset.load"' in b]
    assert entry["facts"]["job"] == job
    assert entry["actor"] == jobs.json("job", "show", job)["actor"]


def test_unknown_jobs_are_refused(jobs):
    for verb in ("show", "cancel", "follow"):
        said = jobs.said("job", verb, "job_nothing")
        assert "no job 'job_nothing': see 'curator job list'" in said


def test_a_load_whose_anchor_could_not_be_written_is_done_by_the_next_attempt(
    jobs, monkeypatch
):
    def fail(*_):
        raise OSError(errno.EIO, "input/output error")

    job = submit(jobs)
    with monkeypatch.context() as patch:
        patch.setattr(HeldAnchor, "write", fail)
        with pytest.raises(LedgerUnavailableError):
            work(jobs)
        assert "nothing is shown before it is" in jobs.said("job", "show", job)
    with (
        jobs.installation.services() as services,
        services.databases.writer.begin() as connection,
    ):
        connection.exec_driver_sql("UPDATE job SET lease_until_ms = 0")  # do not wait
    work(jobs)
    done = jobs.json("job", "show", job)
    assert (done["state"], done["attempts"]) == ("done", 2)
    (file,) = (jobs.installation.data / "snapshots").iterdir()
    assert file.stem == done["result"]["snapshot"]
    assert jobs.kinds().count("admin") == 3  # init twice, one load
    assert jobs.json("ledger", "verify")["ok"]
