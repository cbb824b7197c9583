import pytest

from tests.ledger_desk import Desk


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.databases.close()


@pytest.fixture
def ledger(desk):
    return desk.create()
