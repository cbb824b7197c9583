"""One clinic and one demo hospital, each on a server of its own, for all tests here."""

import uuid

import pytest

from server.configuration.settings import Settings
from server.demo.hospital import write_hospital
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.noise.samplers import ZeroSampler

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
def served_hospital(tmp_path_factory):
    """Serve a small demo hospital, noise and all; yield it and its URL."""
    folder = tmp_path_factory.mktemp("hospital")
    made = Installation(folder, permits=Settings.model_fields["permits"].default)
    made.create()  # questions may cost what they may where a reader asks them
    made.load_manifest(write_hospital(folder / "files", HOSPITAL_PATIENTS))
    with serve_in_thread(made) as url:
        yield made, url


@pytest.fixture
def hospital(served_hospital):
    """Return the hospital's URL, and the key of a new project of the demo's size."""
    made, url = served_hospital
    name = f"a{uuid.uuid4().hex}"
    key = made.analyst(name, f"p_{name}", dataset="hospital", allotment="5")
    return url, key
