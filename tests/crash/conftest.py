import pytest

from tests.crash.instruments.processes import Nursery
from tests.support.installations.harness import Installation


@pytest.fixture(scope="session")
def nursery():
    return Nursery()


@pytest.fixture
def installation(tmp_path):
    """A filled installation; ``key`` is its analyst's."""
    installation = Installation(tmp_path).create()
    installation.load()
    return installation


@pytest.fixture
def key(installation):
    return installation.analyst()
