"""What a manifest tells of columns that its public schema does not.

Where numbers, though unit ids too, are no unit ids; and what files call columns.
"""

from collections.abc import Iterator, Mapping


def coinciding_places(manifest: Mapping[str, object]) -> frozenset[str]:
    """Return the places whose numbers a manifest's JSON declares to be no unit ids."""
    return frozenset(_coinciding(manifest))


def names_in_files(manifest: Mapping[str, object]) -> dict[str, list[str]]:
    """Return what files call columns, by ``table.column``, where that is declared."""
    return {
        f"{table['name']}.{column['name']}": _names(column["from"])
        for table in _objects(manifest.get("tables"))
        for column in _objects(table.get("columns"))
        if column.get("from") is not None
    }


def _coinciding(manifest: Mapping[str, object]) -> Iterator[str]:
    for table in _objects(manifest.get("tables")):
        for column in _objects(table.get("columns")):
            if column.get("not_unit_ids"):
                yield f"{table['name']}.{column['name']}"
    for hierarchy in _objects(manifest.get("hierarchies")):
        if hierarchy.get("not_unit_ids"):
            yield f"hierarchy {hierarchy['name']}"


def _names(declared: object) -> list[str]:
    return [*map(str, declared)] if isinstance(declared, list) else [str(declared)]


def _objects(value: object) -> list[Mapping[str, object]]:
    return (
        [one for one in value if isinstance(one, dict)]
        if isinstance(value, list)
        else []
    )
