"""Jobs about texts, submitted and run in the test's own process."""

import json
import threading

from sqlalchemy import select

from budget.storage.tables import chain
from server.bootstrap import make_jobs, make_runner
from server.use_cases.extraction.work import TextParts
from server.use_cases.jobs.jobs import Viewer

OPERATOR = Viewer("local:test", None)


class Texts:
    """Submits jobs about texts, and runs them here."""

    def __init__(self, installation, services):
        self.installation = installation
        self.services = services
        self.jobs = make_jobs(services)

    @property
    def folder(self):
        return self.installation.folder

    def submit(self, kind, viewer=OPERATOR, **told):
        return self.jobs.submit(viewer, kind, told)["id"]

    def run(self, kind, **told):
        """Return a job that was run to its end."""
        job = self.submit(kind, **told)
        self.work()
        return self.jobs.show(OPERATOR, job)

    def done(self, kind, **told):
        """Return the result of a job that is done."""
        seen = self.run(kind, **told)
        assert seen["state"] == "done", seen["error"]
        return seen["result"]

    def work(self):
        runner = make_runner(self.services, threading.Event(), beat_seconds=0.05)
        while runner.run_one():
            pass

    def read(self, path):
        return self.done("text.read", declaration=str(path))

    def parts(self):
        return TextParts(self.services)

    def entries(self):
        with self.services.databases.reader.connect() as connection:
            bodies = connection.execute(select(chain.c.body).order_by(chain.c.seq))
            told = [json.loads(body) for body in bodies.scalars()]
        return [one for one in told if one.get("action") == "text.begin"]
