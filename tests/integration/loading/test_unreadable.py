"""A damaged snapshot takes its dataset away and no other; no question of it is paid."""

import pytest

from budget.ledger import Scope
from privacy.errors import LedgerUnavailableError
from server.bootstrap import RECORDED_TABLES
from server.use_cases.custody.projects import ProjectService
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.questions.asking.executing import Executing
from server.use_cases.services.errors import (
    CommandRefusedError,
    DatasetUnavailableError,
)
from server.use_cases.services.unreadable import NoDatasetReadableError
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import Press, spec

pytestmark = pytest.mark.long


class World:
    """Two datasets of one population; ``damage`` spoils the file of the first."""

    def __init__(self, folder):
        self.made = Installation(folder).create()
        self.snapshots = {
            name: self.made.load(dataset=name) for name in ("clinic", "annex")
        }
        self.key = self.made.analyst()
        with self.made.services() as services:
            ProjectService(services, "local:test").grant_dataset("study", "annex")

    def file(self, dataset):
        return self.made.data / "snapshots" / f"{self.snapshots[dataset]}.duckdb"

    def spent(self):
        with self.made.services() as services:
            return str(services.ledger.spent(Scope.population("people")))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.mark.parametrize("how", ["damaged", "missing"])
def test_the_other_datasets_are_served(world, how):
    file = world.file("clinic")
    kept = file.read_bytes()
    if how == "damaged":
        file.write_bytes(kept[: len(kept) // 3])
    else:
        file.unlink()
    with serve_in_thread(world.made) as url, client(url, world.key) as http:
        ready = http.get("/readyz")
        assert ready.json() == {"status": "ok", "unavailable_datasets": 1}
        body = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}
        assert http.post("/v1/datasets/clinic/plan", json=body).status_code == 200
        refused = ask(http)
        assert refused.status_code == 503
        assert refused.json()["type"] == "dataset_unavailable"
        assert refused.headers["retry-after"]
        assert world.spent() == "0"
        assert ask(http, dataset="annex").status_code == 200
    file.write_bytes(kept)
    with serve_in_thread(world.made) as url, client(url, world.key) as http:
        assert http.get("/readyz").json() == {"status": "ok"}
        assert ask(http).status_code == 200


def test_a_file_that_comes_back_is_seen_and_one_that_is_new(world):
    file = world.file("clinic")
    kept = file.read_bytes()
    file.write_bytes(b"damaged")
    with world.made.services() as services:
        services.unreadable.look()
        assert services.unreadable.all() == {world.snapshots["clinic"]}
        file.write_bytes(kept)
        services.unreadable.look()
        assert services.unreadable.all() == frozenset()
        world.made.load()
        file.unlink()  # it is asked no more
        services.unreadable.look()
        assert services.unreadable.all() == frozenset()
        assert services.unreadable.datasets() == 0


@pytest.mark.parametrize("how", ["lost", "cut", "replaced"])
def test_a_file_that_is_lost_while_the_server_is_up_is_noticed(world, how):
    file, old = world.file("clinic"), world.snapshots["clinic"]
    kept = file.read_bytes()
    with world.made.services() as services:
        services.unreadable.look()
        assert services.unreadable.all() == frozenset()
        if how == "replaced":
            beside = file.with_suffix(".new")
            beside.write_bytes(bytes(len(kept)))
            beside.replace(file)
        elif how == "cut":
            file.write_bytes(kept[:100])
        else:
            file.unlink()
        services.unreadable.look()
        assert services.unreadable.all() == {old}
        assert services.unreadable.datasets() == 1
        with pytest.raises(DatasetUnavailableError):
            services.unreadable.require(old)
        file.write_bytes(kept)
        services.unreadable.look()
        assert services.unreadable.all() == frozenset()


def charged_and_lost(world, monkeypatch):
    """Leave a charged question without an end, and its file missing; return both."""
    with monkeypatch.context() as patch:
        patch.setattr(Executing, "compute", stopped)
        with (
            serve_in_thread(world.made) as url,
            client(url, world.key) as http,
        ):
            assert ask(http).status_code == 503
    file = world.file("clinic")
    return file, file.rename(file.parent.parent / "aside")


def stopped(*_):
    """Return what is computed where the executors stop: nothing was drawn."""
    return LedgerUnavailableError("the executors stop")


def test_what_was_charged_waits_after_another_load_too(world, monkeypatch):
    file, aside = charged_and_lost(world, monkeypatch)
    world.made.load()  # what the operator is told to do
    told = world.made.curator("doctor").stdout
    assert f"snapshot remove {world.snapshots['clinic']}'" in told
    with world.made.services() as services:
        services.unreadable.look()
        old = world.snapshots["clinic"]
        assert services.unreadable.all() == {old}
        assert services.unreadable.datasets() == 0
        services.ledger.open(RECORDED_TABLES)
        assert services.ledger.take_up(services.unreadable.all()) == ([], [])
        aside.rename(file)
        services.unreadable.look()
        assert services.unreadable.all() == frozenset()
        assert len(services.ledger.take_up(services.unreadable.all())[0]) == 1


def test_removing_the_snapshot_lets_them_fail(world, monkeypatch):
    charged_and_lost(world, monkeypatch)
    world.made.load()
    old = world.snapshots["clinic"]
    with world.made.services() as services:
        SnapshotService(services, "local:test").remove(old)
        services.unreadable.look()
        assert services.unreadable.all() == frozenset()


def test_a_snapshot_that_can_be_read_is_not_removed_under_them(world, monkeypatch):
    file, aside = charged_and_lost(world, monkeypatch)
    aside.rename(file)
    world.made.load()
    with world.made.services() as services:
        service = SnapshotService(services, "local:test")
        with pytest.raises(CommandRefusedError, match="are being answered"):
            service.remove(world.snapshots["clinic"])


def test_where_no_dataset_can_be_read_nothing_is_served(world):
    for dataset in world.snapshots:
        world.file(dataset).write_bytes(b"damaged")
    with world.made.services() as services:
        with pytest.raises(NoDatasetReadableError, match="'annex' is missing or dama"):
            services.unreadable.look()
        assert services.unreadable.all() == set(world.snapshots.values())


def test_a_release_of_it_is_not_charged(world):
    world.file("clinic").write_bytes(b"damaged")
    done = Press(world.made).publish(spec())
    assert done["state"] == "failed"
    assert "nothing was charged" in done["error"]
    assert world.spent() == "0"
