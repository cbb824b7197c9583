"""Public declarations stay fixed across snapshots: find what a manifest changes."""

from collections.abc import Mapping

from privacy.schema_json import JsonObject

_TABLE_FACTS = ("unit_column", "public", "max_rows_per_unit", "key")
_COLUMN_FACTS = ("type", "scale", "nullable", "constant_in_unit", "domain")


def changed_declarations(stored: JsonObject, given: JsonObject) -> list[str]:
    """Return the places where ``given`` differs from ``stored``.

    Tables and columns may come and go: only what both declare must agree, since a
    changed domain or bound would tell of the data that moved its custodian.
    """
    changes = []
    before, after = _by_name(stored["tables"]), _by_name(given["tables"])
    for name in sorted(before.keys() & after.keys()):
        changes += _differences(name, before[name], after[name], _TABLE_FACTS)
        old = _by_name(before[name]["columns"])
        new = _by_name(after[name]["columns"])
        for column in sorted(old.keys() & new.keys()):
            changes += _differences(
                f"{name}.{column}", old[column], new[column], _COLUMN_FACTS
            )
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
