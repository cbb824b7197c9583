"""``/manual/`` shows what ``make docs`` built, and nothing else of the disk."""

import shutil
import subprocess

import httpx
import pytest

from server.configuration.settings import SettingsError, read_settings
from tests.architecture.pages.test_docs_page import CHROMIUM
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.manuals import built_manual

PAGE = """<!DOCTYPE html><html><head><title>Manual</title>
<link rel="stylesheet" href="_static/own.css?v=1"></head><body>
<script>document.body.dataset.theme = "auto";</script>
<script>document.body.dataset.second = "{}";</script>
<script src="_static/own.js?v=2"></script>
<h1 id="top">Manual</h1><a href="law/privacy.html">The law</a></body></html>"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = built_manual(tmp_path_factory.mktemp("built"), PAGE.format("first"))
    for name in ("law", "_static"):
        (folder / name).mkdir()
    (folder / ".hidden").mkdir()
    (folder / ".hidden/page.html").write_text("hidden")
    (folder / "law/privacy.html").write_text(PAGE.format("second"))
    (folder / "_static/own.css").write_text("h1 { color: green }")
    (folder / "_static/own.js").write_text("document.body.dataset.loaded = 'yes';")
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.html").write_text("secret")
    (folder / "law/secret.html").symlink_to(outside / "secret.html")
    return folder


@pytest.fixture(scope="module")
def http(built, tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("manual")).create()
    installation.settings.manual = built
    with (
        serve_in_thread(installation) as url,
        httpx.Client(base_url=url, timeout=60) as connection,
    ):
        yield connection


def test_the_front_page_links_the_manual(http):
    assert '<a href="manual/">The manual</a>' in http.get("/").text
    moved = http.get("/manual")
    assert (moved.status_code, moved.headers["location"]) == (307, "manual/")
    page = http.get("/manual/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.text == PAGE.format("first")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("law/privacy.html", "text/html"),
        ("_static/own.css?v=1", "text/css"),
        ("searchindex.js", "text/javascript"),
    ],
)
def test_pages_and_what_they_take_are_served_with_their_kind(http, path, kind):
    reply = http.get(f"/manual/{path}")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith(kind)
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "objects.inv",
        ".buildinfo",
        ".hidden/page.html",
        "law",
        "law/secret.html",
        "none.html",
        "../outside/secret.html",
        "..%2foutside%2fsecret.html",
        "/etc/passwd",
    ],
)
def test_nothing_else_of_the_disk_is_served(http, path):
    reply = http.get(f"/manual/{path}")
    assert (reply.status_code, reply.json()["detail"]) == (404, "no such route")


def test_a_file_that_became_a_link_is_served_no_more(http, built, tmp_path):
    (tmp_path / "secret.css").write_text("secret")
    page = built / "_static/own.css"
    held = page.read_text()
    page.unlink()
    page.symlink_to(tmp_path / "secret.css")
    try:
        assert http.get("/manual/_static/own.css").status_code == 404
    finally:
        page.unlink()
        page.write_text(held)


def test_a_server_without_a_manual_has_no_such_route(tmp_path):
    installation = Installation(tmp_path).create()
    with serve_in_thread(installation) as url:
        assert httpx.get(f"{url}/manual/").status_code == 404
        assert httpx.get(f"{url}/manual").status_code == 404


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_runs_the_pages_own_scripts_and_no_others(http, tmp_path):
    shown = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         f"--user-data-dir={tmp_path}", "--virtual-time-budget=5000",
         f"{http.base_url}/manual/law/privacy.html".replace("law/privacy", "index")],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert 'data-theme="auto"' in shown.stdout
    assert 'data-second="first"' in shown.stdout
    assert 'data-loaded="yes"' in shown.stdout
    policy = http.get("/manual/").headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy.split("style-src", 1)[0]
    assert policy.count("sha256-") == 3  # one that both pages have, and one each


@pytest.mark.parametrize("inside", ["data", "import"])
def test_no_folder_of_data_is_taken_for_a_manual(tmp_path, monkeypatch, built, inside):
    for name, place in {
        "DATA": tmp_path / "data",
        "ANCHOR": tmp_path / "anchor/a.anchor",
        "IMPORT": tmp_path / "import",
        "MANUAL": tmp_path / inside / "docs",
    }.items():
        monkeypatch.setenv(f"CURATOR_{name}", str(place))
    shutil.copytree(built, tmp_path / inside / "docs")
    with pytest.raises(SettingsError, match="CURATOR_MANUAL"):
        read_settings()
