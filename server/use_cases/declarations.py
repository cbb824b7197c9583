"""Public declarations stay fixed across snapshots: find what a manifest changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from privacy.schema_json import JsonObject

_TABLE_FACTS = ("unit_column", "public", "max_rows_per_unit", "key", "fan_out")
_HIERARCHY_FACTS = ("levels", "codes")
_COLUMN_FACTS = ("type", "scale", "nullable", "constant_in_unit", "domain")


@dataclass(frozen=True, slots=True)
class Changed:
    """One declaration that differs: its place, what it was, what it would be."""

    place: str
    old: object
    new: object


def changed_declarations(
    snapshots: Sequence[JsonObject], given: JsonObject
) -> list[Changed]:
    """Return the places where ``given`` differs from what was declared before.

    Tables and columns may come and go, but what was ever declared stays so: each is
    compared with the latest of ``snapshots`` (oldest first) that had it. A changed
    domain or bound would tell of the data that moved its custodian.
    """
    before: dict[str, JsonObject] = {}
    columns: dict[tuple[str, str], JsonObject] = {}
    for snapshot in snapshots:
        for name, table in _by_name(snapshot["tables"]).items():
            before[name] = table
            for column, facts in _by_name(table["columns"]).items():
                columns[name, column] = facts
    changes: list[Changed] = []
    for name, table in sorted(_by_name(given["tables"]).items()):
        if name not in before:
            continue
        changes += _differences(name, before[name], table, _TABLE_FACTS)
        for column, facts in sorted(_by_name(table["columns"]).items()):
            known = columns.get((name, column), facts)
            changes += _differences(f"{name}.{column}", known, facts, _COLUMN_FACTS)
    return changes + _changed_hierarchies(snapshots, given)


def _changed_hierarchies(
    snapshots: Sequence[JsonObject], given: JsonObject
) -> list[Changed]:
    before: dict[str, JsonObject] = {}
    for snapshot in snapshots:
        before.update(_by_name(snapshot.get("hierarchies", [])))
    changes: list[Changed] = []
    for name, hierarchy in sorted(_by_name(given.get("hierarchies", [])).items()):
        known = before.get(name, hierarchy)
        changes += _differences(f"hierarchy {name}", known, hierarchy, _HIERARCHY_FACTS)
    return changes


def _by_name(items: object) -> dict[str, JsonObject]:
    if not isinstance(items, list):
        message = "a schema holds lists of tables and columns"
        raise TypeError(message)
    return {item["name"]: item for item in items}


def _differences(
    place: str,
    old: Mapping[str, object],
    new: Mapping[str, object],
    facts: tuple[str, ...],
) -> list[Changed]:
    return [
        Changed(f"{place}: {fact}", old.get(fact), new.get(fact))
        for fact in facts
        if old.get(fact) != new.get(fact)
    ]


def made_public(snapshots: Sequence[JsonObject], given: JsonObject) -> list[Changed]:
    """Return the tables that ``given`` makes public and no snapshot had as such."""
    known = {
        name
        for snapshot in snapshots
        for name, table in _by_name(snapshot["tables"]).items()
        if table.get("public")
    }
    return [
        Changed(f"{name}: public", None, new=True)
        for name, table in sorted(_by_name(given["tables"]).items())
        if table.get("public") and name not in known
    ]
