"""``curator serve`` refuses what is unsafe, and says what to type."""

import os
import socket

import pytest

from budget.storage.postgresql import unreachable
from budget.storage.process_lock import ProcessLock
from server.configuration.safety import (
    find_dangers,
    is_loopback,
    ledger_files,
    require_safe,
)
from server.configuration.settings import read_settings
from server.configuration.sources import (
    describe_settings,
    masked_url,
    unknown_variables,
)
from tests.support.installations.harness import Installation

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what must be refused


def refused(curator, monkeypatch, **variables):
    """Return the sentence with which serve refuses; it must end before it listens."""
    more = {f"CURATOR_{name}": value for name, value in variables.items()}
    together = {**curator.installation.environment, **more}
    monkeypatch.setattr(type(curator.installation), "environment", together)
    with socket.create_server(
        ("127.0.0.1", 0)
    ) as taken:  # else it would go on for ever
        return curator.said("serve", "--port", taken.getsockname()[1])


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o770, 0o755])
def test_a_data_directory_that_others_may_enter_is_refused(curator, monkeypatch, mode):
    data = curator.installation.data
    data.chmod(mode)
    assert f"type 'chmod 700 {data}'" in refused(curator, monkeypatch)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_secret_that_others_may_read_or_change_is_refused(curator, monkeypatch, mode):
    secret = curator.installation.data / "secret.key"
    secret.chmod(mode)
    assert f"type 'chmod 600 {secret}'" in refused(curator, monkeypatch)


def test_an_anchor_that_others_may_change_is_refused(curator, monkeypatch):
    curator.installation.anchor.chmod(0o620)
    said = refused(curator, monkeypatch)
    assert f"type 'chmod 600 {curator.installation.anchor}'" in said


LEDGER_FILES = [
    "data/curator.sqlite",
    "data/curator.sqlite-wal",
    "data/curator.sqlite-shm",
    "data/curator.sqlite-journal",
    "data/curator.sqlite.server-lock",
    "data/overlap/people.0123",
    "data/ledger.dump",
    "anchor/curator.anchor",
]


@pytest.mark.parametrize("name", LEDGER_FILES)
@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_of_the_ledger_that_others_may_read_is_refused(installation, name, mode):
    path = installation.create().folder / name
    path.touch(0o600)
    path.chmod(mode)
    (said,) = dangers(installation)
    assert said == f"others may read or change {path}: type 'chmod 600 {path}'"


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
def test_every_file_of_the_ledger_is_made_readable_by_its_owner_alone(
    tmp_path, monkeypatch
):
    outside = tmp_path / "elsewhere"
    outside.mkdir(mode=0o755)
    installation = Installation(tmp_path, url=f"sqlite:///{outside}/books.sqlite")
    installation.create().load()
    with ProcessLock(installation.settings.lock_file), installation.services() as open_:
        assert open_.ledger.check() is None
        found = {path for path in ledger_files(installation.settings) if path.exists()}
        assert {path.stat().st_mode & 0o777 for path in found} == {0o600}
        assert find_dangers(installation.settings) == []
    names = {path.name.partition(".")[2] or path.name for path in found}
    assert names >= {
        "sqlite", "sqlite-wal", "sqlite-shm", "sqlite.server-lock", "key", "anchor",
    }  # fmt: skip
    assert len([path for path in found if path.parent.name == "overlap"]) == 1


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.0.2.7", "curator.example"])
def test_plain_http_off_loopback_is_refused(curator, monkeypatch, host):
    said = refused(curator, monkeypatch, HOST=host)
    assert f"plain HTTP on {host}" in said
    assert "--trust-proxy" in said


def test_debug_logs_are_refused(curator, monkeypatch):
    said = refused(curator, monkeypatch, LOG_LEVEL="debug")
    assert "set CURATOR_LOG_LEVEL=info" in said


def test_every_danger_is_named_at_once(curator, monkeypatch):
    curator.installation.data.chmod(0o755)
    said = refused(curator, monkeypatch, HOST=EVERYWHERE)
    assert "chmod 700" in said
    assert "plain HTTP" in said
    assert "--insecure-demo" in said


