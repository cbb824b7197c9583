"""A cube over the harness's table of visits, published for those who ask it."""

from mechanisms.samplers.vectors import OsVectorSampler
from tests.support.installations.publishing import Press

WARDS = {
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


def publish(installation, sampler=OsVectorSampler, **spec):
    """Publish a cube; return the job's result, with the id under ``release``."""
    ended = Press(installation, sampler).publish({**WARDS, **spec})
    assert ended["state"] == "done", ended
    return ended["result"]
