import os

import pytest
from typer.testing import CliRunner

from server.configuration.settings import SettingsError, read_settings
from server.main import cli
from server.version import VERSION

COMMANDS = [
    ("init",),
    ("serve",),
    ("population", "show"),
    ("dataset", "list"),
    ("dataset", "load", "x.yaml"),
    ("project", "list"),
    ("principal", "disable", "ada"),
    ("principal", "enable", "ada"),
    ("key", "list"),
    ("ledger", "verify"),
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("CURATOR_DATA", "CURATOR_ANCHOR", "CURATOR_SETTINGS"):
        monkeypatch.delenv(name, raising=False)


def said(*command, environment=None):
    done = CliRunner().invoke(cli, command, env=environment or {})
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_settings_are_named_and_exit_with_2(command):
    sentence = said(*command)
    assert "CURATOR_DATA is not set" in sentence
    assert "CURATOR_ANCHOR is not set" in sentence


def test_an_anchor_inside_the_data_is_refused(tmp_path):
    environment = {
        "CURATOR_DATA": str(tmp_path / "data"),
        "CURATOR_ANCHOR": str(tmp_path / "data" / "a.anchor"),
    }
    assert "lies inside CURATOR_DATA" in said("init", environment=environment)
    assert not (tmp_path / "data").exists()


def test_a_key_of_texts_inside_the_data_is_refused(tmp_path):
    environment = {
        "CURATOR_DATA": str(tmp_path / "data"),
        "CURATOR_ANCHOR": str(tmp_path / "a.anchor"),
        "CURATOR_TEXT_KEY": str(tmp_path / "data" / "text.key"),
    }
    assert "with the texts that it encrypts" in said("init", environment=environment)


def test_an_anchor_inside_the_data_by_a_link_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "door").symlink_to(tmp_path / "data")
    environment = {
        "CURATOR_DATA": str(tmp_path / "data"),
        "CURATOR_ANCHOR": str(tmp_path / "door" / "a.anchor"),
    }
    assert "lies inside CURATOR_DATA" in said("init", environment=environment)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("SLOT_MS", "-1"),
        ("PERMITS", "0"),
        ("EXECUTORS", "many"),
        ("DATABASE_URL", "mysql://x/y"),
        ("DATABASE_URL", "postgresql://ada:pa55word@db:54x/books"),
        ("DATABASE_URL", "postgresql://ada:pa55word@db:99999/books"),
        ("DATABASE_URL", "postgresql://ada:pa55@word@db/books"),
        ("WORKERS", "2"),  # on SQLite
    ],
)
def test_settings_that_cannot_serve_are_named(tmp_path, name, value):
    environment = {
        "CURATOR_DATA": str(tmp_path / "data"),
        "CURATOR_ANCHOR": str(tmp_path / "a.anchor"),
        f"CURATOR_{name}": value,
    }
    sentence = said("init", environment=environment)
    assert f"CURATOR_{name}" in sentence
    assert "word@" not in sentence


def test_an_anchor_beside_the_database_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="beside the database"):
        read_settings(
            data=tmp_path / "data",
            anchor=tmp_path / "db" / "anchor",
            database_url=f"sqlite:///{tmp_path / 'db' / 'x.sqlite'}",
        )


def test_a_database_behind_a_link_is_the_one_it_leads_to(tmp_path):
    real, named = tmp_path / "real", tmp_path / "named"
    real.mkdir()
    named.mkdir()
    (named / "x.sqlite").symlink_to(real / "curator.sqlite")
    more = {"data": tmp_path / "d", "database_url": f"sqlite:///{named}/x.sqlite"}
    settings = read_settings(anchor=tmp_path / "a" / "a.anchor", **more)
    assert settings.lock_file == real / "curator.sqlite.server-lock"
    with pytest.raises(SettingsError, match="beside the database"):
        read_settings(anchor=real / "a.anchor", **more)


@pytest.mark.parametrize("name", ["curator.env", "mine.env"])
def test_settings_may_come_from_a_file(tmp_path, name):
    (tmp_path / name).write_text(
        f"CURATOR_DATA={tmp_path}/data\nCURATOR_ANCHOR={tmp_path}/a/a.anchor\n"
        "CURATOR_OF_A_LATER_VERSION=1\n"
    )
    environment = {"CURATOR_SETTINGS": name}
    done = CliRunner().invoke(cli, ["init", "--single-custodian"], env=environment)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "data/curator.sqlite").exists()


STRANGER = 54_321  # a user's number that nobody here has


@pytest.fixture
def planted(tmp_path):
    path = tmp_path / "curator.env"
    path.write_text(
        f"CURATOR_DATA={tmp_path}/d\nCURATOR_ANCHOR={tmp_path}/a/a.anchor\n"
    )
    return path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file away")
@pytest.mark.parametrize("is_link", [False, True])
def test_settings_that_a_stranger_left_here_are_refused(planted, is_link):
    if is_link:
        planted.rename(planted.with_name("real.env"))
        planted.symlink_to("real.env")
    os.chown(planted, STRANGER, -1, follow_symlinks=False)
    with pytest.raises(SettingsError, match="export CURATOR_SETTINGS="):
        read_settings()


def test_settings_that_anybody_may_write_are_refused(planted, monkeypatch):
    planted.chmod(0o646)
    done = CliRunner().invoke(cli, ["key", "list"])
    assert done.exit_code == 2
    assert "was written by another user, or can be" in done.output
    monkeypatch.setenv("CURATOR_SETTINGS", "curator.env")  # named, so wanted
    assert read_settings().data == planted.with_name("d")


def test_the_environment_wins_over_the_file(tmp_path):
    (tmp_path / "curator.env").write_text(
        f"CURATOR_DATA={tmp_path}/wrong\nCURATOR_ANCHOR={tmp_path}/a/a.anchor\n"
    )
    environment = {"CURATOR_DATA": f"{tmp_path}/right"}
    done = CliRunner().invoke(cli, ["init", "--single-custodian"], env=environment)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "right").exists()
    assert not (tmp_path / "wrong").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("nonsense",),
        ("population", "cap", "people"),
        ("population", "cap", "people", "x"),
        ("population", "cap", "people", "1.0000000001"),
        ("project", "create", "p"),
        ("project", "grant", "p"),
        ("project", "grant", "p", "--principal", "a", "--dataset", "d"),
        ("principal", "create", "ada"),
        ("ledger", "reconcile"),
    ],
)
def test_wrong_usage_exits_with_2(tmp_path, command):
    environment = {
        "CURATOR_DATA": str(tmp_path / "data"),
        "CURATOR_ANCHOR": str(tmp_path / "a.anchor"),
    }
    assert said(*command, environment=environment)


def test_the_version_is_said_without_settings():
    done = CliRunner().invoke(cli, ["--version"])
    assert done.exit_code == 0
    assert done.stdout == f"curator {VERSION}\n"
