"""Metadata for other catalogues: of a dataset's schema, and of the releases."""

import json
from typing import Final

from fastapi import FastAPI, Request
from starlette.responses import Response

from privacy.errors import InvalidOptionError
from server.api.routing.admission import (
    PAGE_PARAMETERS,
    READING,
    answered,
    enter,
    page_of,
)
from server.api.routing.parts import parts_of
from server.use_cases.datasets.metadata.dcat import catalog_of
from server.use_cases.datasets.metadata.formats import FORMATS
from server.use_cases.releases.catalogue import ReleaseCatalogue
from server.use_cases.services.documents import Document

JSON_LD: Final = "application/ld+json"
_FORMAT: dict[str, object] = {
    "name": "format",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "enum": list(FORMATS), "default": "csvw"},
    "description": "csvw: W3C tabular metadata. croissant: MLCommons Croissant.",
}


def add_metadata_routes(app: FastAPI) -> None:
    """Add the routes."""

    @app.get(
        "/v1/datasets/{dataset}/metadata",
        response_class=Response,
        responses=_linked_data("The public schema, nothing else."),
        openapi_extra={"parameters": [_FORMAT]},
        tags=["reading"],
    )
    def show_metadata(dataset: str, request: Request) -> Response:
        """Return a dataset's public schema as CSVW or Croissant."""

        def work() -> Response:
            caller = enter(request)
            form = _wanted(request)
            return _sent(parts_of(request).reading.metadata(caller, dataset, form))

        return answered(work)

    @app.get(
        "/v1/catalog",
        response_class=Response,
        responses=_linked_data("A page of the catalog, newest first."),
        openapi_extra={"parameters": PAGE_PARAMETERS},
        tags=["releases"],
    )
    def show_catalog(request: Request) -> Response:
        """Return the releases that you may read as a DCAT catalog."""

        def work() -> Response:
            caller = enter(request)
            page = page_of(request)
            releases = ReleaseCatalogue(parts_of(request).services)
            return _sent(catalog_of(releases.page(caller, page), page.limit))

        return answered(work)


def _linked_data(description: str) -> dict[int | str, dict[str, object]]:
    content = {JSON_LD: {"schema": {"type": "object"}}}
    return {**READING, 200: {"description": description, "content": content}}


def _sent(document: Document) -> Response:
    written = json.dumps(document, ensure_ascii=False, indent=1)
    return Response(written.encode(), media_type=JSON_LD)


def _wanted(request: Request) -> str:
    """Read ``format``.

    Raises:
        InvalidOptionError: It is unknown.
    """
    form = request.query_params.get("format", "csvw")
    if form not in FORMATS:
        message = f"format: one of {', '.join(FORMATS)}"
        raise InvalidOptionError(message)
    return form
