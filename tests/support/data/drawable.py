"""Answers of given keys and noisy numbers, as the server writes them, for pictures."""

import itertools
import random

from curator_client import Answer

SEED = 46
WIDTH = 60


def drawable(keys, *, counts=None, hide_below=None, types=(), **members):
    """Return an answer with a row for each combination of the keys' values.

    Args:
        keys: The values of each key, by name.
        counts: A number a row; else noise around numbers between 0 and 900.
        hide_below: The dataset's display rule.
        types: Of keys that are no texts, by name.
        members: Of the reply, where it is to have others.
    """
    combined = list(itertools.product(*keys.values()))
    drawn = random.Random(SEED)  # the same picture each time
    made = [drawn.randint(0, 900) + drawn.randint(-60, 60) for _ in combined]
    columns = [_column(name, "group", dict(types).get(name, "text")) for name in keys]
    rows = [[*key, n] for key, n in zip(combined, counts or made, strict=True)]
    document = {
        "columns": [*columns, _column("stays", "measure", "integer", "rows")],
        "rows": rows,
        "noise": [{"column": "stays", "scale": "20", "half_width_95": str(WIDTH)}],
        "intervals": [],
        **members,
    }
    return Answer(document, hide_below=hide_below)


def _column(name, kind, type_, unit=None):
    return {"name": name, "kind": kind, "type": type_, "unit": unit}
