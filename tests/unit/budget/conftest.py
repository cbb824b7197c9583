import pytest

from tests.support.installations.stored_ledgers import (
    PostgresStoredLedger,
    StoredLedger,
)


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request, tmp_path):
    """A stored ledger on each database in turn."""
    if request.param == "sqlite":
        stored = StoredLedger(tmp_path)
    else:
        url = request.getfixturevalue("empty_database")
        stored = PostgresStoredLedger(tmp_path, request.getfixturevalue("cluster"), url)
    yield stored
    stored.databases.close()


@pytest.fixture
def sqlite_stored(tmp_path):
    stored = StoredLedger(tmp_path)
    yield stored
    stored.databases.close()


@pytest.fixture
def ledger(stored):
    return stored.create()
