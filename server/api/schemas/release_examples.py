"""Whole replies of the routes about releases, for the OpenAPI document."""

from server.api.schemas.admin_examples import ADMIN_EXAMPLES, Example, Shown

_RANDOM = "6b1f0c2d9a8e47530f1b2c3d"
_CHARGED = "2026-05-04T09:30:00+00:00"
_SPEC: Example = {
    "name": "age_and_sex",
    "dataset": "hospital",
    "kind": "cube",
    "strategy": "cells",
    "from": "encounters",
    "count": "units",
    "dimensions": [{"column": "sex"}, {"column": "age", "bands": 10}],
    "epsilon": "0.5",
    "readers": [{"project": "sepsis"}],
}
_DERIVATION = "Neighbours differ by all rows of one patient."
_PLAN: Example = {
    "name": "age_and_sex",
    "dataset": "hospital",
    "snapshot": f"s_{_RANDOM}",
    "strategy": "cells",
    "epsilon": "0.5",
    "parts": [{"name": "cells", "epsilon": "0.5"}],
    "kind": "cube",
    "cells": 39,
    "dimensions": [
        {"name": "sex", "values": 3, "expression": "sex"},
        {"name": "age", "values": 13, "expression": "age_band(age, 10)"},
    ],
    "l1_sensitivity": 13,
    "cost": {
        "steps": 340_000_000,
        "memory_bytes": 96_000_000,
        "unit_steps": 9_200,
        "unit_memory_bytes": 1_100,
        "startup_steps": 700_000,
        "startup_memory_bytes": 2_359_296,
    },
    "derivation": _DERIVATION,
    "warnings": [],
    "expected_errors": [
        {
            "strategy": "cells",
            "cell_rmse": 36.77,
            "total_rmse": 229.62,
            "words": "A sum's error grows with the square root of its number of cells.",
        }
    ],
    "affordable": True,
    "remaining": "9.5",
    "name_is_free": True,
    "population": "hospital_patients",
}
_LISTED: Example = {
    "id": f"rel_{_RANDOM}",
    "name": "age_and_sex",
    "population": "hospital_patients",
    "dataset": "hospital",
    "snapshot": f"s_{_RANDOM}",
    "epsilon": "0.5",
    "state": "published",
    "public": False,
    "created": _CHARGED,
    "created_by": "carol",
    "visible": "2026-05-04T09:30:10+00:00",
    "job": f"job_{_RANDOM}",
}
_MANIFEST: Example = {
    "format": 1,
    "id": f"rel_{_RANDOM}",
    "name": "age_and_sex",
    "kind": "cube",
    "loss": {"epsilon": "0.5", "delta": "0"},
    "neighbours": "add or remove all rows of one patient",
    "l1_sensitivity": 13,
    "charged": _CHARGED,
    "strategy": "cells",
    "parts": [{"name": "cells", "epsilon": "0.5"}],
    "files": {"cube.csv": {"sha256": "9f", "size_bytes": 1_494}},
    "public_key": "0" * 64,
    "signature": "0" * 128,
}
_ADMIN: Example = {
    **_LISTED,
    "readers": [{"project": "sepsis"}],
    "spec": _SPEC,
    "manifest": _MANIFEST,
}
_ITEM: Example = {
    "id": f"rel_{_RANDOM}",
    "name": "age_and_sex",
    "kind": "cube",
    "dataset": "hospital",
    "snapshot": f"s_{_RANDOM}",
    "strategy": "cells",
    "epsilon": "0.5",
    "counts": "units",
    "public": False,
    "created": _CHARGED,
}
_DUE = "2026-12-15"
_ANNOUNCED: Example = {
    **{name: told for name, told in _ITEM.items() if name != "snapshot"},
    "id": f"ann_{_RANDOM}",
    "by": _DUE,
}
_HELD: Example = {
    "id": f"ann_{_RANDOM}",
    "name": "age_and_sex",
    "population": "hospital_patients",
    "dataset": "hospital",
    "epsilon": "0.5",
    "by": _DUE,
    "state": "open",
    "public": False,
    "created": _CHARGED,
    "created_by": "carol",
}
_CATALOG: Example = {
    "@context": {
        "dcat": "http://www.w3.org/ns/dcat#",
        "dct": "http://purl.org/dc/terms/",
    },
    "@id": "/v1/catalog",
    "@type": "dcat:Catalog",
    "dct:title": "Releases of a Curator server",
    "dcat:dataset": [
        {
            "@id": f"/v1/releases/rel_{_RANDOM}",
            "@type": "dcat:Dataset",
            "dct:title": "age_and_sex",
        }
    ],
}
_JOB = ADMIN_EXAMPLES["POST /v1/admin/jobs"].replies["202"]


