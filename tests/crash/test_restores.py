"""L12: no going back. A restored, cloned or strange ledger is not served."""

import json
import shutil

import pytest

from privacy.errors import AnchorMismatchError
from server.use_cases.custody.people import PeopleService
from tests.crash.instruments.books import charges, database, problems, settle, spent
from tests.crash.instruments.processes import becomes, lines, question
from tests.support.installations.harness import Installation

pytestmark = pytest.mark.thorough
EPSILON = 1_000_000_000
PEOPLE = "population:people"


def copy_of(installation, target):
    """Copy data and anchor, as somebody does who stopped everything first."""
    for part in ("data", "anchor"):
        shutil.copytree(installation.folder / part, target / part)
    return Installation(target)


def put_back(backup, installation):
    """Restore the data directory of a backup; the anchor is elsewhere."""
    shutil.rmtree(installation.data)
    shutil.copytree(backup.data, installation.data)


def ask_times(nursery, installation, key, count, epsilon="1"):
    with nursery.serving(installation) as server, lines(server.port, key, 1) as (line,):
        bodies = [line.ask(question(epsilon)) for _ in range(count)]
    assert [response.status for response in bodies] == [200] * count


def assert_refused(installation):
    """Serve and load refuse, and change nothing."""
    manifest = installation.write_manifest(dataset="later")
    before = sorted(charges(installation).items())
    for command in (("serve", "--port", "0"), ("dataset", "load", str(manifest))):
        done = installation.curator(*command)
        assert done.returncode == 1, (command, done.stderr)
        assert "anchor" in done.stderr, command
        assert "Traceback" not in done.stderr
    assert sorted(charges(installation).items()) == before


def reconcile(installation):
    done = installation.curator("ledger", "reconcile", "--reason", "a test", "--json")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def pair(nursery, tmp_path_factory):
    """An installation, its backup from before two more answers, and the key."""
    made = Installation(tmp_path_factory.mktemp("made")).create()
    made.load()
    key = made.analyst()
    ask_times(nursery, made, key, 3)
    backup = copy_of(made, tmp_path_factory.mktemp("backup"))
    ask_times(nursery, made, key, 2)
    return made, backup, key


@pytest.fixture
def backed_up(pair, tmp_path):
    """An installation and its backup; both are copies that a test may spoil."""
    for name in ("live", "backup"):
        (tmp_path / name).mkdir()
    made, backup, _ = pair
    return copy_of(made, tmp_path / "live"), copy_of(backup, tmp_path / "backup")


@pytest.fixture
def asker(pair):
    """The key of whoever asked."""
    return pair[2]


def test_a_restored_backup_is_refused_until_reconciled_and_then_pays(
    nursery, backed_up, asker
):
    installation, backup = backed_up
    put_back(backup, installation)
    assert spent(installation, PEOPLE) == 3 * EPSILON
    assert_refused(installation)
    assert installation.curator("ledger", "verify").returncode == 1
    reconcile(installation)
    assert problems(installation) == []
    assert spent(installation, PEOPLE) == 5 * EPSILON
    with installation.services() as services:
        fresh = PeopleService(services, "local:test").create_key("ada")["key"]
    with nursery.serving(installation) as server:
        for token, status in ((asker, 401), (fresh, 200)):
            with lines(server.port, token, 1) as (line,):
                assert line.ask().status == status
    assert spent(installation, PEOPLE) == 6 * EPSILON


def test_a_backup_put_back_under_a_running_server_stops_its_service(
    nursery, backed_up, asker
):
    installation, backup = backed_up
    with (
        nursery.serving(installation) as server,
        lines(server.port, asker, 2) as (
            one,
            two,
        ),
    ):
        assert one.ask().status == 200
        with database(backup) as old, database(installation) as live:
            old.backup(live)
        before = sorted(charges(installation))
        for line in (one, two):
            response = line.ask()
            assert (response.status, response.json()["type"]) == (
                503,
                "anchor_mismatch",
            )
        assert becomes(server.port, "/readyz", 503)
        assert sorted(charges(installation)) == before


