"""The compose file and the units keep what makes a deployment safe."""

import configparser
import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from scripts.image.dockerfile import read_stages
from server.main import cli

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs/operations"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
IMAGE = read_stages(ROOT / "Dockerfile")[-1]
DRAIN_SECONDS = 30  # timeout_graceful_shutdown of curator serve
UNITS = sorted(path.name for path in FOLDER.glob("curator*.service"))
PLACES = ("/opt/curator/bin/curator",)  # no tree of ours lies there where tests run


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_each_container_is_locked(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert "privileged" not in service


def test_the_server_gets_no_capability_back():
    assert "cap_add" not in SERVICES["curator"]
    assert "user" not in SERVICES["curator"], "the image's own user is the right one"


def test_the_database_cannot_be_reached_from_outside():
    assert SERVICES["postgres"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert "ports" not in SERVICES["postgres"]


def test_no_secret_stands_in_the_compose_file():
    assert all(list(secret) == ["file"] for secret in COMPOSE["secrets"].values())
    for service in SERVICES.values():
        assert set(service["secrets"]) <= set(COMPOSE["secrets"])
        for name, value in service["environment"].items():
            if "PASSWORD" in name or "KEY" in name or "PGPASS" in name:
                assert value.startswith("/run/secrets/"), name
    url = SERVICES["curator"]["environment"]["CURATOR_DATABASE_URL"]
    assert url == "postgresql+psycopg://curator@postgres/curator"


def test_every_volume_of_the_image_is_given_and_the_anchor_lies_elsewhere():
    given = dict(mount.split(":")[:2] for mount in SERVICES["curator"]["volumes"])
    assert set(given.values()) == set(IMAGE.last("VOLUME").exec_form())
    assert "./import:/import:ro" in SERVICES["curator"]["volumes"]
    assert COMPOSE["volumes"]["anchor"]["driver_opts"]["device"].startswith("${")
    assert COMPOSE["volumes"]["data"] == {}


def test_every_named_volume_network_and_secret_is_declared():
    for service in SERVICES.values():
        named = {m.split(":")[0] for m in service["volumes"] if m[0] not in "./"}
        assert named <= set(COMPOSE["volumes"])
        assert set(service["networks"]) <= set(COMPOSE["networks"])


def test_the_database_keeps_what_it_said_it_kept():
    command = SERVICES["postgres"]["command"]
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        assert f"{setting}=on" in command


def test_a_stop_leaves_time_for_the_questions_under_way():
    assert int(SERVICES["curator"]["stop_grace_period"].rstrip("s")) > DRAIN_SECONDS
    assert int(unit("curator.service")["TimeoutStopSec"]) > DRAIN_SECONDS


def unit(name):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(FOLDER / name)
    return parser["Service"]


@pytest.mark.parametrize("name", UNITS)
def test_each_unit_may_write_to_its_own_folders_alone(name):
    service = unit(name)
    assert service["ProtectSystem"] == "strict"
    assert "/srv/curator-anchor" in service["ReadWritePaths"].split()
    assert service["NoNewPrivileges"] == "true"
    assert service["CapabilityBoundingSet"] == ""
    assert service["User"] == "curator"
    assert service["UMask"] == "0077"
    assert service["LimitCORE"] == "0"


@pytest.mark.parametrize("name", UNITS)
def test_each_unit_searches_no_code_but_what_is_installed(name):
    service = unit(name)
    assert {"PYTHONSAFEPATH=1", "PYTHONNOUSERSITE=1"} <= {
        *service["Environment"].split()
    }
    assert {"PYTHONPATH", "PYTHONHOME"} <= {*service["UnsetEnvironment"].split()}


def test_the_nightly_unit_types_what_the_commands_know():
    text = (FOLDER / "curator-nightly.service").read_text("utf-8")
    lines = [line.split() for line in text.splitlines() if line[:10] == "ExecStart="]
    assert [line[1:3] for line in lines] == [["ledger", "verify"], ["backup", "create"]]
    for _, family, name, *words in lines:
        group = get_command(cli).get_command(None, family)
        known = {opt for param in group.commands[name].params for opt in param.opts}
        assert {word for word in words if word.startswith("-")} <= known
    folders = unit("curator-nightly.service")["ReadWritePaths"].split()
    assert lines[1][lines[1].index("--into") + 1] in folders


def test_the_health_check_of_the_compose_file_is_the_images():
    _, _, command = IMAGE.last("HEALTHCHECK").rest.partition("CMD ")
    assert SERVICES["curator"]["healthcheck"]["test"] == ["CMD", *json.loads(command)]
    assert json.loads(command)[:2] == ["python", "-I"]


def test_a_stop_sends_the_signal_that_drains():
    assert unit("curator.service")["KillSignal"] == "SIGTERM"


def test_the_units_may_limit_their_children():
    """The parser's child bounds its memory: a filter of resources would stop it."""
    assert "@resources" not in (FOLDER / "curator.service").read_text("utf-8")


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd's own checker"
)
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path):
    for path in [*FOLDER.glob("curator*.service"), *FOLDER.glob("curator*.timer")]:
        text = path.read_text("utf-8")
        for place in PLACES:
            text = text.replace(f"ExecStart={place}", "ExecStart=/bin/true")
        (tmp_path / path.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if "curator" in line]
    assert (done.returncode, ours) == (0, [])
