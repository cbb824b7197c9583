"""What the page of a dataset tells of its tables: declarations, nothing else."""

from typing import TypedDict, cast

from privacy.schema import ColumnType, Dataset, HierarchyDomain, Table
from privacy.schema_json import domain_to_json, table_to_json
from query_lang.hierarchies import code_count, levels_of
from server.use_cases.datasets.replies import (
    DividedDataset,
    HierarchyShape,
    TableShape,
)


class PublicSchema(TypedDict):
    """A dataset's tables as its page shows them; each export is made of this alone."""

    name: str
    snapshot_date: str
    max_units: int
    tables: list[TableShape]
    hierarchies: list[HierarchyShape]


def public_schema_of(schema: Dataset) -> PublicSchema:
    """Return what analysts are shown of a dataset's tables."""
    return {
        "name": schema.name,
        "snapshot_date": schema.snapshot_date.isoformat(),
        "max_units": schema.max_units,
        "tables": [_shown_table(table) for table in schema.tables.values()],
        "hierarchies": _hierarchies(schema),
    }


def shown_blocks(schema: Dataset) -> DividedDataset:
    """Return how the dataset's population is divided; nothing where it is not."""
    blocks = schema.blocks
    if blocks is None:
        return {}
    return {
        "blocks": {
            "column": blocks.column,
            "tables": list(blocks.tables),
            "values": list(blocks.values),
        }
    }


def _shown_table(table: Table) -> TableShape:
    """Return a table as the manifest declares it, its sizes always told."""
    shown = table_to_json(table)
    columns = shown["columns"]
    if isinstance(columns, list):
        for number, told in enumerate(columns):
            column = table.columns[number]
            told["domain"] = domain_to_json(table.domain_of(number))
            if column.type is ColumnType.TEXT:
                told["max_length"] = column.max_length
    return cast("TableShape", {**shown, "max_rows": table.max_rows})


def _hierarchies(schema: Dataset) -> list[HierarchyShape]:
    """List the hierarchies of some column, and the dataset's own."""
    columns = (c for table in schema.tables.values() for c in table.columns)
    used = {c.domain.name for c in columns if isinstance(c.domain, HierarchyDomain)}
    domains = [HierarchyDomain(name) for name in sorted(used | set(schema.hierarchies))]
    own = schema.hierarchies
    return [
        {
            "name": domain.name,
            "levels": list(levels_of(domain, own)),
            "codes": code_count(domain, own),
        }
        for domain in domains
    ]
