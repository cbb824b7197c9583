"""Answers as the server stores them, for the forms that are made of them."""

import json

COLUMNS = (
    ("sex", "group", "text"),
    ("day", "group", "date"),
    ("at", "group", "timestamp"),
    ("alive", "group", "boolean"),
    ("dose", "group", "decimal"),
    ("patients", "measure", "integer"),
    ("cost", "measure", "decimal"),
    ("mean", "measure", "decimal"),
    ("median", "measure", "date"),
)
ROWS = (
    ("F", "2024-02-29", "2024-02-29T23:59:59.000001", True, "0.50", 10_312, "-0.05",
     "68.214530", "2024-05-01"),
    (None, None, None, None, None, -7, "12345678901234567890.25", None, None),
    ('a "b", c\n', "1969-12-31", "1969-12-31T00:00:00", False, "-1.5", 0, "3.00",
     "1E-7", "1970-01-01"),
)  # fmt: skip
INTERVALS = {
    "mean": [["67.9", "68.520113"], None, [None, "0.5"]],
    "median": [["2024-04-30", "2024-05-03"], None, [None, None]],
}


def column(name, kind, type_, unit=None):
    return {"name": name, "kind": kind, "type": type_, "unit": unit}


def answer(columns=COLUMNS, rows=ROWS, intervals=INTERVALS, **members):
    """Return an answer; others of its members as they are given."""
    return {
        "query_id": "q_1",
        "snapshot": "s_1",
        "columns": [column(*each) for each in columns],
        "rows": [list(row) for row in rows],
        "noise": [
            {"column": "patients", "scale": "10", "half_width_95": "30"},
            {"column": "cost", "scale": "100", "half_width_95": "0.3"},
            {"column": "mean", "part": "sum", "scale": "9", "half_width_95": "27"},
        ],
        "intervals": [
            {"column": name, "confidence": "0.95", "rows": pairs}
            for name, pairs in intervals.items()
        ],
        "charge": {"epsilon": "0.3", "delta": "0", "reused": False},
        "remaining": {"project": "4.7", "principal": None},
        "derivation": "Neighbours differ.\nOne line more.",
        "warnings": [{"code": "rows_chosen", "detail": "noise chose"}],
        **members,
    }


def stored(**changes):
    """Return the bytes of an answer."""
    return json.dumps(answer(**changes)).encode()
