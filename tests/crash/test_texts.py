"""Jobs about texts survive the death of their workers, and store all once."""

import json
from dataclasses import dataclass, field

import pytest
from sqlalchemy import select

from server.persistence.text_tables import text_origin
from server.use_cases.extraction.tagging import RulesFinder
from server.use_cases.extraction.work import TextParts
from tests.crash.instruments.books import problems
from tests.crash.instruments.job_kills import run_job_kills
from tests.crash.instruments.job_submitter import OPERATOR, JobSubmitter
from tests.effort import gate_first, rounds
from tests.support.data.notes import (
    made_note,
    write_gold,
    write_notes,
    write_pipeline,
)
from tests.support.installations.harness import ImportingInstallation
from upstream.extraction.text.spans import GOLD

pytestmark = pytest.mark.thorough
NOTES = 400
QUICK = {"training": {"algorithm": "ap", "iterations": 5}}
LONG = "Seen on 1/1/2024. " * 8_000
"""Parts and spans of one document, many slices of them."""


@dataclass
class TextSubmitter(JobSubmitter):
    """Submits readings and taggings, each of one collection, in turn."""

    made: dict = field(default_factory=dict)

    def submit(self):
        """Queue the reading of a fresh collection, or the tagging of the last one."""
        number = len(self.made)
        name = f"notes{number // 2}"
        if number % 2:
            kind = "text.tag"
            told = {"population": "people", "collection": name, "model": "rules"}
        else:
            kind = "text.read"
            path = write_notes(self.installation.folder, range(NOTES), name=name)
            long = self.installation.folder / name / "p9999-1.txt"
            long.write_text(LONG)  # of many slices: kills fall between them
            told = {"declaration": str(path)}
        with self.service() as service:
            job = service.submit(OPERATOR, kind, told)["id"]
        self.made[job] = name, kind
        return job

    def job_problems(self, job):
        """Return what is wrong with a job that has ended."""
        name, kind = self.made[job]
        seen = self.look(job)
        if seen["state"] != "done":
            return [f"{job}: {seen['state']}, {seen['error']}"]
        with self.installation.services() as services:
            parts = TextParts(services)
            found = parts.collection("people", name)
            finder = "rules" if kind == "text.tag" else "none"
            stored = list(parts.annotated(found.id, finder))
        texts = [one.document.text for one in stored]
        if texts != [*(made_note(number)[0] for number in range(NOTES)), LONG]:
            return [f"{job}: {len(stored)} documents are not what was read"]
        if kind == "text.tag" and not all(self._is_tagged(one) for one in stored):
            return [f"{job}: spans are not what is found"]
        return []

    def _is_tagged(self, one):
        """Whether a note has the very spans that rules find, each once."""
        return one.spans == next(RulesFinder().find([one.document.text]))

    def problems(self, jobs):
        """Return all that is wrong, once no worker is at work."""
        wrong = [fault for job in jobs for fault in self.job_problems(job)]
        with self.installation.services() as services:
            parts = TextParts(services)
            with services.databases.reader.connect() as connection:
                left = parts.texts.unfinished_jobs(connection)
                left |= parts.spans.unfinished_jobs(connection)
            entries = services.ledger.export()
        begun = [one for one in entries if "text.begin" in str(one)]
        wrong += [f"{job}: left something unfinished" for job in left]
        if len(begun) != len(self.made):
            wrong.append(f"{len(begun)} entries of {len(self.made)} jobs")
        return wrong + problems(self.installation)


@pytest.fixture(params=gate_first(1, ["sqlite", "postgresql"]))
def installation(request, tmp_path):
    shared = request.param == "postgresql"
    url = request.getfixturevalue("empty_database") if shared else ""
    made = ImportingInstallation(tmp_path, url=url).create()
    made.load()
    return made


def test_a_worker_that_is_killed_anywhere_leaves_texts_that_are_whole_once(
    nursery, installation
):
    kills = rounds(100, 4)
    findings = run_job_kills(nursery, installation, kills, submitter_type=TextSubmitter)
    assert findings.wrong == []
    assert findings.states == {"done": kills}


