"""Linking by match weights: Fellegi-Sunter by EM, and patients settled from it.

A record has one value of a field there, so of a note the first name of several words,
the earliest day, if others are years later, the first number and the first address are
taken.
"""

from collections.abc import Mapping

import duckdb

from benchmarks.linking.matching import Values, names_of
from upstream.linkage.declared import FieldSpec, LinkageSpec
from upstream.linkage.loop.matching.dates import days_of
from upstream.linkage.patients.settled import (
    Known,
    Rules,
)
from upstream.linkage.patients.settling import settle
from upstream.linkage.records import ScoredPair
from upstream.linkage.scoring.scoring import Scoring

SPEC = LinkageSpec(
    fields={
        "given": FieldSpec(kind="name"),
        "last": FieldSpec(kind="name"),
        "born": FieldSpec(kind="date"),
        "phone": FieldSpec(kind="phone"),
        "no": FieldSpec(kind="id"),
        "address": FieldSpec(kind="address"),
    }
)
_LAST_YEAR = 2025  # of any note: two digits mean the last such year until then


def link_by_weights(records: Mapping[str, Values]) -> dict[str, int]:
    """Return which patient each record is of, by the record's name."""
    with duckdb.connect() as connection:
        _fill(connection, records)
        scoring = Scoring(connection, SPEC)
        parameters = scoring.learn()
        scoring.score(parameters)
        found = connection.execute(
            'SELECT "left", "right", score, weight, differs FROM pair'
        )
        links = [ScoredPair(*row) for row in found.fetchall()]
        count = len(records)
        known = Known(
            ["", *["all"] * count],
            [0] * (count + 1),
            [0] * (count + 1),
            lambda number, _: number,
        )
        settled = settle(
            known,
            links,
            Rules(parameters.link, parameters.review),
            score=lambda pairs: scoring.score_pairs(parameters, pairs),
        )
    return dict(zip(records, settled.keys[1:], strict=True))


def _fill(connection, records: Mapping[str, Values]) -> None:
    columns = ", ".join(f'"{name}" VARCHAR' for name in SPEC.fields)
    connection.execute(
        f"CREATE TABLE record (number INTEGER, source VARCHAR, id VARCHAR, {columns})"
    )
    rows = []
    for number, (name, values) in enumerate(records.items(), 1):
        one = single(values)
        rows.append([number, "all", name, *(one.get(each) for each in SPEC.fields)])
    places = ", ".join("?" * len(rows[0]))
    connection.executemany(f"INSERT INTO record VALUES ({places})", rows)


def single(values: Values) -> dict[str, str]:
    """Return one value of each field."""
    found = {name: said[0] for name, said in values.items() if said}
    for given, last in names_of(values):
        found |= {"given": given, "last": last}
        break
    read = [days_of(value, "month_first") for value in values.get("born", ())]
    likely = [{day for day in each if day[0] <= _LAST_YEAR} for each in read]
    days = [max(each) for each in likely if each]
    if "name" in values:
        found.pop("born", None)
        days = [day for day in days if day[0] < max(days)[0] - 1]
    if days:
        found["born"] = "{:04}-{:02}-{:02}".format(*min(days))
    return found
