"""Whole replies of the routes that are no questions, for the OpenAPI document."""

from dataclasses import dataclass, field

Example = dict[str, object]


@dataclass(frozen=True, slots=True)
class Shown:
    """What one operation is sent and replies."""

    replies: dict[str, Example | str]
    body: Example | None = field(default=None)


_CREATED = "2026-05-04T09:30:00+00:00"
_RANDOM = "6b1f0c2d9a8e47530f1b2c3d"
_POPULATION: Example = {
    "name": "hospital_patients",
    "unit": "patient",
    "unit_type": "integer",
    "unit_fold": [],
    "max_units": 50_000,
    "measure": "pure",
    "epsilon_cap": "10",
    "delta_cap": "0",
    "spent": "0.3",
    "remaining": "9.7",
    "blocks": [],
    "epsilon_per_query": {"min": "0.001", "max": "5"},
    "datasets": ["hospital"],
    "shares_units_with": [],
    "custodians": ["carol", "dora"],
    "created": _CREATED,
}
_DATASET: Example = {
    "name": "hospital",
    "population": "hospital_patients",
    "snapshot": f"s_{_RANDOM}",
}
_LISTED_JOB: Example = {
    "id": f"job_{_RANDOM}",
    "kind": "dataset.load",
    "population": "hospital_patients",
    "actor": "carol",
    "created": _CREATED,
    "state": "running",
    "stage": "read encounters",
    "done": 125_000_000,
    "total": 310_000_000,
    "attempts": 1,
    "cancel_requested": False,
    "started": _CREATED,
    "ended": None,
}
_JOB: Example = {
    **_LISTED_JOB,
    "error": None,
    "result": None,
    "parameters": {"manifest": "/srv/import/hospital.yaml", "dry_run": False},
    "lineage": {
        "inputs": [
            {"path": "/srv/import/hospital.yaml", "sha256": "9f", "size_bytes": 4_096},
            {"path": "/srv/import/encounters.csv", "size_bytes": 310_000_000},
        ],
        "code_version": "0.1.0",
        "outputs": [],
    },
}
_PROJECT: Example = {
    "name": "sepsis",
    "id": f"j_{_RANDOM}",
    "population": "hospital_patients",
    "expires": "2027-06-30",
    "private_history": False,
    "purpose": "sepsis mortality by ward",
    "protocol": "EC-2026-17",
    "confirm_above": None,
    "created": _CREATED,
    "created_by": "carol",
    "datasets": ["hospital"],
    "principals": ["ada"],
    "allotment": "5",
    "spent": "0.3",
    "remaining": "4.7",
}
_PRINCIPAL: Example = {
    "name": "carol",
    "id": f"p_{_RANDOM}",
    "role": "custodian",
    "disabled": False,
    "populations": ["hospital_patients"],
    "created": _CREATED,
    "created_by": "root",
}
_KEY: Example = {
    "id": f"k_{_RANDOM}",
    "principal": "ada",
    "revoked": False,
    "created": _CREATED,
    "issued_by": "root",
}
_DOES = (
    "The odds about one patient change by a factor of at most 163,000 instead of "
    "22,100, by all answers together; 3.2 was spent."
)
_PROPOSAL: Example = {
    "proposal": f"pr_{_RANDOM}",
    "state": "open",
    "action": "population.cap",
    "population": "hospital_patients",
    "words": ["cap of hospital_patients: 10 -> 12"],
    "differences": ["cap of hospital_patients: 10 -> 12"],
    "does": [_DOES],
    "leaves": [],
    "stale": [],
    "change": {
        "action": "population.cap",
        "population": "hospital_patients",
        "altered": [{"what": "cap of hospital_patients", "old": "10", "new": "12"}],
        "reason": None,
    },
    "digest": "4f1c" * 16,
    "proposed_by": "carol",
    "created": _CREATED,
    "lapses": "2026-05-11T09:30:00+00:00",
    "decided_by": None,
    "decided": None,
    "decision_reason": None,
}
_DECIDED = {"decided_by": "dora", "decided": "2026-05-04T11:02:00+00:00"}
_ENTRY: Example = {
    "number": 12,
    "kind": "charge",
    "time": "2026-05-04T09:30:00+00:00",
    "query_id": "q_0f3a9c5e7d1b2a4c6e8f0a1b",
    "state": "answered",
    "population": "hospital_patients",
    "project": "sepsis",
    "principal": "ada",
    "epsilon": "0.3",
    "blocks": [],
    "action": None,
    "actor": None,
}
_SHOWN_SNAPSHOT: Example = {
    "id": f"s_{_RANDOM}",
    "dataset": "hospital",
    "created": _CREATED,
    "state": "active",
}
_SAMPLE: Example = {
    "made_up": True,
    "dataset": "hospital",
    "table": "patients",
    "columns": [
        {"name": "patient_id", "type": "integer"},
        {"name": "sex", "type": "text"},
        {"name": "weight_kg", "type": "decimal"},
    ],
    "rows": [[1, "F", "71.5"], [2, "M", None]],
}
_CSVW: Example = {
    "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
    "@type": "TableGroup",
    "dc:title": "hospital",
    "tables": [
        {
            "@type": "Table",
            "url": "sample.csv?table=patients",
            "dc:title": "patients",
            "tableSchema": {
                "@type": "Schema",
                "columns": [
                    {
                        "@type": "Column",
                        "name": "sex",
                        "titles": "sex",
                        "datatype": {"base": "string", "format": "^(?:F|M)$"},
                        "required": False,
                    }
                ],
            },
        }
    ],
}


def _page(item: Example) -> Shown:
    return Shown({"200": {"items": [item], "next_cursor": None}})


def _ok(reply: Example, body: Example | None = None) -> Shown:
    return Shown({"200": reply}, body)