def _job() -> Example:
    """Return the queued job, as the routes of jobs show one."""
    shown = dict(_JOB) if isinstance(_JOB, dict) else {}
    read = {"dataset": "hospital", "snapshot": f"s_{_RANDOM}"}
    lineage = {"inputs": [read], "code_version": "1.0.0", "outputs": []}
    return {
        **shown,
        "kind": "release.publish",
        "state": "queued",
        "stage": None,
        "done": 0,
        "total": None,
        "attempts": 0,
        "started": None,
        "parameters": {"release": _SPEC},
        "lineage": lineage,
    }


def _page(item: Example) -> Shown:
    return Shown({"200": {"items": [item], "next_cursor": None}})


_ANSWER: Example = {
    "release": f"rel_{_RANDOM}",
    "snapshot": f"s_{_RANDOM}",
    "columns": [
        {"name": "sex", "kind": "group", "type": "text", "unit": None},
        {"name": "n", "kind": "measure", "type": "integer", "unit": "rows"},
        {"name": "died", "kind": "measure", "type": "decimal", "unit": None},
    ],
    "rows": [["F", 5_120, "0.041797"], ["M", 4_873, "0.052330"], [None, -3, None]],
    "intervals": [
        {
            "column": "n",
            "confidence": "0.95",
            "rows": [["5034", "5206"], ["4787", "4959"], ["-89", "83"]],
        },
        {
            "column": "died",
            "confidence": "0.95",
            "rows": [["0.033581", "0.050120"], ["0.043712", "0.061089"], None],
        },
    ],
    "half_widths": [{"column": "n", "confidence": "0.95", "rows": ["86", "86", "86"]}],
    "price": "0",
    "derivation": "read from a release and public facts alone: it costs nothing.",
    "warnings": [],
}
_QUESTION: Example = {
    "sql": "SELECT sex, COUNT(*) AS n, AVG(CASE WHEN died THEN 1 ELSE 0 END) AS died "
    "FROM admissions WHERE age BETWEEN 30 AND 59 GROUP BY sex",
    "confidence": "0.95",
}

_BRANCH: Example = {
    "release": f"rel_{_RANDOM}",
    "prefix": ["emergency", "icu"],
    "count": "812.000000",
    "half_width": "21.200000",
    "children": [
        {
            "kind": "symbol",
            "symbol": "surgery",
            "count": "540.000000",
            "half_width": "21.200000",
            "children": 4,
        },
        {
            "kind": "end",
            "symbol": None,
            "count": "180.000000",
            "half_width": "21.200000",
            "children": 0,
        },
        {
            "kind": "rest",
            "symbol": None,
            "count": "92.000000",
            "half_width": "36.720000",
            "children": 0,
        },
    ],
}

RELEASE_EXAMPLES = {
    "POST /v1/releases/{release}/queries": Shown({"200": _ANSWER}, _QUESTION),
    "POST /v1/admin/releases/plan": Shown({"200": _PLAN}, {"release": _SPEC}),
    "POST /v1/admin/releases": Shown({"202": _job()}, {"release": _SPEC}),
    "GET /v1/admin/releases": _page(_LISTED),
    "GET /v1/admin/releases/{release}": Shown({"200": _ADMIN}),
    "GET /v1/admin/releases/{release}/verify": Shown(
        {"200": {"release": f"rel_{_RANDOM}", "ok": True, "problems": []}}
    ),
    "POST /v1/admin/releases/{release}/withdraw": Shown(
        {"200": {**_ADMIN, "state": "withdrawn"}}, {"reason": "the cohort was wrong"}
    ),
    "POST /v1/admin/announcements": Shown(
        {"201": {**_HELD, "spec": _SPEC}}, {"release": _SPEC, "by": _DUE}
    ),
    "GET /v1/admin/announcements": _page(_HELD),
    "GET /v1/admin/announcements/{announcement}": Shown(
        {"200": {**_HELD, "spec": _SPEC}}
    ),
    "POST /v1/admin/announcements/{announcement}/withdraw": Shown(
        {"200": {**_HELD, "spec": _SPEC, "state": "withdrawn"}},
        {"reason": "it is counted next year"},
    ),
    "GET /v1/announcements": _page(_ANNOUNCED),
    "GET /v1/releases": _page(_ITEM),
    "GET /v1/releases/key": Shown({"200": {"public_key": "0" * 64}}),
    "GET /v1/releases/{release}": Shown({"200": {**_ITEM, "manifest": _MANIFEST}}),
    "GET /v1/releases/{release}/tree": Shown({"200": _BRANCH}),
    "GET /v1/catalog": Shown({"200": _CATALOG}),
    "GET /v1/releases/{release}/download": Shown(
        {
            "200": {
                "text/csv": "sex,age,estimate,variance,half_width_95\n"
                "f,0-9,512.0,1352.0,110.0\n",
                "application/vnd.apache.parquet": "The same table, as Parquet.",
                "application/json": _MANIFEST,
            }
        }
    ),
}