def test_a_demo_may_be_insecure_and_its_dangers_are_returned(installation):
    installation.create()
    installation.data.chmod(0o755)
    settings = read_settings(
        data=installation.data, anchor=installation.anchor, insecure_demo=True
    )
    (danger,) = require_safe(settings)
    assert danger.what == f"others may read or change {installation.data}"
    assert danger.remedy == f"type 'chmod 700 {installation.data}'"


@pytest.mark.parametrize("more", [{"trust_proxy": True}, {"host": "localhost"}])
def test_a_proxy_or_the_loopback_makes_plain_http_safe(installation, more):
    installation.create()
    settings = read_settings(
        data=installation.data,
        anchor=installation.anchor,
        **{"host": EVERYWHERE, **more},
    )
    assert find_dangers(settings) == []


def test_a_database_outside_data_must_be_closed_to_others_too(installation, tmp_path):
    installation.create()
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    outside.chmod(0o1777)
    (outside / "books.sqlite").touch(0o644)
    settings = read_settings(
        data=installation.data,
        anchor=installation.anchor,
        database_url=f"sqlite:///{outside}/books.sqlite",
    )
    assert [d.remedy for d in find_dangers(settings)] == [
        f"type 'chmod 600 {outside}/books.sqlite'",
        f"type 'chmod go-w {outside}'",
    ]


def dangers(installation, **more):
    installation.more_settings = more
    return [str(danger) for danger in find_dangers(installation.settings)]


def test_an_anchors_folder_that_others_may_write_to_is_refused(installation):
    folder = installation.create().anchor.parent
    folder.chmod(0o770)
    (said,) = dangers(installation)
    assert said == f"others may change {folder}: type 'chmod go-w {folder}'"
    folder.chmod(0o1777)  # sticky: nobody replaces another's file
    assert dangers(installation) == []


def test_files_that_say_who_is_who_are_changed_by_nobody_else(installation, tmp_path):
    installation.create()
    files = {"oidc_subjects": tmp_path / "s.json", "oidc_jwks": tmp_path / "k.json"}
    for path in files.values():
        path.touch()
        path.chmod(0o664)
    issuer = {"oidc_issuer": "https://login.example", "oidc_audience": "curator"}
    told = {name: str(path) for name, path in files.items()} | issuer
    assert [said.rpartition(": ")[2] for said in dangers(installation, **told)] == [
        f"type 'chmod go-w {path}'" for path in files.values()
    ]
    for path in files.values():
        path.chmod(0o644)
    assert dangers(installation, **told) == []


@pytest.mark.parametrize(
    ("mode", "text", "is_open"),
    [
        (0o644, "CURATOR_DATABASE_URL=postgresql://u:pa55word@localhost/x", True),
        (0o644, "CURATOR_DATABASE_URL=postgresql://localhost/x?password=p", True),
        (0o640, "CURATOR_DATABASE_URL=postgresql://u:pa55word@localhost/x", False),
        (0o644, "CURATOR_PERMITS=7", False),
        (0o664, "CURATOR_PERMITS=7", True),
    ],
)
def test_a_settings_file_is_as_closed_as_what_it_holds(
    installation, tmp_path, mode, text, is_open
):
    installation.create()
    (tmp_path / "curator.env").write_text(f"{text}\n")
    (tmp_path / "curator.env").chmod(mode)
    assert bool(dangers(installation)) is is_open


def test_metrics_off_loopback_are_refused(installation):
    installation.create()
    more = {"metrics_host": EVERYWHERE, "metrics_port": 9000}
    (said,) = dangers(installation, **more)
    assert "set CURATOR_METRICS_HOST=127.0.0.1" in said
    assert dangers(installation, **more, trust_proxy=True) == []
    assert dangers(installation, metrics_host=EVERYWHERE) == []  # there is no listener


@pytest.mark.parametrize(
    ("url", "is_open"),
    [
        ("postgresql://db.example/x?sslmode=disable", True),
        ("postgresql:///x?host=db.example&sslmode=allow", True),
        ("postgresql://db.example/x?sslmode=verify-full", False),
        ("postgresql://127.0.0.1/x?sslmode=disable", False),
        ("postgresql:///x?host=/run/postgresql&sslmode=disable", False),
        ("postgresql:///x?sslmode=disable", False),
    ],
)
def test_a_far_database_is_reached_by_tls(installation, url, is_open):
    installation.create()
    installation.url = url
    assert bool(dangers(installation)) is is_open