@dataclass
class PipelineSubmitter(JobSubmitter):
    """Submits the reading of a gold standard, a training on it, and a pipeline."""

    made: dict = field(default_factory=dict)

    def submit(self):
        """Queue what comes next: each three are of one name."""
        number, step = divmod(len(self.made), 3)
        name, folder = f"g{number}", self.installation.folder
        if step == 0:
            path = write_gold(folder, range(60), name=name)
            kind, told = "text.read", {"declaration": str(path)}
        elif step == 1:
            kind = "text.train"
            told = {"population": "people", "model": name, "gold": name, "spec": QUICK}
        else:
            write_notes(folder, range(NOTES), name="notes")
            declared = json.loads((folder / "notes.yaml").read_text())
            source = json.dumps(declared["source"])
            path = write_pipeline(folder, collection=f"n{number}", models=f"[{name}]")
            path.write_text(f"source: {source}\n{path.read_text()}")
            kind, told = "text.pipeline", {"pipeline": str(path)}
        with self.service() as service:
            job = service.submit(OPERATOR, kind, told)["id"]
        self.made[job] = name, kind
        return job

    def job_problems(self, job):
        """Return what is wrong with a job that has ended."""
        name, kind = self.made[job]
        seen = self.look(job)
        if seen["state"] != "done":
            return [f"{job}: {kind} {seen['state']}, {seen['error']}"]
        if kind == "text.pipeline":
            return self._pipeline_problems(job, seen)
        with self.installation.services() as services:
            parts = TextParts(services)
            if kind == "text.read":
                found = parts.collection("people", name)
                spans = [one.spans for one in parts.annotated(found.id, GOLD)]
                is_whole = [len(one) for one in spans] == [4] * 60
                return [] if is_whole else [f"{job}: not what was marked"]
            with services.databases.reader.connect() as connection:
                row = parts.models.row(connection, "people", name)
                model = parts.models.model(connection, row.id)
        found = next(model.finder().find([made_note(999)[0]]))
        return [] if len(found) >= 3 else [f"{job}: its model finds {found}"]

    def _pipeline_problems(self, job, seen):
        wrong = []
        if len(self.snapshots_of(job)) != 1:
            wrong.append(f"{job}: loaded {self.snapshots_of(job)}")
        if seen["result"]["texts"]["rows"] != NOTES:
            wrong.append(f"{job}: {seen['result']}")
        origins = select(text_origin.c.row).where(
            text_origin.c.job == job, text_origin.c.column == "patient_id"
        )
        with (
            self.installation.services() as services,
            services.databases.reader.connect() as connection,
        ):
            rows = sorted(connection.execute(origins).scalars())
        if rows != list(range(1, NOTES + 1)):
            wrong.append(f"{job}: origins are not of each row once")
        table = self.installation.data / "texts" / job / "table.csv"
        if len(table.read_text().splitlines()) != NOTES + 1:
            wrong.append(f"{job}: the table is not whole")
        return wrong

    def problems(self, jobs):
        """Return all that is wrong, once no worker is at work."""
        wrong = [fault for job in jobs for fault in self.job_problems(job)]
        with self.installation.services() as services:
            parts = TextParts(services)
            with services.databases.reader.connect() as connection:
                left = parts.texts.unfinished_jobs(connection)
                left |= parts.spans.unfinished_jobs(connection)
        wrong += [f"{job}: left something unfinished" for job in left]
        return wrong + problems(self.installation)


@pytest.mark.long
def test_a_worker_killed_while_it_trains_or_runs_a_pipeline_makes_each_thing_once(
    nursery, installation
):
    kills = rounds(100, 4)
    findings = run_job_kills(
        nursery, installation, kills, submitter_type=PipelineSubmitter
    )
    assert findings.wrong == []
    assert findings.states == {"done": kills}
