"""A public schema as CSVW: W3C's Metadata Vocabulary for Tabular Data (2015)."""

import json
import re
from typing import Final

from server.use_cases.datasets.metadata.described import (
    bounds_of,
    column_facts,
    column_words,
    dataset_words,
    key_of,
    table_facts,
    table_words,
    values_of,
)
from server.use_cases.datasets.public_schema import PublicSchema
from server.use_cases.datasets.replies import ColumnShape, TableShape
from server.use_cases.services.documents import Document

_BASES: Final = {
    "integer": "integer",
    "decimal": "decimal",
    "date": "date",
    "timestamp": "dateTime",
    "text": "string",
    "boolean": "boolean",
}


def csvw_of(schema: PublicSchema) -> Document:
    """Return the schema as a group of tables, whose files hold made-up rows.

    Addresses are relative to that of the dataset's metadata on a server.
    """
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
        "@type": "TableGroup",
        "dc:title": schema["name"],
        "dc:description": dataset_words(schema),
        "schema:temporalCoverage": schema["snapshot_date"],
        "schema:additionalProperty": _properties({"max_units": schema["max_units"]}),
        "tables": [_table(table) for table in schema["tables"]],
    }


def _table(table: TableShape) -> Document:
    key = key_of(table)
    identity: Document = {"primaryKey": key} if key else {}
    return {
        "@type": "Table",
        "url": f"sample.csv?table={table['name']}",
        "dc:title": table["name"],
        "dc:description": table_words(table),
        "schema:additionalProperty": _properties(table_facts(table)),
        "tableSchema": {
            "@type": "Schema",
            "columns": [_column(column) for column in table["columns"]],
            **identity,
        },
    }


def _column(column: ColumnShape) -> Document:
    return {
        "@type": "Column",
        "name": column["name"],
        "titles": column["name"],
        "datatype": _datatype(column),
        "required": not column["nullable"],
        "dc:description": column_words(column),
        "schema:additionalProperty": _properties(column_facts(column)),
    }


def _datatype(column: ColumnShape) -> Document:
    """Return the type with all of the domain that CSVW can hold a file to."""
    datatype: Document = {"base": _BASES[column["type"]]}
    bounds, values = bounds_of(column), values_of(column)
    if bounds is not None:
        datatype["minimum"], datatype["maximum"] = bounds
    elif values is not None and column["type"] == "text":
        listed = "|".join(re.escape(str(value)) for value in values)
        datatype["format"] = f"^(?:{listed})$"
    if "max_length" in column:  # in bytes: no value has more characters
        datatype["maxLength"] = column["max_length"]
    return datatype


def _properties(facts: Document) -> list[Document]:
    return [
        {
            "@type": "schema:PropertyValue",
            "schema:name": name,
            "schema:value": _plain(value),
        }
        for name, value in facts.items()
    ]


def _plain(value: object) -> object:
    """Return a value as JSON-LD takes it; what has members is a text of JSON."""
    is_plain = isinstance(value, bool | int | str)
    return value if is_plain else json.dumps(value, ensure_ascii=False)
