import gc
import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from fastapi.utils import create_model_field
from hypothesis import HealthCheck, settings

from tests.support import parsers
from tests.support.installations import replies
from tests.support.installations.clusters import Cluster, MissingPostgresError
from tests.support.installations.remembered import remember_in

ROOT = Path(__file__).resolve().parents[1]

SAMPLE = 2  # cases of a test that are not long, where its mark tells no number

# A busy machine is no fault of what is tested: no property is judged by the clock.
settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

# What is printed is as long as a line of the terminal; workers of pytest-xdist are told
# that they have one of 80 characters, and tests read whole lines.
os.environ.pop("COLUMNS", None)

# What is collected stays until the end: looked through again and again for garbage, it
# took half of the time of collecting.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in what ships alone: no docstring of a test has any."""
    return [found for found in (yield) if type(found) is pytest.Module]


@pytest.hookimpl(tryfirst=True)  # before cases are chosen by their marks
def pytest_collection_modifyitems(items):
    met = Counter()
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            function = item.nodeid.partition("[")[0]
            met[function] += 1
            if met[function] > (mark.args[0] if mark.args else SAMPLE):
                item.add_marker("long")


def pytest_collection_finish():
    gc.freeze()  # items and modules stay: no collection need look through them
    gc.enable()


def pytest_unconfigure():
    gc.unfreeze()  # or modules in C complain of leaks at the very end


@pytest.fixture(scope="session")
def test_data():
    """The folder of public test data; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("CURATOR_TEST_DATA", ROOT / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}: set CURATOR_TEST_DATA")
    return folder.resolve()


@pytest.fixture(scope="session", autouse=True)
def _remembered_installations(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    remember_in(run / "installations")


@pytest.fixture(scope="session", autouse=True)
def _started_quickly():
    """Let servers of this process share what takes them half of the time to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("server.web.ParserPool", parsers.LastingPool)
        patch.setattr("fastapi.routing.create_model_field", cache(create_model_field))
        yield
        parsers.end_children()


@pytest.fixture(scope="session", autouse=True)
def _collected_replies():
    with pytest.MonkeyPatch.context() as patch:
        replies.collect(patch)
        yield


@pytest.fixture(autouse=True)
def _replies_are_as_described(_collected_replies):
    yield
    replies.check_collected()


@pytest.fixture(scope="session")
def cluster():
    """A throwaway PostgreSQL; tests that need it skip where there are no binaries."""
    cluster = Cluster()
    try:
        cluster.create()
    except MissingPostgresError:
        pytest.skip("SKIPPED POSTGRESQL: install it (Debian: apt install postgresql)")
    yield cluster
    cluster.close()


@pytest.fixture
def empty_database(cluster):
    """The URL of a database without tables."""
    return cluster.emptied()
