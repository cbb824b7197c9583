"""Each ``queries/NAME.sql`` has its plan, SQL, derivation and answer in ``NAME.txt``.

``CURATOR_GOLDEN=1`` rewrites them; whoever reviews reads the difference.
"""

import json
import os
import re
from pathlib import Path

import pytest

from privacy.contributions import ContributionBounds
from tests.support.compiling import compile_query
from tests.support.data.hospital import (
    ENCOUNTERS,
    HOSPITAL,
    PATIENTS,
    connect,
    create_table,
    run,
    sample_rows,
)

FOLDER = Path(__file__).parent / "queries"
QUERIES = sorted(FOLDER.glob("*.sql"))


@pytest.fixture(scope="module")
def database():
    rows = sample_rows()
    first = [row for row in rows if row["row_rank"] == 1 and row["sex"] != "other"]
    with connect() as connection:
        create_table(connection, ENCOUNTERS, rows)
        create_table(connection, PATIENTS, [{**r, "region": "east"} for r in first])
        yield connection


def bounds_of(sql):
    """Read the bounds that a query's comments ask for."""
    asked = dict(re.findall(r"^-- bound (\S+) (\d+)$", sql, re.MULTILINE))
    tables = {name for name in asked if name.startswith("tables.")}
    return ContributionBounds(
        tuple((name.removeprefix("tables."), int(asked[name])) for name in tables),
        *(int(asked[n]) if n in asked else None for n in ("max_rows", "max_groups")),
    )


def written(query, answer):
    """Write everything that compiling a query decides, and what it counts here."""
    rendered = query.rendered
    cells = [str(cell) for cell in rendered.cells[:12]]
    more = len(rendered.cells) - len(cells)
    sections = {
        "plan": "\n".join(
            f"{name}: {json.dumps(part, ensure_ascii=False)}"
            for name, part in json.loads(query.canonical).items()
        ),
        "sql": "\n\n".join(statement.sql for statement in rendered.statements),
        "parameters": "\n".join(
            repr(value)
            for statement in rendered.statements
            for value in statement.parameters
        ),
        "cells": "\n".join([*cells, *([f"and {more} more"] if more else [])]),
        "columns": "\n".join(
            f"{c.name}: {c.kind}, {c.type.value}, {c.unit}, {c.shown}"
            for c in query.columns
        ),
        "presentation": str(query.presentation),
        "derivation": query.derivation,
        "warnings": "\n".join(f"{w.code}: {w.detail}" for w in query.warnings),
        "exact answer on the sample": "\n".join(map(str, answer)),
    }
    return "\n".join(f"== {name}\n{text}\n" for name, text in sections.items())


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_a_query_compiles_to_its_golden_plan_and_runs(database, path):
    sql = path.read_text(encoding="utf-8")
    query = compile_query(sql, HOSPITAL, bounds_of(sql))
    found = written(query, run(database, query.rendered))
    golden = path.with_suffix(".txt")
    if os.environ.get("CURATOR_GOLDEN") == "1":
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


def test_no_golden_text_has_lost_its_query():
    assert {p.stem for p in FOLDER.glob("*.txt")} == {p.stem for p in QUERIES}
