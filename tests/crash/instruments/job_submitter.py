"""Jobs in tests: submitted, waited for, and held against the books."""

import contextlib
import json
import time
from dataclasses import dataclass

from server.bootstrap import make_jobs
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.jobs.store import ENDED
from tests.crash.instruments.books import problems
from tests.crash.instruments.processes import Nursery
from tests.support.installations.harness import DEFAULT_ROWS, ImportingInstallation

LEASE = {"lease_ms": 1_200, "beat_seconds": 0.2}
WAIT_SECONDS = 120
OPERATOR = Viewer("local:test", None)


@dataclass
class JobSubmitter:
    """Submits loads to an installation, and starts workers for it."""

    nursery: Nursery
    installation: ImportingInstallation

    @contextlib.contextmanager
    def service(self):
        with self.installation.services() as services:
            yield make_jobs(services)

    def submit(self, rows=DEFAULT_ROWS, **more):
        """Queue the load of a fresh manifest."""
        return self.submit_manifest(self.installation.write_manifest(rows, **more))

    def submit_manifest(self, path):
        with self.service() as service:
            told = {"manifest": str(path)}
            return service.submit(OPERATOR, "dataset.load", told)["id"]

    def look(self, job):
        with self.service() as service:
            return service.show(OPERATOR, job)

    def cancel(self, job):
        with self.service() as service:
            return service.cancel(OPERATOR, job)

    def wait(self, job, until=lambda seen: seen["state"] in ENDED):
        """Return a job once it has ended, or is as wanted; and how it was meanwhile."""
        seen = []
        deadline = time.monotonic() + WAIT_SECONDS
        with self.service() as service:
            while time.monotonic() < deadline:
                seen.append(service.show(OPERATOR, job))
                if until(seen[-1]) or seen[-1]["state"] in ENDED:
                    return seen[-1], seen
                time.sleep(0.02)
        message = f"the job did not end: {seen[-1]}"
        raise TimeoutError(message)

    def worker(self):
        return self.nursery.start_worker(self.installation, **LEASE)

    @contextlib.contextmanager
    def working(self):
        """Have a worker for the length of a block."""
        worker = self.worker()
        try:
            yield worker
        finally:
            worker.kill()

    def snapshots_of(self, job):
        """Return the snapshots that a job's chain entries name."""
        rows = self._rows("SELECT body FROM chain WHERE kind = 'admin'")
        facts = [json.loads(body)["facts"] for (body,) in rows]
        loads = [one for one in facts if "snapshot" in one]
        return [one["snapshot"] for one in loads if one.get("job") == job]

    def _rows(self, sql):
        with (
            self.installation.services() as services,
            services.databases.reader.connect() as connection,
        ):
            return connection.exec_driver_sql(sql).all()

    def job_problems(self, job):
        """Return what is wrong with a job that has ended."""
        seen, snapshots = self.look(job), self.snapshots_of(job)
        if seen["state"] == "done":
            outputs = [one["snapshot"] for one in seen["lineage"]["outputs"]]
            once = len(snapshots) == 1
            if once and [seen["result"]["snapshot"]] == outputs == snapshots:
                return []
        elif seen["state"] == "cancelled" and snapshots == []:
            return []
        return [f"{job}: {seen['state']}, {seen['error']}, entries {snapshots}"]

    def file_problems(self):
        """Return what is wrong with the files, once no worker is at work."""
        rows = self._rows("SELECT id FROM snapshot")
        named = {f"{name}.duckdb" for (name,) in rows}
        found = {path.name for path in (self.installation.data / "snapshots").iterdir()}
        return sorted(f"{name}: stray or lost" for name in named ^ found)

    def problems(self, jobs):
        """Return all that is wrong, once no worker is at work."""
        wrong = [fault for job in jobs for fault in self.job_problems(job)]
        return wrong + self.file_problems() + problems(self.installation)
