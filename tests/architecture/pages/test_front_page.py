"""``/`` says what this is, and offers clients that install without a network."""

import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv

import httpx
import pytest

from server.api.clients.building import clients_of
from server.version import VERSION
from tests.architecture.pages.test_docs_page import CHROMIUM, POLICY, Loads, policy_of
from tests.e2e.test_r_client import needs_r
from tests.support.installations.harness import Installation, serve_in_thread
from tests.unit.server.api.clients.test_building import ROOT, SOURCE, WHEEL


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("front")).create()
    with (
        serve_in_thread(installation) as url,
        httpx.Client(base_url=url, timeout=60) as connection,
    ):
        yield connection


def test_the_page_loads_its_own_servers_files_under_a_strict_policy(http):
    page = http.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert policy_of(page) == POLICY
    loads = Loads(page.text)
    assert loads.inline == []
    addresses = [each for each in loads.addresses if each != "data:,"]
    assert {"docs", "openapi.json", "front/page.css", "front/start.js"} < set(addresses)
    for address in addresses:
        reply = http.get(f"/{address}")
        assert reply.status_code == 200, address
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_it_says_whose_it_is_and_of_which_version(http):
    text = http.get("/").text
    assert f"of this version's source, {VERSION}" in " ".join(text.split())
    assert "CURATOR_MANUAL" in text
    for whom in ("Researchers", "Custodians", "Reviewers"):
        assert f"<dt>{whom}</dt>" in text
    assert "$" not in text
    assert text.index("For Python") < text.index("For R")


def test_the_clients_are_those_of_the_tree_with_their_digests(http):
    page, sums = http.get("/").text, http.get("/clients/SHA256SUMS").text
    for name, content in clients_of(ROOT).items():
        reply = http.get(f"/clients/{name}")
        digest = hashlib.sha256(content).hexdigest()
        assert reply.content == content
        assert reply.headers["etag"] == f'"{digest}"'
        assert f"{digest}  {name}\n" in sums
        assert f"<code>{digest}</code>" in page


def test_no_command_names_a_package_that_somebody_else_may_have(http):
    text = re.sub(r"<[^>]+>", "", html.unescape(http.get("/").text))
    ((what, installed),) = re.findall(r"-m pip (\w+) (.+)", text)
    assert what == "install"
    assert re.fullmatch(
        r'"https://this-server/clients/[\w.-]+#sha256=\w{64}"', installed
    )


@pytest.mark.parametrize(
    "path",
    ["/clients", "/clients/", "/clients/LICENSE", "/clients/..%2fapp.py", "/front",
     "/clients/../app.py", "/front/page.html", "/index.html"],
)  # fmt: skip
def test_nothing_else_is_served(http, path):
    reply = http.get(path)
    assert (reply.status_code, reply.json()["type"]) == (404, "not_found")


def run(*command, **more):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True, text=True, timeout=300, check=False, **more,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.thorough
def test_the_python_client_installs_from_the_page_without_an_index(http, tmp_path):
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env/bin/python"
    digest = hashlib.sha256(clients_of(ROOT)[WHEEL]).hexdigest()
    url = http.base_url.join(f"/clients/{WHEEL}#sha256={digest}")
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--no-index", "--no-deps", "--quiet", url)
    (site,) = (tmp_path / "env/lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    shown = run(tmp_path / "env/bin/curator-client", "--help", cwd=os.sep, env=kept)
    assert "budget" in shown
    where = "import curator_client; print(curator_client.__file__)"
    assert str(site) in run(python, "-c", where, cwd=os.sep, env=kept)
    show = run(*pip, "show", "--files", "curator-query-client")
    assert "licenses/LICENSE" in show


@pytest.mark.thorough
def test_a_changed_client_is_not_installed(http, tmp_path):
    url = http.base_url.join(f"/clients/{WHEEL}#sha256={'0' * 64}")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--no-index", "--no-deps", str(url)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


@pytest.mark.thorough
def test_setuptools_makes_the_same_wheel(tmp_path):
    source = tmp_path / "python"
    shutil.copytree(
        ROOT / "clients/python", source,
        ignore=shutil.ignore_patterns("*.egg-info", "build", "__pycache__"),
    )  # fmt: skip
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", tmp_path, source)
    theirs, ours = tmp_path / WHEEL, tmp_path / "ours.whl"
    ours.write_bytes(clients_of(ROOT)[WHEEL])
    assert facts(ours) == facts(theirs)


def facts(path):
    """Return the files of a wheel, and its metadata in any order."""
    import zipfile  # noqa: PLC0415 - here alone
    from email import message_from_bytes  # noqa: PLC0415

    archive = zipfile.ZipFile(path)
    (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
    said = message_from_bytes(archive.read(metadata))
    told = sorted((k, v) for k, v in said.items() if k != "Dynamic")
    unlike = {
        metadata,
        *(n for n in archive.namelist() if n.endswith(("WHEEL", "RECORD"))),
    }
    files = {n: archive.read(n) for n in archive.namelist() if n not in unlike}
    return told, said.get_payload(), files


@pytest.mark.thorough
@needs_r
def test_the_r_client_installs_from_the_page(http, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    url = http.base_url.join(f"/clients/{SOURCE}")
    asked = (
        f'install.packages("{url}", lib = "{library}", repos = NULL, type = "source");'
        f'library(curator, lib.loc = "{library}"); cat(is.function(curator_query))'
    )
    assert run("Rscript", "-e", asked).endswith("TRUE")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_shows_commands_of_this_server_and_the_policy_stops_nothing(
    http, tmp_path
):
    shown = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            "--enable-logging=stderr", "--virtual-time-budget=20000",
            f"--user-data-dir={tmp_path}", str(http.base_url.join("/")),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    here = str(http.base_url).rstrip("/")
    text = re.sub(r"<[^>]+>", "", html.unescape(shown.stdout))
    wanted = f'pip install "{here}/clients/{WHEEL}#sha256='
    assert wanted in text
    assert f'install.packages("{here}/clients/{SOURCE}"' in text
    assert "this-server" not in shown.stdout.replace("https://this-server.", "")
    assert [line for line in shown.stderr.splitlines() if "CONSOLE" in line] == []
