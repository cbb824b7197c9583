"""Errors of published methods, read from a file of records taken earlier."""

import json
from pathlib import Path

TRIED_LATER = ("own-hb", "own-pthb", "own-dpcube-both", "own-dpcube-ls")
"""Variants that were made after the published columns had been seen: no anchors."""


def read(path):
    """Return records, or none where no path is given."""
    return json.loads(Path(path).read_text("utf-8")) if path else []


def columns(records, row, axes):
    """Return each method's error per question, in records, on this row."""
    found = {}
    for record in records:
        same = (
            record.get("data") == row.data
            and record.get("scale") == row.scale
            and record.get("eps") == float(row.epsilon)
            and (axes > 1 or record.get("workload") == "prefix")
            and "scaled_l2" in record
        )
        if same:
            found[record["alg"]] = record["scaled_l2"] * row.scale
    return found


def best_published(found, only=None):
    """Return the name and error of the least published column."""
    fit = {
        name: error
        for name, error in found.items()
        if (name in only if only else not name.startswith(TRIED_LATER))
    }
    return min(fit.items(), key=lambda item: item[1], default=(None, None))
