"""The wheels hold all that is needed: installed elsewhere, they answer a question."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from server.api.clients.building import clients_of
from tests.support.installations.harness import (
    Installation,
    free_port,
    wait_until_ready,
)

ROOT = Path(__file__).parents[2]
SHIPPED = (
    "server/py.typed",
    "server/persistence/migrations/script.py.mako",
    *(
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "server/api/static").rglob("*"))
        if path.is_file()
    ),
)
CLIENTS = tuple(f"server/api/static/clients/{name}" for name in clients_of(ROOT))
NEVER_SHIPPED = ("tests/", "docs/", "benchmarks/", "examples/")

pytestmark = pytest.mark.thorough


def run(*command, **more):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **more,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def pip(*arguments):
    return run(sys.executable, "-m", "pip", *arguments)


def unpack_head(folder):
    archive = folder / "head.tar"
    run("git", "-C", ROOT, "archive", "-o", archive, "HEAD")
    source = folder / "source"
    with tarfile.open(archive) as tar:
        tar.extractall(source, filter="data")
    return source


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Build both wheels from what is committed."""
    folder = tmp_path_factory.mktemp("wheels")
    source = unpack_head(folder)
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    for project in (source, source / "clients/python"):
        pip("wheel", *options, "-w", folder / "built", project)
    return sorted((folder / "built").glob("*.whl"))


@pytest.fixture(scope="module")
def home(wheels, tmp_path_factory):
    """Make an environment that has our dependencies, but not our tree."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    python = folder / "env/bin/python"
    pip("--python", python, "install", "--no-deps", "--no-index", "--quiet", *wheels)
    (site,) = (folder / "env/lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def outside(home, installation):
    """Return the environment of commands that run outside the tree."""
    kept = {k: v for k, v in installation.environment.items() if k != "PYTHONPATH"}
    return {"env": kept, "cwd": home}


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return Installation(tmp_path_factory.mktemp("installation"))


def test_the_wheel_holds_its_package_data_and_nothing_else(wheels):
    names = [n for wheel in wheels for n in zipfile.ZipFile(wheel).namelist()]
    for name in (*SHIPPED, *CLIENTS):
        assert name in names
    assert [n for n in names if n.startswith(NEVER_SHIPPED)] == []


def test_the_installed_packages_are_the_wheels_not_the_tree(home, installation):
    found = run(
        home / "env/bin/python",
        "-c",
        "import curator_client as c, server as s; print(s.__file__, c.__file__)",
        **outside(home, installation),
    )
    assert [Path(p).is_relative_to(home) for p in found.split()] == [True, True]


def test_an_installed_wheel_answers_a_question(home, installation):
    elsewhere = outside(home, installation)

    def curator(*arguments):
        command = (home / "env/bin/curator", *arguments, "--json")
        return json.loads(run(*command, **elsewhere))

    curator("init", "--single-custodian")
    curator("dataset", "load", installation.write_manifest())
    key = installation.analyst(allotment="3")
    asking = (
        "import sys; from curator_client import Curator; "
        "print(Curator(*sys.argv[1:]).query('SELECT COUNT(*) FROM visits', epsilon=1)"
        ".rows[0][0])"
    )
    port = free_port()
    command = [home / "env/bin/curator", "serve", "--port", str(port)]
    with subprocess.Popen(command, **elsewhere) as process:
        try:
            wait_until_ready(port, process)
            url = f"http://127.0.0.1:{port}"
            noisy = run(home / "env/bin/python", "-c", asking, url, key, **elsewhere)
        finally:
            process.terminate()
    assert abs(int(noisy) - 201) < 10 * 40  # scale 10: beyond 40 scales is 1e-17
    assert curator("ledger", "verify")["ok"]


def test_a_server_alone_asks_through_the_client_that_it_carries(
    wheels, tmp_path, installation
):
    """``curator demo`` and ``curator plan`` need nothing more than its wheel."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env/bin/python"
    (server,) = (
        each for each in wheels if each.name.startswith("curator_query_server")
    )
    pip("--python", python, "install", "--no-deps", "--no-index", "--quiet", server)
    (site,) = (tmp_path / "env/lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    elsewhere = outside(tmp_path, installation)
    found = run(
        python,
        "-c",
        "from server.cli.carried import reach_client; reach_client(); "
        "import curator_client as c; print(c.__file__)",
        **elsewhere,
    )
    assert Path(found.strip()).is_relative_to(site / "server/api/static/clients")
    assert "epsilon" in run(tmp_path / "env/bin/curator", "demo", **elsewhere)


def test_commands_do_not_need_the_working_directory(home):
    assert "--within" in run(home / "env/bin/curator", "plan", "--help", cwd=os.sep)
    assert "plan" in run(home / "env/bin/curator-client", "--help", cwd=os.sep)
