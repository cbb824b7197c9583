"""One engine after the other, each with the hostile tables stored."""

import pytest

from tests.conformance.engines import ENGINES
from tests.conformance.hostile import TABLES
from tests.conformance.schema import DATASET


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request, tmp_path_factory):
    """An engine that holds every set of tables under the set's name."""
    started = ENGINES[request.param](tmp_path_factory.mktemp(request.param))
    for name, tables in TABLES.items():
        started.store(name, DATASET, tables)
    yield started
    started.close()
