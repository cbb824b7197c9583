"""One clinic and one demo hospital, each on a server of its own, for all tests here."""

import pytest

from server.demo.hospital import write_hospital
from tests.harness import Installation, serve_in_thread
from tests.samplers import ZeroSampler

HOSPITAL_PATIENTS = 1_000


@pytest.fixture(scope="session")
def installation(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("client")).create()
    made.load()
    return made


@pytest.fixture(scope="session")
def key(installation):
    return installation.analyst()


@pytest.fixture(scope="session")
def url(installation, key):
    """Serve without noise, so that what is shown can be known."""
    with serve_in_thread(installation, ZeroSampler) as url:
        yield url


@pytest.fixture(scope="session")
def hospital(tmp_path_factory):
    """Serve a small demo hospital, noise and all; yield its URL and a key."""
    folder = tmp_path_factory.mktemp("hospital")
    made = Installation(folder).create()
    made.load_manifest(write_hospital(folder / "files", HOSPITAL_PATIENTS))
    key = made.analyst(project="demo", dataset="hospital", allotment="5")
    with serve_in_thread(made) as url:
        yield url, key
