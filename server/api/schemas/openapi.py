"""What the OpenAPI document says of every route alike: keys, limits, failures."""

import re
from http import HTTPStatus
from typing import Any, Final, TypedDict, cast

from server.api.forms.forms import Form
from server.api.schemas.problems import PROBLEM_JSON, STATUS_BY_CODE

INFO: Final[dict[str, Any]] = {
    "title": "Curator HTTP interface",
    "version": "1",
    "summary": "Differentially private answers about patients, paid from a budget.",
    "description": "Analysts ask SQL over patients and get noisy answers; each is paid "
    "from a budget of epsilon. Custodians hold the data and publish releases, which "
    "are free to ask.\n\nSend `Authorization: Bearer KEY`. Every refusal is "
    "`application/problem+json` with a stable code as its `type`; docs/errors.md has "
    "a heading for each, such as docs/errors.md#402-budget_exceeded. What may change "
    "within `/v1`, and how it is announced, is in docs/http.md, under Versions.",
    "license_info": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    "servers": [{"url": "/", "description": "Where this document was read."}],
    "openapi_tags": [
        {"name": name, "description": description}
        for name, description in (
            ("questions", "Plan and ask queries of a dataset; answers are paid."),
            ("reading", "What an analyst may ask, may spend, and has asked."),
            ("releases", "Published cubes and sequences: free to read and to ask."),
            (
                "publishing",
                "Custodians plan, announce, publish, verify and withdraw releases.",
            ),
            ("custody", "Populations, datasets and projects, for their custodians."),
            ("oversight", "Snapshots, privacy statements and reports."),
            ("people", "Principals, their keys, and custodians of populations."),
            ("proposals", "Changes that need a second person."),
            ("ledger", "What was spent and changed, and whether the record is whole."),
            ("jobs", "Background work of custodians: loads, releases, linkages."),
            ("linkages", "Doubtful pairs of records, and what clerks decide of them."),
            (
                "anonymized",
                "Copies that are not differentially private, and who has them.",
            ),
            ("health", "Whether the process lives, and whether it can serve."),
        )
    ],
}
"""What the application says of itself."""

_PROBLEM = {"schema": {"$ref": "#/components/schemas/ProblemShape"}}
_OF_EVERY_ROUTE = (500,)
_OF_KEYED_ROUTES = (401, 429, 503)
_SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key of this server (`cur_...`), or a token of the issuer "
        "that it trusts.",
    }
}
_RETRY_AFTER: dict[str, object] = {
    "Retry-After": {
        "description": "Whole seconds to wait, at least 1. Absent where waiting does "
        "not help: anchor_mismatch.",
        "schema": {"type": "integer", "minimum": 1},
    }
}
_HEADERS: dict[str, dict[str, object]] = {
    "401": {
        "WWW-Authenticate": {
            "description": "The scheme that is wanted.",
            "schema": {"type": "string", "const": "Bearer"},
        }
    },
    "429": _RETRY_AFTER,
    "503": _RETRY_AFTER,
}


_DONE: Final = {"200": "Done.", "201": "Made.", "202": "Queued, not done yet."}
_NAMES_IN_PATHS: Final = {
    "copy": "Id of the anonymized copy.",
    "dataset": "Name of the dataset.",
    "announcement": "Id of the announcement.",
    "decision": "Id of the decision.",
    "job": "Id of the job.",
    "key": "Id of the key; never its token.",
    "linkage": "Id of the linkage.",
    "pair": "Numbers of both records, as `12_40`.",
    "population": "Name of the population.",
    "principal": "Name of the principal.",
    "project": "Name of the project.",
    "proposal": "Id of the proposal.",
    "query_id": "Id of the query.",
    "release": "Id of the release, or its name: of several of one name the newest "
    "that you may read.",
    "snapshot": "Id of the snapshot.",
}


class _Operation(TypedDict, total=False):
    operationId: str
    summary: str
    description: str
    parameters: list[dict[str, Any]]
    responses: dict[str, dict[str, object]]
    security: list[dict[str, list[str]]]


