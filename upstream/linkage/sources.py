"""What a custodian declares of a table that is linked: its files, ids and fields."""

from typing import Annotated, Literal

from pydantic import Field

from upstream.extraction.reading.specs import ColumnName, Folder, Glob
from upstream.linkage.declared import Declared
from upstream.manifests.declarations import Identifier
from upstream.manifests.file_specs import Encoding

Attribute = Literal["identifier", "quasi_identifier", "sensitive"]
"""What a value is in the identifier view: it names a person, may help to, or is what
nobody is to learn of one."""


class TableSource(Declared):
    """Rows of CSV and Parquet files.

    Attributes:
        name: Names the source, for ever.
        folder: Where patterns start, under the import folder.
        files: Patterns of paths under the folder.
        separator: What stands between the fields of a CSV file; None: what its header
            has most of.
        encoding: Of CSV files; None: UTF-8.
        id: Columns whose values, joined by /, name a patient in this source, or a row;
            a / within a value has a backslash before it. Rows of one id are one record.
        fields: By name: the column that has it, or several that are joined by a blank.
        view: Other columns that the identifier view shows, and what they are.
    """

    kind: Literal["table"]
    name: Identifier
    folder: Folder = "."
    files: tuple[Glob, ...] = Field(min_length=1)
    separator: Literal[",", ";", "\t", "|"] | None = None
    encoding: Encoding | None = None
    id: tuple[ColumnName, ...] = Field(min_length=1)
    fields: dict[
        Identifier, ColumnName | Annotated[tuple[ColumnName, ...], Field(min_length=1)]
    ] = Field(min_length=1)
    view: dict[ColumnName, Attribute] = Field(default_factory=dict)

    def columns_of(self, field: str) -> tuple[str, ...]:
        """Return the columns that a field is made of; none where it has none."""
        columns = self.fields.get(field, ())
        return (columns,) if isinstance(columns, str) else columns

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named, once, in a fixed order."""
        told = (column for field in self.fields for column in self.columns_of(field))
        return tuple(dict.fromkeys((*self.id, *told, *self.view)))