def test_a_deleted_log_is_refused(nursery, installation, key):
    with database(installation) as held:
        held.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    server = nursery.start(installation)
    with lines(server.port, key, 1) as (line,):
        for _ in range(3):
            assert line.ask().status == 200
    server.kill()
    log = installation.data / "curator.sqlite-wal"
    assert log.stat().st_size > 0
    log.unlink()
    assert_refused(installation)


def test_a_database_that_lost_its_pages_is_refused_in_a_sentence(installation):
    path = installation.data / "curator.sqlite"
    for log in installation.data.glob("curator.sqlite-*"):
        log.unlink()
    path.write_bytes(path.read_bytes()[:8192])
    done = installation.curator("serve", "--port", "0")
    assert done.returncode == 1
    assert "refused" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_deleted_anchor_is_refused_and_reconcile_closes_the_population(
    nursery, backed_up
):
    installation, _ = backed_up
    installation.anchor.unlink()
    assert_refused(installation)
    assert installation.curator("ledger", "verify").returncode == 1
    done = installation.curator("init", "--single-custodian")
    assert done.returncode == 1
    assert not installation.anchor.exists()
    reconcile(installation)
    assert problems(installation) == []
    with installation.services() as services:
        fresh = PeopleService(services, "local:test").create_key("ada")["key"]
    with (
        nursery.serving(installation) as server,
        lines(server.port, fresh, 1) as (line,),
    ):
        assert line.ask().status == 402  # closed until the cap is raised again


def test_the_anchor_of_another_installation_is_refused(backed_up, tmp_path_factory):
    installation, _ = backed_up
    other = Installation(tmp_path_factory.mktemp("other"))
    other.initialise()
    other.load()
    shutil.copy(other.anchor, installation.anchor)
    assert_refused(installation)
    assert installation.curator("ledger", "verify").returncode == 1


def test_a_clone_with_its_own_data_cannot_share_the_anchor(
    nursery, backed_up, asker, tmp_path_factory
):
    installation, _ = backed_up
    clone = Installation(tmp_path_factory.mktemp("clone"))
    shutil.copytree(installation.data, clone.data)
    clone.anchor.parent.mkdir()
    clone.anchor.symlink_to(installation.anchor)
    with (
        nursery.serving(installation) as server,
        nursery.serving(clone) as twin,
        lines(server.port, asker, 1) as (line,),
        lines(twin.port, asker, 1) as (echo,),
    ):
        assert line.ask().status == 200
        assert echo.ask().json()["type"] == "anchor_mismatch"
        assert line.ask().status == 200
    assert spent(clone, PEOPLE) == 5 * EPSILON
    assert spent(installation, PEOPLE) == 7 * EPSILON


def test_a_second_server_on_the_same_ledger_does_not_start(nursery, installation, key):
    with nursery.serving(installation) as server, lines(server.port, key, 1) as (line,):
        done = installation.curator("serve", "--port", "0")
        assert done.returncode == 1
        assert "another server" in done.stderr
        assert line.ask().status == 200


def test_commands_beside_a_running_server_are_seen_by_its_next_request(
    nursery, installation, key
):
    with nursery.serving(installation) as server, lines(server.port, key, 1) as (line,):
        assert line.ask().status == 200
        line.reconnects = True  # a slow command outlives an idle connection
        done = installation.curator("population", "cap", "people", "1", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["remaining"] == "0"
        assert line.ask().status == 402
    settle(installation)
    assert problems(installation) == []


def test_a_whole_installation_may_be_moved_with_its_anchor(
    nursery, backed_up, asker, tmp_path_factory
):
    installation, _ = backed_up
    moved = copy_of(installation, tmp_path_factory.mktemp("moved"))
    ask_times(nursery, moved, asker, 1)
    assert problems(moved) == []


def test_a_mismatch_is_final_for_a_process(backed_up):
    installation, _ = backed_up
    with installation.services() as services:
        services.ledger.check()
        whole = installation.anchor.read_bytes()
        installation.anchor.write_bytes(bytes(len(whole)))
        with pytest.raises(AnchorMismatchError):
            services.ledger.refuse("ada", "forbidden", {})
        installation.anchor.write_bytes(whole)
        with pytest.raises(AnchorMismatchError):
            services.ledger.refuse("ada", "forbidden", {})
