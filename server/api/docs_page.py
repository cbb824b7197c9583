"""``/docs`` and ``/openapi.json``: the contract, readable in a browser, offline.

swagger-ui is vendored (static/swagger-ui, with its licence and checksums); nothing on
the page comes from anywhere else, and the Content-Security-Policy holds it to that.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response

STATIC = Path(__file__).parent / "static"
SWAGGER_UI = STATIC / "swagger-ui"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FILES = {
    "/docs": (STATIC / "docs/page.html", "text/html"),
    "/docs/page.css": (STATIC / "docs/page.css", "text/css"),
    "/docs/start.js": (STATIC / "docs/start.js", "text/javascript"),
    "/docs/swagger-ui.css": (SWAGGER_UI / "swagger-ui.css", "text/css"),
    "/docs/swagger-ui-bundle.js": (
        SWAGGER_UI / "swagger-ui-bundle.js",
        "text/javascript",
    ),
}
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-cache",
}


def add_docs_routes(app: FastAPI, document: Callable[[], dict[str, object]]) -> None:
    """Add the page, its files, and the document that it shows.

    Args:
        app: The application.
        document: Makes the OpenAPI document; called once, when first asked for, or by
            ``app.state.make_contract``: it takes a second, in which nobody is served.
    """

    @cache
    def contract() -> bytes:
        return json.dumps(document()).encode()

    app.state.make_contract = contract

    @app.get("/openapi.json", include_in_schema=False)
    def openapi_json() -> Response:
        return Response(
            contract(),
            media_type="application/json",
            headers={"Cache-Control": "no-cache"},
        )

    for path, (file, media_type) in _FILES.items():
        _add_file(app, path, file, media_type)


def _add_file(app: FastAPI, path: str, file: Path, media_type: str) -> None:
    def serve() -> Response:
        return Response(file.read_bytes(), media_type=media_type, headers=_HEADERS)

    app.add_api_route(path, serve, methods=["GET"], include_in_schema=False)
