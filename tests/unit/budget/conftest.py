import pytest

from tests.support.installations.ledger_desk import Desk, PostgresDesk


@pytest.fixture(params=["sqlite", "postgresql"])
def desk(request, tmp_path):
    """A ledger's desk on each database in turn."""
    if request.param == "sqlite":
        desk = Desk(tmp_path)
    else:
        url = request.getfixturevalue("empty_database")
        desk = PostgresDesk(tmp_path, request.getfixturevalue("cluster"), url)
    yield desk
    desk.databases.close()


@pytest.fixture
def sqlite_desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.databases.close()


@pytest.fixture
def ledger(desk):
    return desk.create()
