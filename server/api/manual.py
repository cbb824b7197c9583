"""``/manual/``: the built documentation of this version, where its folder is set.

``CURATOR_MANUAL`` names what ``make docs`` built. Its files are listed once, at start:
no path of a request is looked up on the disk. Pages run the few scripts that they hold
themselves, by their digests, and load nothing from elsewhere.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from starlette.responses import RedirectResponse, Response

from server.api.schemas.problems import Problem

MANUAL: Final = "manual"
_INDEX: Final = "index.html"
_TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ipynb": "application/x-ipynb+json",
}
"""What a page or its reader takes; other files of the folder are not served."""
_INLINE: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Manual:
    """The files of a built manual.

    Attributes:
        files: By their paths below the folder, with ``/`` between names.
        policy: The Content-Security-Policy of its pages.
    """

    files: dict[str, Path]
    policy: str


def read_manual(folder: Path) -> Manual:
    """Return what is served of a folder; links that lead out of it are not."""
    root = folder.resolve()
    found = {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.suffix in _TYPES
        and path.is_file()
        and not any(name.startswith(".") for name in path.relative_to(root).parts)
        and path.resolve().is_relative_to(root)
    }
    scripts = {
        script
        for path in found.values()
        if path.suffix == ".html"
        for script in _INLINE.findall(path.read_bytes())
    }
    return Manual(found, _policy(scripts))


def add_manual(app: FastAPI) -> None:
    """Add the manual's pages; without a folder they are no routes."""

    @app.get(f"/{MANUAL}", include_in_schema=False)
    def show_first_page(request: Request) -> Response:
        if request.app.state.manual is None:
            return _none()
        return RedirectResponse(f"{MANUAL}/", headers={"Cache-Control": "no-cache"})

    @app.get(f"/{MANUAL}/{{path:path}}", include_in_schema=False)
    def show_page(request: Request, path: str) -> Response:
        manual: Manual | None = request.app.state.manual
        file = manual.files.get(path or _INDEX) if manual else None
        if manual is None or file is None:
            return _none()
        try:
            content = file.read_bytes() if file.resolve() == file else None
        except OSError:  # built anew since the server started
            content = None
        if content is None:  # or became a link
            return _none()
        headers = {
            "Content-Security-Policy": manual.policy,
            "Cache-Control": "no-cache",
        }
        return Response(content, media_type=_TYPES[file.suffix], headers=headers)


def _none() -> Response:
    return Problem("not_found", "no such route").response()


def _policy(scripts: set[bytes]) -> str:
    digests = sorted(
        base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts
    )
    allowed = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)])
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    )
