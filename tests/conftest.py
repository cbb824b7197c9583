import os
from pathlib import Path

import pytest

from tests.support.installations import replies
from tests.support.installations.clusters import Cluster, MissingPostgresError
from tests.support.installations.remembered import remember_in

ROOT = Path(__file__).resolve().parents[1]


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
