"""Whole replies, as the OpenAPI document shows them; a test holds each to its schema.

All of them speak of one made-up question.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TypedDict, cast

from server.api.forms.csv_text import csv_of
from server.api.forms.forms import Form
from server.api.forms.tables import table_of
from server.api.schemas.admin_examples import ADMIN_EXAMPLES
from server.api.schemas.anonymized_examples import ANONYMIZED_EXAMPLES
from server.api.schemas.linkage_examples import LINKAGE_EXAMPLES
from server.api.schemas.problems import PROBLEM_JSON, STATUS_BY_CODE, Problem
from server.api.schemas.release_examples import RELEASE_EXAMPLES
from server.api.schemas.study_examples import STUDY_EXAMPLES

_OTHERS = ADMIN_EXAMPLES | RELEASE_EXAMPLES | LINKAGE_EXAMPLES | ANONYMIZED_EXAMPLES
_OTHERS |= STUDY_EXAMPLES
Example = dict[str, object]
_Content = dict[str, dict[str, object]]
_JSON = "application/json"


class _Body(TypedDict):
    content: _Content


class _Operation(TypedDict, total=False):
    requestBody: _Body
    responses: dict[str, _Body]


_SQL = (
    "SELECT sex, COUNT(DISTINCT patient_id) AS patients, AVG(weight_kg) AS mean_weight "
    "FROM patients GROUP BY sex"
)
_SNAPSHOT = "s_6b1f0c2d9a8e47530f1b2c3d"
_QUERY_ID = "q_0f3a9c5e7d1b2a4c6e8f0a1b"
_REMAINING: Example = {"project": "4.7", "principal": None}
_COLUMNS = [
    {"name": "sex", "kind": "group", "type": "text", "unit": None},
    {"name": "patients", "kind": "measure", "type": "integer", "unit": "patient"},
    {"name": "mean_weight", "kind": "measure", "type": "decimal", "unit": None},
]
_COUNT_NOISE = {
    "mechanism": "discrete_laplace",
    "scale": "10.000000000000002",
    "l1_sensitivity": "1",
    "half_width_95": "30",
}
_NOISE = [
    {"column": "patients", **_COUNT_NOISE},
    {
        "column": "mean_weight",
        "part": "sum",
        "mechanism": "discrete_laplace",
        "scale": "2500.0000000000004",
        "l1_sensitivity": "250.0",
        "half_width_95": "7489.3",
    },
    {"column": "mean_weight", "part": "count", **_COUNT_NOISE},
]
_DERIVATION = (
    "Neighbours differ by all rows of one patient.\n"
    "patients = COUNT(DISTINCT patient_id): one patient moves it by at most 1.\n"
    "mean_weight = AVG(weight_kg): one patient moves its sum by at most 250.0, its "
    "count by at most 1."
)
_CHARGE: Example = {"epsilon": "0.3", "delta": "0", "reused": False}

QUESTION: Example = {"sql": _SQL, "epsilon": "0.3", "options": {"reuse": "allow"}}
ANSWER: Example = {
    "query_id": _QUERY_ID,
    "snapshot": _SNAPSHOT,
    "columns": _COLUMNS,
    "rows": [
        ["F", 10_312, "68.214530"],
        ["M", 9_655, "81.900412"],
        [None, -7, None],
    ],
    "noise": _NOISE,
    "intervals": [
        {
            "column": "mean_weight",
            "confidence": "0.95",
            "rows": [["67.911024", "68.520113"], ["81.533902", "82.268870"], None],
        }
    ],
    "charge": _CHARGE,
    "remaining": _REMAINING,
    "derivation": _DERIVATION,
    "warnings": [],
}
COST: Example = {
    "steps": 121_000_000,
    "memory_bytes": 8_400_000,
    "unit_steps": 9_200,
    "unit_memory_bytes": 1_100,
    "startup_steps": 700_000,
    "startup_memory_bytes": 2_359_296,
}
PLAN: Example = {
    "epsilon": "0.3",
    "delta": "0",
    "affordable": True,
    "needs_confirmation": False,
    "remaining": {"project": "5", "principal": None},
    "snapshot": _SNAPSHOT,
    "cells": 3,
    "columns": _COLUMNS,
    "noise": _NOISE,
    "expected": [],
    "attainable": None,
    "cost": COST,
    "derivation": _DERIVATION,
    "warnings": [],
    "free": [
        {
            "kind": "release",
            "id": "rel_6b1f0c2d9a8e47530f1b2c3d",
            "name": "patients_by_sex",
            "epsilon": "1",
        }
    ],
    "related": [
        {
            "kind": "release",
            "id": "rel_0f3a9c5e7d1b2a4c6e8f0a1b",
            "name": "adult_patients",
            "epsilon": "0.5",
            "differences": [
                {
                    "what": "filter",
                    "detail": "the release leaves out rows that the query counts",
                }
            ],
        }
    ],
    "ways": [
        {
            "kind": "release",
            "detail": "a published release counts what you ask; its answer tells how "
            "exactly",
            "epsilon": "0",
            "half_widths": [],
            "request": {
                "sql": _SQL,
                "project": "sepsis",
                "epsilon": "0.3",
                "options": {"prefer": "release"},
            },
        }
    ],
}
BUDGET: Example = {
    "projects": [
        {
            "project": "sepsis",
            "population": "hospital_patients",
            "measure": "pure",
            "datasets": ["hospital"],
            "expires": "2027-06-30",
            "warnings": [
                {"code": "expires_soon", "detail": "access ends 2027-06-30"},
            ],
            "allotment": "5",
            "spent": "0.3",
            "remaining": "4.7",
            "principal": None,
            "cap": None,
        }
    ]
}
_DATASET_ITEM: Example = {
    "name": "hospital",
    "population": "hospital_patients",
    "snapshot": _SNAPSHOT,
}
DATASETS: Example = {"items": [_DATASET_ITEM], "next_cursor": None}
DATASET: Example = {
    **_DATASET_ITEM,
    "snapshot_date": "2025-12-31",
    "measure": "pure",
    "epsilon_per_query": {"min": "0.001", "max": "5"},
    "display": {"hide_below": 11},
    "limits": {"cells": 10_000},
    "hierarchies": [
        {"name": "icd10", "levels": ["chapter", "block", "category"], "codes": 2_054}
    ],
    "max_units": 50_000,
    "budget": BUDGET,
    "tables": [
        {
            "name": "patients",
            "unit_column": "patient_id",
            "max_rows_per_unit": 1,
            "max_rows": 50_000,
            "key": [],
            "columns": [
                {
                    "name": "sex",
                    "type": "text",
                    "scale": 0,
                    "nullable": True,
                    "constant_in_unit": False,
                    "domain": {"values": ["F", "M"], "other": False},
                    "max_length": 1_000,
                },
                {
                    "name": "weight_kg",
                    "type": "decimal",
                    "scale": 1,
                    "nullable": True,
                    "constant_in_unit": False,
                    "domain": {"min": "0.0", "max": "250.0"},
                },
            ],
        }
    ],
}
QUERIES: Example = {
    "items": [
        {
            "query_id": _QUERY_ID,
            "state": "answered",
            "time": "2026-05-04T09:30:00+00:00",
            "dataset": "hospital",
            "snapshot": _SNAPSHOT,
            "project": "sepsis",
            "sql": _SQL,
            "charge": _CHARGE,
        }
    ],
    "next_cursor": None,
}
QUERY: Example = {"query_id": _QUERY_ID, "state": "in_flight"}
HEALTH: Example = {"status": "ok"}

_PLACE: Example = {"line": 1, "column": 8}
_MEMBERS: dict[str, Example] = {
    "budget_exceeded": {"remaining": _REMAINING, "attainable": None},
    "query_failed": {"query_id": _QUERY_ID},
    "sql_syntax": {**_PLACE, "rule": "syntax", "hint": "write one SELECT"},
    "sql_not_allowed": {
        **_PLACE,
        "rule": "min_max",
        "hint": "ask for counts over declared groups",
    },
    "unknown_column": {
        **_PLACE,
        "rule": "unknown_column",
        "hint": "did you mean sex? its columns: sex",
        "rewritten": "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
    },
    "no_public_domain": {
        **_PLACE,
        "rule": "no_public_domain",
        "hint": "group by a column with a declared domain",
    },
    "too_many_groups": {**_PLACE, "rule": "cells", "hint": "group by fewer columns"},
}


_REPLIES: dict[str, Example] = {
    "/v1/datasets/{dataset}/plan": PLAN,
    "/v1/datasets/{dataset}/queries": ANSWER,
    "/v1/datasets": DATASETS,
    "/v1/datasets/{dataset}": DATASET,
    "/v1/queries": QUERIES,
    "/v1/queries/{query_id}": QUERY,
    "/v1/budget": BUDGET,
    "/healthz": HEALTH,
    "/readyz": HEALTH,
}


def add_examples(document: dict[str, dict[str, dict[str, object]]]) -> None:
    """Add examples to each body of an OpenAPI document.

    Added to the finished document, since FastAPI leaves out members that are null.
    """
    document["components"]["examples"] = {
        code: {"value": _problem(code)}
        for code, status in STATUS_BY_CODE.items()
        if status != HTTPStatus.METHOD_NOT_ALLOWED  # of no route
    }
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            found = cast("_Operation", operation)
            route = f"{verb.upper()} {path}"
            shown = _OTHERS.get(route)
            if shown is None:
                _add_to_operation(found, {"200": _REPLIES[path]}, QUESTION)
            else:
                _add_to_operation(found, shown.replies, shown.body)


def _add_to_operation(
    operation: "_Operation", replies: Mapping[str, Example | str], body: Example | None
) -> None:
    if "requestBody" in operation:
        operation["requestBody"]["content"][_JSON]["example"] = body
    for status, response in operation["responses"].items():
        content = response["content"]
        if status in replies:
            for kind, shown in content.items():
                shown["example"] = _in_form(kind, replies[status])
        else:
            content[PROBLEM_JSON]["examples"] = _problems(int(status))


def _in_form(kind: str, reply: Example | str) -> Example | str:
    """Return a reply as a media type has it; a stream is no text, and is told of.

    A file has an example for each.
    """
    if isinstance(reply, str):
        return reply
    if kind in reply or kind.endswith("json"):
        return cast("Example | str", reply.get(kind, reply))
    answer = reply if "rows" in reply else ANSWER
    if kind == Form.CSV.value:
        return csv_of(table_of(answer)).decode()
    return "The columns of the CSV, as an Arrow IPC stream."


def _problems(status: int) -> Example:
    """Name the example of each problem that has this status."""
    return {
        code: {"$ref": f"#/components/examples/{code}"}
        for code, its_status in STATUS_BY_CODE.items()
        if its_status == status
    }


def _problem(code: str) -> Example:
    sentence = "one sentence that says what was refused, and never quotes data"
    return Problem(code, sentence, dict(_MEMBERS.get(code, {}))).document()
