"""Releases in tests: submitted, run here, and looked at."""

import contextlib
import threading
from dataclasses import dataclass

import pytest

from mechanisms.samplers.vectors import OsVectorSampler
from server.bootstrap import make_jobs, make_runner, make_services
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.publishing import job as at_work
from server.use_cases.publishing.planner import ReleasePlanner
from server.use_cases.publishing.releases import ReleaseService

OPERATOR = Viewer("local:test", None)
SEX_BY_AGE = [{"column": "sex"}, {"column": "age", "bands": 10}]


def spec(name="visitors", **more):
    """Return a spec over the test's table of visits."""
    plain = {
        "name": name,
        "dataset": "clinic",
        "kind": "cube",
        "strategy": "cells",
        "from": "visits",
        "count": "units",
        "dimensions": SEX_BY_AGE,
        "epsilon": "0.5",
    }
    return {**plain, **more}


def paths(name="paths", **more):
    """Return a spec of sequences over the test's table of visits."""
    plain = {
        "name": name,
        "dataset": "clinic",
        "kind": "sequences",
        "strategy": "prefix_tree",
        "from": "visits",
        "order": "day",
        "symbol": {"column": "ward"},
        "max_length": 3,
        "epsilon": "0.5",
    }
    return {key: value for key, value in {**plain, **more}.items() if value is not None}


@dataclass
class Press:
    """Publishes in this process, from one installation."""

    installation: object
    sampler: object = OsVectorSampler

    @contextlib.contextmanager
    def services(self):
        services = make_services(
            self.installation.settings, vector_sampler_factory=self.sampler
        )
        try:
            yield services
        finally:
            services.engine.close()
            services.databases.close()

    @contextlib.contextmanager
    def service(self):
        with self.services() as services:
            yield ReleaseService(services)

    @contextlib.contextmanager
    def planner(self):
        with self.services() as services:
            yield ReleasePlanner(services)

    def submit(self, told=None, viewer=OPERATOR):
        """Queue the job of a spec; return its id."""
        with self.services() as services:
            given = {"release": told or spec()}
            return make_jobs(services).submit(viewer, "release.publish", given)["id"]

    def run(self, job, viewer=OPERATOR):
        """Run a job here, and return what became of it."""
        with self.services() as services:
            make_runner(services, threading.Event(), beat_seconds=0.05).run_one(job)
            return make_jobs(services).show(viewer, job)

    def publish(self, told=None, viewer=OPERATOR):
        """Publish a release; return what became of its job."""
        return self.run(self.submit(told, viewer), viewer)

    def publish_unseen(self, told=None):
        """Publish a release that readers see in an hour; its job does not wait for it.

        So it is where clocks of servers differ.
        """
        before = self.installation.release_slot_s
        self.installation.release_slot_s = 3_600
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(at_work, "wait_until", lambda *_: None)
                return self.publish(told)
        finally:
            self.installation.release_slot_s = before

    def folders(self):
        """Return the folders of releases, also of those in the making."""
        root = self.installation.settings.releases
        return sorted(root.iterdir()) if root.is_dir() else []
