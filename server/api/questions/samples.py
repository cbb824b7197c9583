"""GET /v1/datasets/{dataset}/sample: made-up rows to write code against."""

import re

from fastapi import FastAPI, Request
from starlette.responses import Response

from privacy.errors import InvalidOptionError
from server.api.routing.admission import READING, read
from server.api.routing.parts import parts_of
from server.use_cases.datasets.replies import SampleShape
from server.use_cases.identity.access import Caller
from server.use_cases.services.documents import Reply

MAX_ROWS = 1000
_DEFAULT_ROWS = 20
_ROWS = re.compile(r"[0-9]{1,4}")
_PARAMETERS: list[dict[str, object]] = [
    {
        "name": "table",
        "in": "query",
        "required": False,
        "schema": {"type": "string"},
        "description": "A table of the dataset; the first one where left out.",
    },
    {
        "name": "rows",
        "in": "query",
        "required": False,
        "schema": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_ROWS,
            "default": _DEFAULT_ROWS,
        },
        "description": "How many rows to make up.",
    },
]


def add_sample_route(app: FastAPI) -> None:
    """Add the route."""

    @app.get(
        "/v1/datasets/{dataset}/sample",
        response_model=SampleShape,
        responses=READING,
        openapi_extra={"parameters": _PARAMETERS},
        tags=["reading"],
    )
    def show_sample(dataset: str, request: Request) -> Response:
        """Return made-up rows: they follow from the public schema alone."""

        def work(caller: Caller) -> Reply:
            table, rows = request.query_params.get("table"), _rows(request)
            return parts_of(request).reading.sample(caller, dataset, table, rows)

        return read(request, work)


def _rows(request: Request) -> int:
    given = request.query_params.get("rows", str(_DEFAULT_ROWS))
    if _ROWS.fullmatch(given) is None or not 1 <= int(given) <= MAX_ROWS:
        message = f"rows: a whole number from 1 to {MAX_ROWS}"
        raise InvalidOptionError(message)
    return int(given)