def problem_responses(*statuses: int) -> dict[int | str, dict[str, object]]:
    """Return the descriptions of refusals with these statuses."""
    return {
        status: {
            "description": refused(status),
            "content": {PROBLEM_JSON: dict(_PROBLEM)},
        }
        for status in statuses
    }


def refused(status: int) -> str:
    """Return the phrase of a status, its codes, and where each is explained.

    >>> refused(402)
    'Payment Required. `type`: `budget_exceeded` (docs/errors.md#402-budget_exceeded).'
    """
    codes = ", ".join(
        f"`{code}` (docs/errors.md#{status}-{code})"
        for code, sent in STATUS_BY_CODE.items()
        if sent == status
    )
    return f"{HTTPStatus(status).phrase}. `type`: {codes}."


def summary_of(description: str) -> str:
    """Return the first clause of an operation's description.

    >>> summary_of("Ask a question: charged first, then answered with noise.")
    'Ask a question'
    """
    return re.split(r"[.,:;](?=\s|$)", description, maxsplit=1)[0]


FORMS: Final[dict[int | str, dict[str, object]]] = {
    200: {
        "content": {
            Form.CSV.value: {"schema": {"type": "string"}},
            Form.ARROW.value: {"schema": {"type": "string", "format": "binary"}},
        },
        "headers": {
            name: {"description": said, "schema": {"type": "string"}}
            for name, said in {
                "Vary": "Always `Accept`.",
                "Curator-Query-Id": "Of CSV and Arrow: id of the query.",
                "Curator-Release": "Of CSV and Arrow: id of the release asked.",
                "Curator-Snapshot": "Of CSV and Arrow: id of the snapshot.",
                "Curator-Epsilon": "Of CSV and Arrow: what the answer was charged.",
                "Curator-Rho": "Likewise, where the population counts rho.",
                "Curator-Confidence": "Of CSV and Arrow: that of the intervals.",
                "Curator-Warnings": "Of CSV and Arrow: codes of warnings, if any.",
                "Link": "Of CSV and Arrow: where the whole answer, or release, is.",
            }.items()
        },
    },
    **problem_responses(406),
}
"""What the OpenAPI document says of routes whose answers have other forms."""


def complete(document: dict[str, dict[str, dict[str, object]]]) -> None:
    """Add to each operation what every route, or every route with a key, can send."""
    document["components"]["securitySchemes"] = dict(_SECURITY_SCHEMES)
    _type_ledger_lines(document["components"]["schemas"]["Line"])
    for path, verbs in document["paths"].items():
        for operation in verbs.values():
            _complete(cast("_Operation", operation), keyed=path.startswith("/v1/"))


def _type_ledger_lines(line: Any) -> None:  # noqa: ANN401 - any JSON
    """Name the types of a ledger's line; its own room knows no schemas."""
    members = line["properties"]
    loss, time = ("#/components/schemas/" + name for name in ("LossText", "TimeText"))
    members["epsilon"]["anyOf"] = [{"$ref": loss}, {"type": "null"}]
    said = members["time"]["description"]
    members["time"] = {"$ref": time, "description": said}


def _complete(operation: _Operation, *, keyed: bool) -> None:
    statuses = (*_OF_KEYED_ROUTES, *_OF_EVERY_ROUTE) if keyed else _OF_EVERY_ROUTE
    responses = operation["responses"]
    for status, response in problem_responses(*statuses).items():
        responses.setdefault(str(status), response)
    for status, headers in _HEADERS.items():
        if status in responses:
            responses[status]["headers"] = headers
    for status, done in _DONE.items():
        if responses.get(status, {}).get("description") == "Successful Response":
            responses[status]["description"] = done
    operation["responses"] = dict(sorted(responses.items()))
    operation["security"] = [{"bearer": []}] if keyed else []
    operation["summary"] = summary_of(operation["description"])
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            parameter["description"] = _NAMES_IN_PATHS[parameter["name"]]
