"""Sentences and values of a public schema that every format of metadata shows."""

from privacy.wording import counted
from server.use_cases.datasets.public_schema import PublicSchema
from server.use_cases.datasets.replies import ColumnShape, TableShape
from server.use_cases.services.documents import Document

DATASET_NOTE = (
    "Asked through a Curator server with differential privacy: counts have noise. "
    "Rows are not published. Files named here hold made-up rows, of nobody, that "
    "follow from this schema alone."
)


def values_of(column: ColumnShape) -> list[object] | None:
    """Return the values of a declared list, ``other`` last; None without a list."""
    domain = column["domain"]
    if domain is None or "values" not in domain:
        return None
    values = domain["values"]
    listed = list(values) if isinstance(values, list) else []
    return [*listed, "other"] if domain.get("other") else listed


def bounds_of(column: ColumnShape) -> tuple[object, object] | None:
    """Return the least and the greatest value of a declared range."""
    domain = column["domain"]
    if domain is None or "min" not in domain:
        return None
    return domain["min"], domain["max"]


def dataset_words(schema: PublicSchema) -> str:
    """Say what a dataset is, for people."""
    return f"As of {schema['snapshot_date']}. {DATASET_NOTE}"


def table_words(table: TableShape) -> str:
    """Say whose rows a table has, for people."""
    if "unit_column" not in table:
        return "Public: about nobody."
    unit, most = table["unit_column"], counted(table["max_rows_per_unit"], "row")
    return f"Private: at most {most} of each {unit}, the protected unit."


def column_words(column: ColumnShape) -> str:
    """Say which values a column may have, for people."""
    parts = [_domain_words(column)]
    if column["constant_in_unit"]:
        parts.append("The same in all rows of a unit.")
    if "expression" in column:
        parts.append(f"Computed at the load: {column['expression']}.")
    return " ".join(parts)


def _domain_words(column: ColumnShape) -> str:
    bounds, values = bounds_of(column), values_of(column)
    if bounds is not None:
        return f"Declared range: {bounds[0]} to {bounds[1]}."
    if values is not None:
        return f"Declared list of {counted(len(values), 'value')}."
    if column["domain"] is not None:
        return f"Codes of the hierarchy {column['domain']['hierarchy']}."
    return "No declared domain."


def key_of(table: TableShape) -> list[str]:
    """Return the columns that identify a row: in a private table with the unit's."""
    key = list(table["key"])
    unit = table.get("unit_column")
    if unit is None or not key or unit in key:
        return key
    return [unit, *key]


def table_facts(table: TableShape) -> Document:
    """Return what formats have no word for, by the words of the schema's page."""
    names = ("public", "unit_column", "max_rows_per_unit", "max_rows", "fan_out")
    return {name: table[name] for name in names if name in table}  # type: ignore[literal-required]


def column_facts(column: ColumnShape) -> Document:
    """Return what formats have no word for, by the words of the schema's page."""
    facts: Document = {"constant_in_unit": column["constant_in_unit"]}
    if column["scale"]:
        facts["scale"] = column["scale"]
    if column["domain"] is not None:
        facts["domain"] = column["domain"]
    return facts
