"""Whole replies of the routes of anonymized copies, for the OpenAPI document."""

from server.api.schemas.admin_examples import Example, Shown

_CREATED = "2026-05-04T09:30:00+00:00"
_RANDOM = "6b1f0c2d9a8e47530f1b2c3d"
_ITEM: Example = {
    "id": f"anon_{_RANDOM}",
    "name": "registry",
    "population": "hospital_patients",
    "kind": "texts",
    "created": _CREATED,
    "created_by": "carol",
    "handed_out": 1,
}
_DETAIL: Example = {
    **_ITEM,
    "warning": "no differential privacy: ...",
    "manifest": {"profile": "safe_harbor", "counts": {"documents": 977}},
    "hand_outs": [
        {
            "recipient": "Ada, registry",
            "purpose": "protocol 12/2026",
            "time": _CREATED,
            "by": "carol",
            "approved_by": "dave",
            "sha256": "9f" * 32,
        }
    ],
    "others": [
        {
            "recipient": "Ben, text mining",
            "name": "notes",
            "copy": "anon_0f1b2c3d6b1f0c2d9a8e4753",
            "patients_in_both": 1204,
            "patients_in_one": 96,
            "fewest_together": 1,
            "average_risk": 1.0,
            "why_unknown": None,
        }
    ],
    "all_others": None,
}

ANONYMIZED_EXAMPLES = {
    "GET /v1/admin/anonymized": Shown({"200": {"items": [_ITEM], "next_cursor": None}}),
    "GET /v1/admin/anonymized/{copy}": Shown({"200": _DETAIL}),
}
