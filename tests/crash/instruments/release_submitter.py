"""Releases published by workers that are killed, and held against the books."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from server.use_cases.publishing.job import release_id_of
from tests.crash.instruments.books import charges, problems
from tests.crash.instruments.job_submitter import OPERATOR, JobSubmitter
from tests.support.installations.publishing import paths, spec

_NUMBERS = count()


@dataclass
class ReleaseSubmitter(JobSubmitter):
    """Submits releases to an installation, and starts workers for it."""

    spec_of: Callable = spec

    def submit(self, spec_of=None, **more):
        """Queue a release of a name of its own."""
        spec_of = spec_of or self.spec_of
        with self.service() as service:
            told = {"release": spec_of(f"release_{next(_NUMBERS)}", **more)}
            return service.submit(OPERATOR, "release.publish", told)["id"]

    def states(self):
        """Return {id: (state, digest of the manifest)} of what was begun."""
        rows = self._rows("SELECT id, state, manifest_sha256 FROM publication")
        return {name: (state, digest) for name, state, digest in rows}

    def answered(self, job):
        """Return how often the chain says that a job's work was stored."""
        rows = self._rows("SELECT body FROM chain WHERE kind = 'answered'")
        return sum(f'"{job}"' in body for (body,) in rows)

    def job_problems(self, job):
        """Return where job, charge, release and chain tell different stories."""
        seen = self.look(job)["state"]
        charge = charges(self.installation).get(job, (None, 0))[0]
        release = self.states().get(release_id_of(job), (None, None))[0]
        story = (seen, charge, release, self.answered(job))
        known = {
            ("done", "answered", "published", 1),
            ("cancelled", None, None, 0),
            ("cancelled", "failed", "failed", 0),
        }
        return [] if story in known else [f"{job}: {story}"]

    def file_problems(self):
        """Return folders that nobody names, and names without a folder."""
        named = {
            f"{name}.{digest[:16]}"
            for name, (_, digest) in self.states().items()
            if digest is not None
        }
        root = self.installation.settings.releases
        found = {path.name for path in root.iterdir()} if root.is_dir() else set()
        return sorted(f"{name}: stray or lost" for name in named ^ found)

    def problems(self, jobs):
        """Return all that is wrong, once no worker is at work."""
        wrong = [fault for job in jobs for fault in self.job_problems(job)]
        return wrong + self.file_problems() + problems(self.installation)


@dataclass
class TreeSubmitter(ReleaseSubmitter):
    """Submits releases of sequences."""

    spec_of: Callable = paths
