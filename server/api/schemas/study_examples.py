"""Examples of studies: several questions for one charge."""

from server.api.schemas.admin_examples import Example, Shown

_SNAPSHOT = "s_9f2c0d6a41b7e835c2d1f0a4"
_QUERY_ID = "q_b82f6a0c9d1e4735a6c0f1d2"
_REMAINING: Example = {"project": "4.7", "principal": None}
_BY_SEX = "SELECT sex, COUNT(DISTINCT patient_id) AS n FROM patients GROUP BY sex"
_BY_BOTH = (
    "SELECT sex, diabetes, COUNT(DISTINCT patient_id) AS n FROM patients "
    "GROUP BY sex, diabetes"
)
_SEX: Example = {"name": "sex", "kind": "group", "type": "text", "unit": None}
_DIABETES: Example = {**_SEX, "name": "diabetes", "type": "boolean"}
_N: Example = {"name": "n", "kind": "measure", "type": "integer", "unit": "patient"}
_PARTS = [
    {
        "questions": [0, 1],
        "adds_up": True,
        "tables": [
            {
                "sql": _BY_BOTH,
                "epsilon": "0.2",
                "cells": 4,
                "noise": [
                    {
                        "column": "n",
                        "mechanism": "discrete_laplace",
                        "scale": "5.0",
                        "l1_sensitivity": "1",
                        "half_width_95": "15",
                    }
                ],
            }
        ],
    }
]
_BODY: Example = {
    "questions": [
        {"sql": _BY_SEX, "accuracy": {"within": 20}},
        {"sql": _BY_BOTH, "accuracy": {"within": 15}},
    ]
}
_PLAN: Example = {
    "epsilon": "0.2",
    "delta": "0",
    "one_by_one": {"epsilon": "0.347"},
    "affordable": True,
    "needs_confirmation": False,
    "remaining": _REMAINING,
    "snapshot": _SNAPSHOT,
    "questions": [
        {
            "sql": _BY_SEX,
            "columns": [_SEX, _N],
            "cells": 2,
            "part": 0,
            "alone": {"epsilon": "0.147"},
            "noise": [],
            "half_widths": [{"column": "n", "least": "19", "greatest": "19"}],
            "warnings": [],
            "free": [],
        },
        {
            "sql": _BY_BOTH,
            "columns": [_SEX, _DIABETES, _N],
            "cells": 4,
            "part": 0,
            "alone": {"epsilon": "0.2"},
            "noise": [],
            "half_widths": [{"column": "n", "least": "15", "greatest": "15"}],
            "warnings": [],
            "free": [],
        },
    ],
    "parts": _PARTS,
    "cost": {
        "steps": 121_000_000,
        "memory_bytes": 8_400_000,
        "unit_steps": 9_200,
        "unit_memory_bytes": 1_100,
        "startup_steps": 700_000,
        "startup_memory_bytes": 2_359_296,
    },
    "free": [],
}


def _answer(
    columns: list[Example], rows: list[list[object]], numbers: list[int], width: int
) -> Example:
    ends = [[str(number - width), str(number + width)] for number in numbers]
    return {
        "query_id": _QUERY_ID,
        "snapshot": _SNAPSHOT,
        "columns": columns,
        "rows": rows,
        "noise": [],
        "intervals": [{"column": "n", "confidence": "0.95", "rows": ends}],
        "half_widths": [
            {"column": "n", "confidence": "0.95", "rows": [str(width)] * len(rows)}
        ],
        "paid": {"kind": "paid", "queries": [_QUERY_ID], "epsilon": "0.2"},
        "charge": {"epsilon": "0", "delta": "0", "reused": True},
        "remaining": _REMAINING,
        "derivation": "each number adds up noisy cells of one table, measured once: "
        + _BY_BOTH,
        "warnings": [],
    }


_ANSWER: Example = {
    "query_id": _QUERY_ID,
    "snapshot": _SNAPSHOT,
    "answers": [
        _answer([_SEX, _N], [["F", 10_312], ["M", 9_655]], [10_312, 9_655], 19),
        _answer(
            [_SEX, _DIABETES, _N],
            [
                ["F", False, 9_301],
                ["F", True, 1_011],
                ["M", False, 8_512],
                ["M", True, 1_143],
            ],
            [9_301, 1_011, 8_512, 1_143],
            15,
        ),
    ],
    "parts": _PARTS,
    "charge": {"epsilon": "0.2", "delta": "0", "reused": False},
    "remaining": _REMAINING,
}
STUDY_EXAMPLES: dict[str, Shown] = {
    "POST /v1/datasets/{dataset}/plans": Shown({"200": _PLAN}, _BODY),
    "POST /v1/datasets/{dataset}/studies": Shown({"200": _ANSWER}, _BODY),
}
