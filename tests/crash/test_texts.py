"""Jobs about texts survive the death of their workers, and store all once."""

from dataclasses import dataclass, field

import pytest

from server.use_cases.extraction.work import TextParts
from tests.crash.instruments.books import problems
from tests.crash.instruments.job_kills import run_job_kills
from tests.crash.instruments.job_submitter import OPERATOR, JobSubmitter
from tests.effort import gate_first, rounds
from tests.support.data.notes import made_note, write_notes
from tests.support.installations.harness import ImportingInstallation

pytestmark = pytest.mark.thorough
NOTES = 400


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
        if texts != [made_note(number)[0] for number in range(NOTES)]:
            return [f"{job}: {len(stored)} documents are not what was read"]
        if kind == "text.tag" and not all(self._is_tagged(one) for one in stored):
            return [f"{job}: spans are not what is found"]
        return []

    def _is_tagged(self, one):
        """Whether a note has its spans once: its date, and its age, as rules see it."""
        found = [(span.start, span.end) for span in one.spans]
        return len(found) == len(set(found)) and len(found) >= 1

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
