"""A public schema as Croissant: MLCommons' format of dataset metadata, version 1.0."""

from typing import Final

from server.use_cases.datasets.metadata.described import (
    column_words,
    dataset_words,
    key_of,
    table_words,
    values_of,
)
from server.use_cases.datasets.public_schema import PublicSchema
from server.use_cases.datasets.replies import ColumnShape, TableShape
from server.use_cases.services.documents import Document

CONFORMS_TO: Final = "http://mlcommons.org/croissant/1.0"
_TYPES: Final = {
    "integer": "sc:Integer",
    "decimal": "sc:Float",
    "date": "sc:Date",
    "timestamp": "sc:DateTime",
    "text": "sc:Text",
    "boolean": "sc:Boolean",
}
_CONTEXT: Final[Document] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the format prescribes; nothing is fetched to read the document."""


def croissant_of(schema: PublicSchema) -> Document:
    """Return the schema as a live dataset, whose files hold made-up rows.

    A declared list of values is a record set of its own. No file has a digest.
    """
    base = f"/v1/datasets/{schema['name']}"
    tables = schema["tables"]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": schema["name"],
        "description": dataset_words(schema),
        "conformsTo": CONFORMS_TO,
        "url": base,
        "isLiveDataset": True,
        "temporalCoverage": schema["snapshot_date"],
        "distribution": [_file(base, table) for table in tables],
        "recordSet": [
            *(_records(table) for table in tables),
            *(
                _listed(table, column)
                for table in tables
                for column in table["columns"]
                if values_of(column) is not None
            ),
        ],
    }


def _file(base: str, table: TableShape) -> Document:
    name = table["name"]
    return {
        "@type": "cr:FileObject",
        "@id": f"{name}.csv",
        "name": f"{name}.csv",
        "description": "Made-up rows, of nobody.",
        "contentUrl": f"{base}/sample.csv?table={name}",
        "encodingFormat": "text/csv",
    }


def _records(table: TableShape) -> Document:
    name = table["name"]
    keys = [{"@id": f"{name}/{column}"} for column in key_of(table)]
    identity: Document = {"key": keys} if keys else {}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": table_words(table),
        **identity,
        "field": [_field(name, column) for column in table["columns"]],
    }


def _field(table: str, column: ColumnShape) -> Document:
    name = column["name"]
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{name}",
        "name": name,
        "description": column_words(column),
        "dataType": _TYPES[column["type"]],
        "source": {
            "fileObject": {"@id": f"{table}.csv"},
            "extract": {"column": name},
        },
    }


def _listed(table: TableShape, column: ColumnShape) -> Document:
    name = f"{table['name']}/{column['name']}/values"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name.replace("/", "_"),
        "description": f"The declared values of {table['name']}.{column['name']}.",
        "dataType": "sc:Enumeration",
        "key": {"@id": f"{name}/value"},
        "field": {
            "@type": "cr:Field",
            "@id": f"{name}/value",
            "name": "value",
            "dataType": _TYPES[column["type"]],
        },
        "data": [{f"{name}/value": value} for value in values_of(column) or []],
    }
