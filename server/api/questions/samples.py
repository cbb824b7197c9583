"""GET /v1/datasets/{dataset}/sample and sample.csv: made-up rows for one's code."""

import re

from fastapi import FastAPI, Request
from starlette.responses import Response

from privacy.errors import InvalidOptionError
from server.api.routing.admission import READING, answered, enter, read
from server.api.routing.parts import parts_of
from server.use_cases.datasets.made_up import FEW_ROWS, MOST_ROWS, sample_csv
from server.use_cases.datasets.replies import SampleShape
from server.use_cases.identity.access import Caller

_ROWS = re.compile(r"[0-9]{1,4}")
_CSV = "text/csv"
_FILE: dict[int | str, dict[str, object]] = {
    **READING,
    200: {
        "description": "A line of names, then a line a made-up row.",
        "content": {_CSV: {"schema": {"type": "string"}}},
    },
}
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
            "maximum": MOST_ROWS,
            "default": FEW_ROWS,
        },
        "description": "How many rows to make up.",
    },
]


def add_sample_routes(app: FastAPI) -> None:
    """Add the routes."""

    @app.get(
        "/v1/datasets/{dataset}/sample",
        response_model=SampleShape,
        responses=READING,
        openapi_extra={"parameters": _PARAMETERS},
        tags=["reading"],
    )
    def show_sample(dataset: str, request: Request) -> Response:
        """Return made-up rows: they follow from the public schema alone."""
        return read(request, lambda caller: _sample(request, caller, dataset))

    @app.get(
        "/v1/datasets/{dataset}/sample.csv",
        response_class=Response,
        responses=_FILE,
        openapi_extra={"parameters": _PARAMETERS},
        tags=["reading"],
    )
    def show_sample_file(dataset: str, request: Request) -> Response:
        """Return made-up rows as CSV, as metadata of the dataset names them."""

        def work() -> Response:
            made = _sample(request, enter(request), dataset)
            return Response(sample_csv(made), media_type=f"{_CSV}; charset=utf-8")

        return answered(work)


def _sample(request: Request, caller: Caller, dataset: str) -> SampleShape:
    table, rows = request.query_params.get("table"), _rows(request)
    return parts_of(request).reading.sample(caller, dataset, table, rows)


def _rows(request: Request) -> int:
    given = request.query_params.get("rows", str(FEW_ROWS))
    if _ROWS.fullmatch(given) is None or not 1 <= int(given) <= MOST_ROWS:
        message = f"rows: a whole number from 1 to {MOST_ROWS}"
        raise InvalidOptionError(message)
    return int(given)
