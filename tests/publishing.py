"""Publishing releases in tests: real jobs, on real installations."""

import threading

from mechanisms.vector_samplers import OsVectorSampler
from server.bootstrap import make_jobs, make_runner, make_services
from server.use_cases.jobs import Viewer

VISITS = {
    "name": "wards",
    "dataset": "clinic",
    "kind": "cube",
    "strategy": "cells",
    "dimensions": [
        {"column": "sex"},
        {"column": "age", "bands": 10},
        {"column": "ward"},
        {"column": "day", "name": "month", "level": "month"},
    ],
    "from": "visits",
    "count": "rows",
    "epsilon": "1",
    "readers": [{"project": "study"}],
}
"""A cube over the harness's table."""


def publish(installation, sampler=OsVectorSampler, **spec):
    """Publish a cube; return the job's result, with the id under ``release``."""
    services = make_services(installation.settings, vector_sampler_factory=sampler)
    try:
        jobs, viewer = make_jobs(services), Viewer("local:test", None)
        given = {"release": {**VISITS, **spec}}
        job = jobs.submit(viewer, "release.publish", given)["id"]
        runner = make_runner(services, threading.Event(), beat_seconds=0.05)
        while runner.run_one():
            pass
        ended = jobs.show(viewer, job)
        assert ended["state"] == "done", ended
        return ended["result"]
    finally:
        services.engine.close()
        services.databases.close()