def _proposable(reply: Example, body: Example) -> Shown:
    return Shown({"200": reply, "202": _PROPOSAL}, body)


def _written(markdown: str) -> Shown:
    return Shown({"200": markdown})


def _made(reply: Example, body: Example) -> Shown:
    return Shown({"201": reply}, body)


_HELD: Example = {"population": "hospital_patients", "principal": "dora"}
ADMIN_EXAMPLES = {
    "GET /v1/datasets/{dataset}/sample": _ok(_SAMPLE),
    "GET /v1/datasets/{dataset}/sample.csv": _written(
        "patient_id,sex,weight_kg\r\n1,F,71.5\r\n2,M,\r\n"
    ),
    "GET /v1/datasets/{dataset}/metadata": _ok(_CSVW),
    "GET /v1/admin/populations": _page(_POPULATION),
    "GET /v1/admin/populations/{population}": _ok(_POPULATION),
    "PATCH /v1/admin/populations/{population}": _proposable(
        {**_POPULATION, "epsilon_cap": "9", "remaining": "8.7"}, {"epsilon_cap": "9"}
    ),
    "POST /v1/admin/populations/{population}/custodians": _ok(
        _HELD, {"principal": "dora"}
    ),
    "DELETE /v1/admin/populations/{population}/custodians/{principal}": _ok(
        {**_HELD, "removed": True}
    ),
    "GET /v1/admin/datasets": _page({**_DATASET, "created": _CREATED}),
    "GET /v1/admin/datasets/{dataset}": _ok(
        {
            **_DATASET,
            "snapshots": [{"id": f"s_{_RANDOM}", "created": _CREATED}],
            "tables": [{"name": "patients", "unit_column": "patient_id"}],
        }
    ),
    "GET /v1/admin/datasets/{dataset}/snapshots": _page(_SHOWN_SNAPSHOT),
    "POST /v1/admin/datasets/{dataset}/snapshots/{snapshot}/activate": _proposable(
        _SHOWN_SNAPSHOT, {"reason": "the protocol's amendment 2"}
    ),
    "DELETE /v1/admin/datasets/{dataset}/snapshots/{snapshot}": _ok(
        {"id": f"s_{_RANDOM}", "dataset": "hospital", "state": "removed"}
    ),
    "GET /v1/admin/populations/{population}/statement": _written(
        "# Privacy statement: population hospital_patients\n"
    ),
    "GET /v1/admin/projects/{project}/report": _written("# Report: project sepsis\n"),
    "GET /v1/admin/projects": _page(_PROJECT),
    "POST /v1/admin/projects": _made(
        {"id": f"j_{_RANDOM}", "name": "sepsis"},
        {
            "name": "sepsis",
            "datasets": ["hospital"],
            "principals": ["ada"],
            "allotment": "5",
            "expires": "2027-06-30",
            "purpose": "sepsis mortality by ward",
            "protocol": "EC-2026-17",
        },
    ),
    "GET /v1/admin/projects/{project}": _ok(_PROJECT),
    "PATCH /v1/admin/projects/{project}": _proposable(_PROJECT, {"allotment": "5"}),
    "POST /v1/admin/projects/{project}/grants": _proposable(
        {"project": "sepsis", "principal": "grace"},
        {"principal": "grace", "allotment": "1"},
    ),
    "DELETE /v1/admin/projects/{project}/grants/principals/{principal}": _ok(
        {"project": "sepsis", "principal": "grace", "revoked": True}
    ),
    "DELETE /v1/admin/projects/{project}/grants/datasets/{dataset}": _ok(
        {"project": "sepsis", "dataset": "hospital", "revoked": True}
    ),
    "GET /v1/admin/principals": _page(_PRINCIPAL),
    "POST /v1/admin/principals": _made(
        {"id": f"p_{_RANDOM}", "name": "carol"},
        {
            "name": "carol",
            "role": "custodian",
            "populations": ["hospital_patients"],
        },
    ),
    "POST /v1/admin/principals/{principal}/disable": _ok(
        {"name": "ada", "disabled": True}
    ),
    "POST /v1/admin/principals/{principal}/enable": _ok(
        {"name": "ada", "disabled": False}
    ),
    "GET /v1/admin/keys": _page(_KEY),
    "POST /v1/admin/keys": _made(
        {"id": f"k_{_RANDOM}", "key": "cur_the-token-is-shown-this-once"},
        {"principal": "ada"},
    ),
    "DELETE /v1/admin/keys/{key}": _ok({"id": f"k_{_RANDOM}", "revoked": True}),
    "GET /v1/admin/proposals": _page(_PROPOSAL),
    "GET /v1/admin/proposals/{proposal}": _ok(_PROPOSAL),
    "POST /v1/admin/proposals/{proposal}/approve": _ok(
        {**_PROPOSAL, **_DECIDED, "state": "approved"}
    ),
    "POST /v1/admin/proposals/{proposal}/reject": _ok(
        {
            **_PROPOSAL,
            **_DECIDED,
            "state": "rejected",
            "decision_reason": "not in the protocol",
        },
        {"reason": "not in the protocol"},
    ),
    "GET /v1/admin/jobs": _page(_LISTED_JOB),
    "POST /v1/admin/jobs": Shown(
        {"202": _JOB},
        {"kind": "dataset.load", "parameters": {"manifest": "hospital.yaml"}},
    ),
    "GET /v1/admin/jobs/{job}": _ok(_JOB),
    "POST /v1/admin/jobs/{job}/cancel": _ok({**_JOB, "cancel_requested": True}),
    "GET /v1/admin/ledger": _page(_ENTRY),
    "GET /v1/admin/ledger/verify": _ok({"ok": True, "entries": 12, "problems": []}),
}
