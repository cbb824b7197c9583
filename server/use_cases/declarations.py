"""Public declarations stay fixed across snapshots: find what a manifest changes."""

from collections.abc import Mapping, Sequence

from privacy.schema_json import JsonObject

_TABLE_FACTS = ("unit_column", "public", "max_rows_per_unit", "key", "fan_out")
_HIERARCHY_FACTS = ("levels", "codes")
_COLUMN_FACTS = ("type", "scale", "nullable", "constant_in_unit", "domain")


def changed_declarations(
    snapshots: Sequence[JsonObject], given: JsonObject
) -> list[str]:
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
    changes = []
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
) -> list[str]:
    before: dict[str, JsonObject] = {}
    for snapshot in snapshots:
        before.update(_by_name(snapshot.get("hierarchies", [])))
    changes = []
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
) -> list[str]:
    return [f"{place}: {fact}" for fact in facts if old.get(fact) != new.get(fact)]
