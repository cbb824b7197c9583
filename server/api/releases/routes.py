"""/v1/releases: what readers may read and download, for nothing."""

import os
from typing import Final

from fastapi import FastAPI, Request
from starlette.responses import FileResponse, Response

from privacy.errors import InvalidOptionError
from server.api.routing.admission import PAGED, READING, answered, enter, page_of, read
from server.api.routing.parts import parts_of
from server.api.routing.ranges import ranges_of
from server.api.schemas.openapi import problem_responses
from server.api.schemas.problems import Problem
from server.use_cases.publishing.releases import ReleaseService
from server.use_cases.publishing.replies import PublicKey
from server.use_cases.releases.announced import AnnouncedReleases
from server.use_cases.releases.catalogue import Download, FoundFile, ReleaseCatalogue
from server.use_cases.releases.replies import (
    AnnouncedRelease,
    ReleaseDetail,
    ReleaseItem,
)
from server.use_cases.services.paging import ListOf

_PATH = "/v1/releases"
_TYPES: Final = {
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv",
    "json": "application/json",
}
_DOWNLOAD: Final = {
    "parameters": [
        {
            "name": "format",
            "in": "query",
            "required": False,
            "schema": {"type": "string", "enum": list(_TYPES), "default": "csv"},
            "description": "json: the signed manifest, or the data package.",
        },
        {
            "name": "table",
            "in": "query",
            "required": False,
            "schema": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,62}$"},
            "description": "A file of the manifest, without its ending; by default "
            "the table of cells (json: manifest).",
        },
    ]
}
_FILE: dict[int | str, dict[str, object]] = {
    **READING,
    **problem_responses(416),
    200: {
        "description": "One file of the release, as its manifest names it.",
        "content": {  # generated clients read a reply as the first of these
            "text/csv": {"schema": {"type": "string"}},
            "application/vnd.apache.parquet": {
                "schema": {"type": "string", "format": "binary"}
            },
            "application/json": {"schema": {"type": "object"}},
        },
    },
}


def add_release_routes(app: FastAPI) -> None:
    """Add the routes."""
    _add_lists(app)
    _add_one(app)


def _catalogue(request: Request) -> ReleaseCatalogue:
    return ReleaseCatalogue(parts_of(request).services)


def _add_lists(app: FastAPI) -> None:
    @app.get(
        _PATH,
        response_model=ListOf[ReleaseItem],
        responses=READING,
        openapi_extra=PAGED,
        tags=["releases"],
    )
    def list_releases(request: Request) -> Response:
        """List the releases that you may read, newest first."""
        return read(
            request, lambda caller: _catalogue(request).page(caller, page_of(request))
        )

    @app.get(
        "/v1/announcements",
        response_model=ListOf[AnnouncedRelease],
        responses=READING,
        openapi_extra=PAGED,
        tags=["releases"],
    )
    def list_announcements(request: Request) -> Response:
        """List the releases that are planned for you to read, newest first."""
        announced = AnnouncedReleases(parts_of(request).services)
        return read(request, lambda caller: announced.page(caller, page_of(request)))

    @app.get(
        f"{_PATH}/key",
        response_model=PublicKey,
        responses=READING,
        tags=["releases"],
    )
    def show_release_key(request: Request) -> Response:
        """Return the key that verifies this installation's manifests."""
        service = ReleaseService(parts_of(request).services)
        return read(request, lambda _: {"public_key": service.public_key()})


def _add_one(app: FastAPI) -> None:
    @app.get(
        f"{_PATH}/{{release}}",
        response_model=ReleaseDetail,
        responses=READING,
        tags=["releases"],
    )
    def show_release(release: str, request: Request) -> Response:
        """Return a release with its signed manifest."""
        return read(request, lambda caller: _catalogue(request).show(caller, release))

    @app.get(
        f"{_PATH}/{{release}}/download",
        response_class=FileResponse,
        responses=_FILE,
        openapi_extra=_DOWNLOAD,
        tags=["releases"],
    )
    def download_release(release: str, request: Request) -> Response:
        """Return one file of a release: parquet, csv or json."""

        def work() -> Response:
            caller = enter(request)
            wanted = _wanted(request)
            found = _catalogue(request).file(caller, release, wanted)
            file = _NamedFile(found, _TYPES[wanted.format])
            return file.refused_range(request) or file

        return answered(work)


class _NamedFile(FileResponse):
    """A file under its digest; when it was written is told nowhere (PRIVACY 2, 7)."""

    def __init__(self, found: FoundFile, media_type: str) -> None:
        super().__init__(
            found.path,
            headers={"etag": f'"{found.sha256}"'},
            media_type=media_type,
            filename=found.path.name,
            stat_result=(facts := found.path.stat()),
        )
        self._size = facts.st_size

    def refused_range(self, request: Request) -> Response | None:
        """Return the refusal of a request for parts that the file does not have."""
        asked, tag = (request.headers.get(name) for name in ("range", "if-range"))
        if asked is None or (tag is not None and not self._should_use_range(tag)):
            return None
        if ranges_of(asked, self._size) != []:
            return None
        told = f"the file has {self._size} bytes, and none of those that Range names"
        response = Problem("range_not_satisfiable", told).response()
        response.headers["content-range"] = f"bytes */{self._size}"
        return response

    @classmethod
    def _parse_range_header(
        cls, http_range: str, file_size: int
    ) -> list[tuple[int, int]]:
        """Return what is to be sent, as from and until; nothing stands for all."""
        ranges = ranges_of(http_range, file_size)
        if not ranges:
            return []
        return super()._parse_range_header(f"bytes={','.join(ranges)}", file_size)

    def set_stat_headers(self, stat_result: os.stat_result) -> None:
        self.headers.setdefault("content-length", str(stat_result.st_size))

    def _should_use_range(self, http_if_range: str) -> bool:
        """Compare the digest alone: there is no time to compare."""
        return http_if_range == self.headers["etag"]


def _wanted(request: Request) -> Download:
    """Read ``format`` and ``table``.

    Raises:
        InvalidOptionError: The format is unknown.
    """
    given = request.query_params
    written = given.get("format", "csv")
    if written not in _TYPES:
        message = f"format: one of {', '.join(_TYPES)}"
        raise InvalidOptionError(message)
    return Download(written, given.get("table"))
