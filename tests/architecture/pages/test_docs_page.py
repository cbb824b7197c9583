"""``/docs`` works offline, under a strict policy, from files that we can name."""

import hashlib
import html.parser
import json
import re
import shutil
import subprocess

import httpx
import pytest

from server.api.app import openapi_document
from server.api.docs_page import STATIC, SWAGGER_UI
from tests.support.installations.harness import Installation, serve_in_thread

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def http(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("docs")).create()
    with (
        serve_in_thread(installation) as url,
        httpx.Client(base_url=url, timeout=60) as connection,
    ):
        yield connection


def policy_of(reply):
    parts = reply.headers["content-security-policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


class Loads(html.parser.HTMLParser):
    """What a page loads, and what it says inline."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.inline, self._open = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self._open = tag
        for name, value in attributes:
            if name in {"src", "href"}:
                self.addresses.append(value)
            if name == "style" or name.startswith("on"):
                self.inline.append(name)

    def handle_data(self, data):
        if self._open in {"script", "style"} and data.strip():
            self.inline.append(self._open)


def test_the_vendored_files_are_those_of_the_checksums():
    named, *lines = (SWAGGER_UI / "CHECKSUMS").read_text().splitlines()
    assert re.match(r"# swagger-ui-dist \d+\.\d+\.\d+, Apache-2\.0;", named)
    stated = {name: digest for digest, name in (line.split("  ") for line in lines)}
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in SWAGGER_UI.iterdir()
        if path.name != "CHECKSUMS"
    }
    assert found == stated
    assert {"LICENSE", "NOTICE"} <= set(found)


def test_the_page_loads_its_own_servers_files_under_a_strict_policy(http):
    page = http.get("/docs")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert policy_of(page) == POLICY
    loads = Loads(page.text)
    assert loads.inline == []
    files = [address for address in loads.addresses if address != "data:,"]
    assert len(files) == 4
    for address in files:
        reply = http.get(f"/{address}")
        kind = "text/css" if address.endswith(".css") else "text/javascript"
        assert reply.status_code == 200, address
        assert reply.headers["content-type"].startswith(kind)
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert not re.search(rb"@import|url\(['\"]?https?:", reply.content[:400_000])


def test_our_own_script_reads_our_own_contract_alone(http):
    script = http.get("/docs/start.js").text
    assert 'url: "openapi.json"' in script
    assert "validatorUrl: null" in script
    assert "http" not in script


def test_the_contract_is_served_as_it_is_committed(http):
    reply = http.get("/openapi.json")
    assert reply.headers["content-type"] == "application/json"
    assert reply.json() == json.loads(json.dumps(openapi_document()))


@pytest.mark.parametrize(
    "path",
    ["/docs/", "/docs/CHECKSUMS", "/docs/../app.py", "/docs/%2e%2e/app.py", "/redoc",
     "/docs/swagger-ui-bundle.js.map", "/static/docs/page.html", "/openapi.yaml"],
)  # fmt: skip
def test_nothing_else_is_served(http, path):
    reply = http.get(path)
    assert (reply.status_code, reply.json()["type"]) == (404, "not_found")


def test_every_static_file_is_shipped_and_none_is_a_surprise():
    names = {str(path.relative_to(STATIC)) for path in STATIC.rglob("*.*")}
    assert names == {
        "docs/page.html", "docs/page.css", "docs/start.js",
        "front/page.html", "front/page.css", "front/start.js",
        "swagger-ui/swagger-ui-bundle.js", "swagger-ui/swagger-ui.css",
        "swagger-ui/swagger-ui-bundle.js.LICENSE.txt",
    }  # fmt: skip


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_browser_shows_every_route_and_the_policy_stops_nothing(http, tmp_path):
    shown = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            "--enable-logging=stderr", "--virtual-time-budget=20000",
            f"--user-data-dir={tmp_path}", str(http.base_url.join("/docs")),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    operations = sum(len(verbs) for verbs in openapi_document()["paths"].values())
    assert len(re.findall(r'class="opblock opblock-\w+"', shown.stdout)) == operations
    assert [line for line in shown.stderr.splitlines() if "CONSOLE" in line] == []
