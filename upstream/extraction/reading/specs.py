"""What a custodian declares of a source of texts: one model for each kind."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    model_validator,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from upstream.manifests.declarations import Identifier
from upstream.manifests.file_specs import Encoding

MAX_CHARACTERS = 1_000_000
"""The most characters of one document where a source declares nothing."""

MOST_CHARACTERS = 20_000_000
"""The most that a source may declare: one document is held in memory, several times."""


def _inside(pattern: str) -> str:
    parts = PurePosixPath(pattern).parts
    if pattern.startswith("/") or ".." in parts or "\0" in pattern:
        message = "write a path that goes down from the import folder, without .."
        raise ValueError(message)
    return pattern


def _names_files(pattern: str) -> str:
    if not PurePosixPath(pattern).parts:
        message = "write a pattern of files' names, such as **/*.txt"
        raise ValueError(message)
    return _inside(pattern)


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        message = "is no regular expression that Python reads"
        raise ValueError(message) from error
    return value


def _element(path: str) -> str:
    names = path.split("/")
    if not all(re.fullmatch(r"[\w.-]+", name) for name in names):
        message = "write elements' names without prefixes, joined by /: section/text"
        raise ValueError(message)
    return path


def _value(path: str) -> str:
    element, _, attribute = path.rpartition("@")
    if attribute and element.endswith("/"):
        _element(element[:-1])
    elif attribute and element:
        message = "write an attribute as @name, or behind its element as element/@name"
        raise ValueError(message)
    _element(attribute or path)
    return path


_PATH = Field(min_length=1, max_length=1000)
Folder = Annotated[str, _PATH, AfterValidator(_inside)]
Glob = Annotated[str, _PATH, AfterValidator(_names_files)]
ElementPath = Annotated[str, Field(max_length=500), AfterValidator(_element)]
ValuePath = Annotated[str, Field(max_length=500), AfterValidator(_value)]
ColumnName = Annotated[str, Field(min_length=1, max_length=500)]


class _Source(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Identifier = Field(description="Names the source in reports.")
    max_characters: StrictInt = Field(
        default=MAX_CHARACTERS,
        ge=1,
        le=MOST_CHARACTERS,
        description="A longer document is set aside.",
    )


class _Files(_Source):
    folder: Folder = Field(
        default=".",
        description="Where patterns and ids start, under the import folder.",
    )
    files: tuple[Glob, ...] = Field(
        min_length=1,
        description="Patterns of paths under the folder; ** stands for any folders.",
    )
    encoding: Encoding | None = Field(
        default=None,
        description="Of all its files; detected for each document where not said.",
    )


class TextFiles(_Files):
    """Each file is one document; its id is its path under the folder."""

    kind: Literal["text"]
    id_pattern: (
        Annotated[str, Field(max_length=1000), AfterValidator(_pattern)] | None
    ) = Field(
        default=None,
        description=(
            "Regular expression of the whole path: named groups become fields, and "
            "one called id the document's id."
        ),
    )


class _Columns(_Source):
    texts: tuple[ColumnName, ...] = Field(
        min_length=1, description="Columns of notes: each value is one document."
    )
    id: tuple[ColumnName, ...] = Field(
        default=(),
        description="Columns whose values, joined by /, name a row for ever.",
    )
    fields: dict[Identifier, ColumnName] = Field(
        default_factory=dict, description="Columns that are kept beside each document."
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, once, in a fixed order."""
        return tuple(dict.fromkeys((*self.texts, *self.id, *self.fields.values())))


class ColumnFiles(_Files, _Columns):
    """Columns of CSV files and Parquet files; their names' ends say which is which.

    Without id columns a row is named by its file and its number.
    """

    kind: Literal["columns"]
    separator: Literal[",", ";", "\t", "|"] = Field(
        default=",", description="What stands between the fields of a CSV file."
    )


class Database(_Columns):
    """Columns of a table, or of a SELECT of the custodian's own; it is only read."""

    kind: Literal["database"]
    url: str | None = Field(
        default=None,
        description="SQLAlchemy's URL of the database, without a password.",
    )
    url_variable: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable that holds the URL, password and all.",
    )
    table: ColumnName | None = Field(default=None, description="The table's name.")
    table_schema: ColumnName | None = Field(
        default=None, description="Where the table lies, if not in the default schema."
    )
    select: str | None = Field(
        default=None,
        max_length=100_000,
        description=(
            "One SELECT instead of a table; it orders its rows the same way each time."
        ),
    )
    id: tuple[ColumnName, ...] = Field(
        min_length=1,
        description="Columns whose values, joined by /, name a row for ever.",
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.url is None) == (self.url_variable is None):
            message = "declare one of url and url_variable"
            raise ValueError(message)
        if (self.table is None) == (self.select is None):
            message = "declare one of table and select"
            raise ValueError(message)
        if self.select is not None and self.table_schema is not None:
            message = "write the schema into the select"
            raise ValueError(message)
        self._check_select()
        self._check_url()
        return self

    def _check_select(self) -> None:
        statement = (self.select or "select").strip()
        if not re.match(r"(?i)(select|with)\b", statement):
            message = "the statement must begin with SELECT or WITH"
            raise ValueError(message)

    def _check_url(self) -> None:
        if self.url is None:
            return
        try:
            password = make_url(self.url).password
        except (ArgumentError, ValueError) as error:
            message = "is no URL that SQLAlchemy reads, such as sqlite:///notes.db"
            raise ValueError(message) from error
        if password is not None:
            message = "put a URL with a password into an environment variable"
            raise ValueError(message)


class Hl7Files(_Files):
    """HL7 v2 messages, one or many to a file, batches too.

    A document is made of the texts (OBX-5 of type TX, FT or ST, and NTE-3) that stand
    under one OBR, or before the first.
    """

    kind: Literal["hl7"]

    @model_validator(mode="after")
    def _of_single_bytes(self) -> Self:
        if self.encoding is not None and self.encoding.startswith("utf-16"):
            message = "HL7 files in UTF-16 are not read: export them as UTF-8"
            raise ValueError(message)
        return self


class FhirFiles(_Source):
    """FHIR resources as bulk exports write them: ndjson in UTF-8, one a line."""

    kind: Literal["fhir"]
    folder: Folder = Field(
        default=".",
        description="Where patterns and attachments' paths start.",
    )
    files: tuple[Glob, ...] = Field(
        min_length=1,
        description="Patterns of paths under the folder; ** stands for any folders.",
    )


class XmlFiles(_Files):
    """Notes in XML: the text within elements; entities of its own are refused.

    A CDA document has its notes in ``section/text``.
    """

    kind: Literal["xml"]
    note: ElementPath = Field(
        description="Element that holds a note: its name, or the end of its path."
    )
    record: ElementPath | None = Field(
        default=None,
        description="Element of one note and its fields; the whole file if not said.",
    )
    id: ValuePath | None = Field(
        default=None,
        description="Where under the record its id stands: @ID, or header/number.",
    )
    fields: dict[Identifier, ValuePath] = Field(
        default_factory=dict,
        description="Where under the record each field stands.",
    )


FileSource = TextFiles | ColumnFiles | Hl7Files | FhirFiles | XmlFiles
SourceSpec = Annotated[FileSource | Database, Field(discriminator="kind")]
"""A declared source of texts; ``kind`` says which."""
