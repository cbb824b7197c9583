"""Linkages survive the death of their workers: each run counts once, and is whole."""

import csv
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from server.persistence.linkage_tables import linkage_doubt
from server.use_cases.linkage.store import LinkageStore
from server.use_cases.linkage.work.service import LinkageService
from tests.crash.instruments.books import problems
from tests.crash.instruments.job_kills import run_job_kills
from tests.crash.instruments.job_submitter import OPERATOR, JobSubmitter
from tests.effort import gate_first, rounds
from tests.support.installations.harness import ImportingInstallation
from tests.support.linking import Linking

pytestmark = pytest.mark.thorough


@dataclass
class LinkageSubmitter(JobSubmitter):
    """Submits runs that load and runs that do not, and sheets, in turn."""

    made: dict = field(default_factory=dict)

    def submit(self):
        """Queue a run of the linkage, or the sheet of its doubts."""
        kinds = ("linkage.link", "linkage.apply", "linkage.review_export")
        kind = kinds[len(self.made) % len(kinds)]
        told = {"population": "people", "linkage": "patients"}
        if kind == "linkage.link":
            told = {"linkage": "patients.yaml"}
        with self.service() as service:
            job = service.submit(OPERATOR, kind, told)["id"]
        self.made[job] = kind
        return job

    def job_problems(self, job):
        """Return what is wrong with a job that has ended."""
        seen = self.look(job)
        if seen["state"] != "done":
            return [f"{job}: {self.made[job]} {seen['state']}, {seen['error']}"]
        if self.made[job] == "linkage.review_export":
            with Path(seen["result"]["sheet"]).open(newline="") as file:
                count = sum(1 for _ in csv.reader(file)) - 1
            is_whole = count == seen["result"]["pairs"]
            return [] if is_whole else [f"{job}: the sheet is not whole"]
        if len(self.snapshots_of(job)) != 1:
            return [f"{job}: loaded {self.snapshots_of(job)}"]
        return []

    def problems(self, jobs):
        """Return all that is wrong, once no worker is at work."""
        wrong = [fault for job in jobs for fault in self.job_problems(job)]
        runs = [job for job, kind in self.made.items() if "export" not in kind]
        with self.installation.services() as services:
            store, service = LinkageStore(), LinkageService(services, "local:test")
            path = self.installation.folder / "keys.csv"
            path.unlink(missing_ok=True)
            keys = service.crosswalk("patients", path)["rows"]
            with services.databases.reader.connect() as connection:
                (row,) = store.all(connection)
                counted = [run.job for run in store.runs(connection, row.id)]
                doubts = connection.execute(linkage_doubt.select()).all()
        if sorted(counted[:-1]) != sorted(runs):  # the last one is the fixture's
            wrong.append(f"runs {counted} of jobs {runs}")
        if keys != self.records():
            wrong.append(f"{keys} keys of {self.records()} records")
        left = {one.job for one in doubts} - set(counted)
        wrong += [f"{job}: left doubts" for job in left]
        return wrong + problems(self.installation)

    def records(self):
        """Return how many records there are."""
        lines = 0
        for name in ("admissions", "laboratory"):
            content = (self.installation.folder / f"{name}.csv").read_bytes()
            lines += content.count(b"\n") - 1
        return lines


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def installation(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = ImportingInstallation(tmp_path, url=url).create()
    with made.services() as services:
        linking = Linking(made, services)
        path = linking.write()
        linking.create_population(path)
        linking.link()
    return made


def test_a_worker_that_is_killed_anywhere_lets_each_run_count_once(
    nursery, installation
):
    kills = rounds(100, 4)
    findings = run_job_kills(
        nursery, installation, kills, submitter_type=LinkageSubmitter
    )
    assert findings.wrong == []
    assert findings.states == {"done": kills}
