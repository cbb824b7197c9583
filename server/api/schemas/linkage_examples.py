"""Whole replies of the routes of linkages, for the OpenAPI document."""

from server.api.schemas.admin_examples import Example, Shown

_CREATED = "2026-05-04T09:30:00+00:00"
_RANDOM = "6b1f0c2d9a8e47530f1b2c3d"
_JOB = f"job_{_RANDOM}"
_ITEM: Example = {
    "id": f"lnk_{_RANDOM}",
    "name": "patients",
    "population": "hospital_patients",
    "created": _CREATED,
    "created_by": "carol",
    "job": _JOB,
    "runs": 2,
    "open": 11,
    "undecided": 14,
    "waiting": True,
}
_DETAIL: Example = {
    **_ITEM,
    "opinions": 2,
    "file": "patients.yaml",
    "report": {"patients": 2_412, "doubts": 14},
    "history": [
        {
            "job": _JOB,
            "number": 2,
            "created": _CREATED,
            "created_by": "carol",
            "snapshot": f"s_{_RANDOM}",
            "merges": 1,
            "splits": 0,
        }
    ],
}
_DOUBT: Example = {
    "number": 1,
    "left": 12,
    "right": 40,
    "score": 0.83,
    "weight": 2.3,
    "reason": "score",
    "verdicts": {"match": 1},
    "state": "waiting",
}
_OPINION: Example = {
    "decision": f"dec_{_RANDOM}",
    "verdict": "match",
    "created": _CREATED,
    "created_by": "carol",
    "undone": None,
    "undone_by": None,
}
_STEP: Example = {
    "field": "surname",
    "level": "one letter differs",
    "similarity": 0.92,
    "weight": 4.1,
    "left": [["M", False], ["e", True], ["ier", False]],
    "right": [["M", False], ["a", True], ["ier", False]],
}
_WHOLE_DOUBT: Example = {
    **_DOUBT,
    "records": [
        {
            "record": 12,
            "source": "admissions",
            "id": "A-881",
            "patient": 5_017_000_000_012,
            "values": {"surname": "Meier", "birth_date": "03.04.1951"},
        },
        {
            "record": 40,
            "source": "laboratory",
            "id": "770412",
            "patient": 5_017_000_000_031,
            "values": {"surname": "Maier"},
        },
    ],
    "prior": -11.2,
    "steps": [_STEP],
    "opinions": [_OPINION],
}
_DECISION: Example = {
    "decision": f"dec_{_RANDOM}",
    "number": 7,
    "linkage": f"lnk_{_RANDOM}",
    "left": 12,
    "right": 40,
    "verdict": "match",
    "created": _CREATED,
    "created_by": "carol",
    "undone": None,
    "state": "waiting",
}
_ACT: Example = {
    "run": 2,
    "job": _JOB,
    "snapshot": f"s_{_RANDOM}",
    "kind": "merge",
    "old": 5_017_000_000_031,
    "new": 5_017_000_000_012,
    "records": 1,
}


def _ok(reply: Example) -> Shown:
    return Shown({"200": reply})


def _page(item: Example) -> Shown:
    return _ok({"items": [item], "next_cursor": None})


_PATH = "/v1/admin/linkages"
LINKAGE_EXAMPLES = {
    f"GET {_PATH}": _page(_ITEM),
    f"GET {_PATH}/{{linkage}}": _ok(_DETAIL),
    f"GET {_PATH}/{{linkage}}/doubts": _page(_DOUBT),
    f"GET {_PATH}/{{linkage}}/doubts/{{pair}}": _ok(_WHOLE_DOUBT),
    f"POST {_PATH}/{{linkage}}/doubts/{{pair}}/decisions": Shown(
        {"201": _DECISION}, {"verdict": "match"}
    ),
    f"GET {_PATH}/{{linkage}}/decisions": _page(_DECISION),
    f"POST {_PATH}/{{linkage}}/decisions/{{decision}}/undo": _ok(
        {**_DECISION, "undone": _CREATED, "state": "open"}
    ),
    f"GET {_PATH}/{{linkage}}/agreement": _ok(
        {
            "clerks": [
                {
                    "clerk": "carol",
                    "pairs": 31,
                    "matches": 22,
                    "no_matches": 8,
                    "unsure": 1,
                }
            ],
            "agreements": [
                {"clerks": ["carol", "dora"], "pairs": 20, "agreed": 19, "kappa": 0.88}
            ],
        }
    ),
    f"GET {_PATH}/{{linkage}}/acts": _ok({"acts": [_ACT]}),
}