@pytest.mark.parametrize("one", ["TLS_CERT", "TLS_KEY"])
def test_half_of_the_tls_files_is_wrong_usage(curator, monkeypatch, one):
    monkeypatch.setenv(f"CURATOR_{one}", "some.pem")
    assert "set both, or neither" in curator.said("serve", code=2)


def test_tls_files_that_are_none_are_refused(curator, monkeypatch, tmp_path):
    (tmp_path / "x.pem").write_text("nothing")
    (tmp_path / "x.pem").chmod(0o600)
    said = refused(curator, monkeypatch, TLS_CERT="x.pem", TLS_KEY="x.pem")
    assert "cannot be used" in said
    said = refused(curator, monkeypatch, TLS_CERT="y.pem", TLS_KEY="y.pem")
    assert "No such file" in said


def test_a_key_of_texts_that_everybody_may_read_is_refused(
    curator, monkeypatch, tmp_path
):
    path = tmp_path / "text.key"
    path.write_text("ab" * 32)
    path.chmod(0o644)
    said = refused(curator, monkeypatch, TEXT_KEY=str(path))
    assert f"chmod 600 {path}" in said


def test_a_tls_key_that_everybody_may_read_is_refused(curator, monkeypatch, tmp_path):
    (tmp_path / "x.pem").touch(0o644)
    (tmp_path / "x.pem").chmod(0o644)
    said = refused(curator, monkeypatch, TLS_CERT="x.pem", TLS_KEY="x.pem")
    assert "type 'chmod 600 x.pem'" in said


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        (EVERYWHERE, False),
        ("::", False),
        ("127.0.0.1.example", False),
        ("", False),
    ],
)
def test_only_loopback_addresses_are_loopback(host, local):
    assert is_loopback(host) is local


def test_settings_are_shown_with_their_sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "curator.env").write_text("CURATOR_PERMITS=7\nCURATOR_PORT=9000\n")
    monkeypatch.setenv("CURATOR_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CURATOR_ANCHOR", str(tmp_path / "a.anchor"))
    monkeypatch.setenv("CURATOR_PORT", "9001")
    flags = {"host": "127.0.0.2", "port": None}
    settings = read_settings(**flags)
    shown = {line.name: line for line in describe_settings(settings, flags)}
    assert len(shown) == len(type(settings).model_fields)
    assert (shown["CURATOR_HOST"].value, shown["CURATOR_HOST"].source) == (
        "127.0.0.2",
        "flag",
    )
    assert (shown["CURATOR_PORT"].value, shown["CURATOR_PORT"].source) == (
        "9001",
        "environment",
    )
    assert shown["CURATOR_PERMITS"].source == "file curator.env"
    assert shown["CURATOR_SLOT_MS"].source == "default"
    assert shown["CURATOR_TLS_KEY"].value == "not set"


def test_passwords_in_urls_are_masked():
    shown = masked_url("postgresql://ada:pa55word@db/x?password=s3cret&sslmode=y")
    assert "pa55word" not in shown
    assert "s3cret" not in shown
    assert shown.startswith("postgresql://ada:***@db/x?")
    assert masked_url("postgresql://[pa55word") == "***"
    assert masked_url("postgresql://ada:pa55@word@db/x") == "***"


def test_an_unreachable_database_is_named_without_its_secrets():
    url = "postgresql://db/x?user=ada&password=s3cret&sslpassword=k3y"
    said = unreachable(url, OSError("no: password=s3cret sslpassword=k3y"))
    assert "s3cret" not in said
    assert "k3y" not in said
    assert "postgresql://db/x" in said
    said = unreachable("postgresql://ada:pa55@word@db/x", OSError("no host word@db"))
    assert "word@" not in said


def test_unknown_variables_are_named_with_the_nearest_setting(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CURATOR_TEST_DATA", raising=False)
    monkeypatch.setenv("CURATOR_SLOTMS", "5")
    monkeypatch.setenv("CURATOR_API_KEY", "cur_secret")
    (tmp_path / "curator.env").write_text("CURATOR_QQQQQQ=secret\n")
    assert unknown_variables() == [
        "CURATOR_QQQQQQ is no setting of this version",
        "CURATOR_SLOTMS is no setting of this version; did you mean CURATOR_SLOT_MS?",
    ]
