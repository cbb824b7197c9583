"""``/``, which says what this server is, and the clients that it offers as files.

The page is made once, of this version's own files, and loads nothing from elsewhere.
"""

import html
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

from fastapi import FastAPI, Request
from starlette.responses import Response

from server.api.clients.offered import CHECKSUMS, checksums, offered_files
from server.api.docs_page import CONTENT_SECURITY_POLICY, STATIC
from server.api.schemas.problems import Problem
from server.version import VERSION

_FRONT: Final = STATIC / "front"
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-cache",
}
_SERVER: Final = '<span class="server">https://this-server</span>'
_INSTALLED_BY: Final = {
    True: 'python -m pip install "{server}/clients/{name}#sha256={sha256}"',
    False: 'Rscript -e \'install.packages("{server}/clients/{name}", repos = NULL, '
    'type = "source")\'',
}
_MANUAL: Final = {
    True: '<a href="manual/">The manual</a> of this version, {version}: guides for '
    "researchers, custodians and reviewers, the query language, the promise and its "
    "proofs",
    False: "The manual (guides, the query language, the promise and its proofs) is the "
    "folder <code>docs</code> of this version's source, {version}: begin with "
    "<code>docs/index.md</code>, or type <code>make docs</code> there. Whoever runs "
    "this server can have it shown here: <code>CURATOR_MANUAL</code>",
}
_TITLES: Final = {True: "For Python", False: "For R"}


def add_front_page(app: FastAPI) -> None:
    """Add the page, its two files, and the clients."""

    @app.get("/", include_in_schema=False)
    def show_front_page(request: Request) -> Response:
        page = _page(has_manual=request.app.state.manual is not None)
        return Response(page, media_type="text/html", headers=_HEADERS)

    @app.get("/front/page.css", include_in_schema=False)
    def show_style() -> Response:
        return _static(_FRONT / "page.css", "text/css")

    @app.get("/front/start.js", include_in_schema=False)
    def show_script() -> Response:
        return _static(_FRONT / "start.js", "text/javascript")

    @app.get("/clients/{file}", include_in_schema=False)
    def download_client(file: str) -> Response:
        if file == CHECKSUMS:
            return Response(checksums(), media_type="text/plain", headers=_HEADERS)
        found = offered_files().get(file)
        if found is None:
            return Problem("not_found", "no such route").response()
        headers = {**_HEADERS, "ETag": f'"{found.sha256}"'}
        return Response(found.content, media_type=found.media_type, headers=headers)


def _static(file: Path, media_type: str) -> Response:
    return Response(file.read_bytes(), media_type=media_type, headers=_HEADERS)


@cache
def _page(*, has_manual: bool) -> bytes:
    text = Template((_FRONT / "page.html").read_text("utf-8"))
    manual = _MANUAL[has_manual].format(version=VERSION)
    return text.substitute(manual=manual, clients=_clients()).encode()


def _clients() -> str:
    """Return a section for each client; a sentence where there is none."""
    sections = []
    files = sorted(offered_files().values(), key=lambda each: not each.is_wheel)
    for each in files:
        name = html.escape(each.name)
        command = _INSTALLED_BY[each.is_wheel].format(
            server=_SERVER, name=name, sha256=each.sha256
        )
        sections.append(
            f"<h3>{_TITLES[each.is_wheel]}</h3>\n"
            f'<p><a href="clients/{name}">{name}</a>, '
            f"{len(each.content):,} bytes, SHA-256 <code>{each.sha256}</code></p>\n"
            f"<pre>{command}</pre>"
        )
    none = "<p>This server was installed without them: ask who runs it.</p>"
    return "\n".join(sections) or none
