import stat

import pytest

from server.persistence.schema import RECORDED_TABLES
from server.use_cases.services.errors import CommandRefusedError
from tests.crash.instruments.disks import small_disk
from tests.support.installations.harness import Installation


def test_init_makes_data_and_anchor_for_their_owner_alone(bare):
    made = bare.json("init", "--single-custodian")
    installation = bare.installation
    assert made["single_custodian"] == "true"
    assert made["data"] == str(installation.data)
    for path in (installation.data / "secret.key", installation.anchor):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(installation.data.stat().st_mode) == 0o700
    assert bare.json("ledger", "verify")["ok"]


def test_init_warns_of_an_anchor_on_the_device_of_the_data(bare):
    done = bare.run("init", "--single-custodian")
    assert "same device" in done.stderr
    assert "anchor_on_same_device: true" in done.stdout


@pytest.mark.parametrize("size_bytes", [4_096, 65_536])
def test_init_on_a_disk_too_small_for_the_anchor_is_refused_and_done_later(
    bare, size_bytes
):
    folder = bare.installation.anchor.parent
    with small_disk(folder, size_bytes):
        said = bare.said("init", "--single-custodian")
        assert "the anchor cannot be written" in said
        assert "1 MiB free" in said
    bare.run("init", "--single-custodian")
    assert bare.json("ledger", "verify")["ok"]


def test_init_never_shows_the_secret(bare):
    done = bare.run("init", "--single-custodian", "--json")
    secret = (bare.installation.data / "secret.key").read_text().strip()
    assert len(secret) == 64
    assert secret not in done.stdout + done.stderr


def test_init_refuses_where_a_ledger_exists(curator):
    curator.installation.anchor.unlink()
    before = (curator.installation.data / "secret.key").read_bytes()
    assert "a ledger exists" in curator.said("init", "--single-custodian")
    assert not curator.installation.anchor.exists()
    assert (curator.installation.data / "secret.key").read_bytes() == before


def test_init_refuses_where_an_anchor_exists(bare):
    anchor = bare.installation.anchor
    anchor.parent.mkdir()
    anchor.write_bytes(b"of another ledger")
    assert "an anchor exists" in bare.said("init", "--single-custodian")
    assert anchor.read_bytes() == b"of another ledger"
    assert not bare.installation.data.exists()


def test_init_keeps_a_secret_that_is_already_there(bare):
    secret = bytes(range(32)).hex()
    bare.installation.data.mkdir()
    (bare.installation.data / "secret.key").write_text(secret)
    bare.run("init", "--single-custodian")
    assert (bare.installation.data / "secret.key").read_text() == secret


@pytest.mark.parametrize("secret", ["", "abc", "zz" * 32, "00" * 31])
def test_init_refuses_a_secret_that_is_none(bare, secret):
    bare.installation.data.mkdir()
    (bare.installation.data / "secret.key").write_text(secret)
    assert "secret.key" in bare.said("init", "--single-custodian")
    assert not bare.installation.anchor.exists()


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        ("ledger.dump", "set CURATOR_DATABASE_URL to an empty PostgreSQL database"),
        ("overlap/people.bin", "bring the ledger back from its backup"),
        ("snapshots/s_1.duckdb", "bring the ledger back from its backup"),
    ],
)
def test_files_without_their_ledger_get_no_new_one(bare, file, remedy):
    left = bare.installation.data / file
    left.parent.mkdir(parents=True)
    left.touch()
    assert remedy in bare.said("init", "--single-custodian")
    assert remedy in bare.said("serve", "--insecure-demo")
    assert not (bare.installation.data / "secret.key").exists()
    assert not bare.installation.anchor.exists()


@pytest.mark.parametrize(
    "command",
    [
        ("serve", "--insecure-demo", "--port", "0"),
        ("worker",),
        ("dataset", "load", "people.yaml"),
        ("principal", "create", "eve", "--role", "analyst"),
        ("key", "create", "ada"),
        ("ledger", "verify"),
        ("backup", "create", "backup.tar"),
    ],
)
@pytest.mark.parametrize(
    ("mark", "remedy"),
    [("ledger.dump", "curator ledger reconcile"), ("restoring", "backup restore")],
)
def test_nothing_goes_on_while_a_restore_has_not_ended(loaded, command, mark, remedy):
    """The database is there, and need not be the one that belongs to these files."""
    (loaded.installation.data / mark).mkdir(mode=0o700)
    before = loaded.installation.anchor.read_bytes()
    assert remedy in loaded.said(*command)
    assert loaded.installation.anchor.read_bytes() == before
    assert not loaded.installation.folder.joinpath("backup.tar").exists()


def test_a_stray_dump_beside_sqlite_is_never_deleted(loaded):
    dump = loaded.installation.data / "ledger.dump"
    dump.touch(mode=0o600)
    said = loaded.said("ledger", "reconcile", "--reason", "tidying up")
    assert "set CURATOR_DATABASE_URL" in said
    assert "move that file away" in said
    assert dump.exists()


@pytest.mark.parametrize(
    "command",
    [
        ("population", "show"),
        ("dataset", "list"),
        ("principal", "create", "ada", "--role", "analyst"),
        ("key", "list"),
        ("ledger", "verify"),
        ("serve",),
    ],
)
def test_without_an_installation_commands_say_what_to_run(bare, command):
    assert "run 'curator init' first" in bare.said(*command)
    assert not bare.installation.data.exists()


@pytest.mark.parametrize(
    "command",
    [("init", "--single-custodian"), ("ledger", "verify"), ("project", "list")],
)
def test_a_database_that_is_none_is_refused_in_a_sentence(curator, command):
    database = curator.installation.data / "curator.sqlite"
    database.write_bytes(b"no database" * 400)
    refused = curator.run(*command, code=1)
    assert "cannot be read" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.sampled
@pytest.mark.parametrize("cut", ["schema", "ledger", "anchor"])
def test_an_init_that_was_cut_off_can_be_run_again(tmp_path, monkeypatch, cut):
    installation = Installation(tmp_path)
    names = {
        "schema": "budget.ledger.Ledger.initialise",
        "ledger": "budget.chain.anchor.AnchorFile.create",
        "anchor": "budget.ledger.Ledger.recorded",
    }

    def die(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(names[cut], die)
        with pytest.raises(KeyboardInterrupt):
            installation.initialise()
    installation.initialise()
    with pytest.raises(CommandRefusedError):
        installation.initialise()
    installation.load()
    with installation.services() as services:
        assert services.ledger.verify(RECORDED_TABLES).ok
