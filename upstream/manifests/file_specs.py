"""What a custodian declares of how a table's files, sheets or database are written."""

from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    WithJsonSchema,
)

Encoding = Literal[
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "ascii",
    "windows-1252",
    "windows-1250",
    "windows-1251",
    "windows-1253",
    "windows-1254",
    "windows-1257",
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-9",
    "iso-8859-15",
    "cp437",
    "cp850",
]
"""What may be declared: encodings that write one character at a time, one way each."""

CSV_SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".dat"})
PARQUET_SUFFIXES = frozenset({".parquet"})
WORKBOOK_SUFFIXES = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
LINE_SUFFIXES = frozenset({".ndjson", ".jsonl"})
JSON_SUFFIXES = LINE_SUFFIXES | {".json"}
COMPRESSIONS = frozenset({".gz", ".zst", ".zip"})
MOST_ROWS_ASIDE = 10_000  # before a header, or at a file's end

FileKind = Literal["csv", "json", "parquet", "workbook"]

_KINDS: dict[str, FileKind] = {
    **dict.fromkeys(CSV_SUFFIXES, "csv"),
    **dict.fromkeys(JSON_SUFFIXES, "json"),
    **dict.fromkeys(PARQUET_SUFFIXES, "parquet"),
    **dict.fromkeys(WORKBOOK_SUFFIXES, "workbook"),
}
_WORDS = {"tab": "\t", "space": " "}
_ALIASES: dict[str, Encoding] = {
    "utf8": "utf-8",
    "utf-8-sig": "utf-8",
    "utf16": "utf-16",
    "cp1252": "windows-1252",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1257": "windows-1257",
    "latin1": "iso-8859-1",
    "latin-1": "iso-8859-1",
    "latin9": "iso-8859-15",
}


UNREAD = (
    "only text files (*.csv, *.tsv, *.txt, *.dat) and JSON (*.ndjson, *.jsonl, "
    "*.json), also as *.gz, *.zst or *.zip, *.parquet and workbooks (*.xlsx, *.xls, "
    "*.ods) can be read: export the table as one"
)
"""What is said of a file whose name's end is none that is read."""


_DATABASES = frozenset({".sqlite", ".sqlite3", ".db", ".db3"})
_DUMPS = frozenset({".sql", ".dump", ".dmp"})
_TEXTS = frozenset({".psv", ".asc", ".tab", ".log", ".rpt", ".out"})


def unread(name: str) -> str:
    """Return what to do with a file whose name's end is none that is read.

    >>> unread("his.sqlite")
    'is a database: declare database: {url: "sqlite:///his.sqlite", table: ...}'
    >>> unread("his.sql").partition(":")[0]
    'is a dump of a database'
    """
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    packed = next((last for last in suffixes[-1:] if last in COMPRESSIONS), "")
    last = (suffixes[:-1] if packed else suffixes)[-1:]
    if last and last[0] in _DATABASES and not packed:
        url = f'"sqlite:///{name}"'
        return f"is a database: declare database: {{url: {url}, table: ...}}"
    if last and last[0] in _DUMPS:
        return (
            "is a dump of a database: restore it into one, and give the database's "
            "URL in place of the file (postgresql+psycopg://reader@host/name), or "
            "export its tables as text"
        )
    if last and last[0] in _TEXTS:
        return (
            f"its name ends in {last[0]}{packed}: if it is a text of rows, rename it "
            f"to end in .txt{packed}, and declare csv: {{delimiter: ...}}, skip_rows "
            "and footer_rows for lines that are no rows"
        )
    return UNREAD


def kind_of(name: str) -> FileKind | None:
    """Return what a file is by its name's end; None: nothing that is read.

    >>> kind_of("stays_2023.CSV.gz"), kind_of("lab.xlsx"), kind_of("notes.pdf")
    ('csv', 'workbook', None)
    """
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        within = next((_KINDS.get(one) for one in suffixes[-2:-1]), None)
        if within in {"csv", "json"}:
            return within
        return "csv" if suffixes[-1] == ".zip" else None  # whatever its member is
    return next((_KINDS[last] for last in suffixes[-1:] if last in _KINDS), None)


def is_by_line(name: str) -> bool:
    """Return whether a file of JSON has one object a line by its name's end.

    >>> is_by_line("visits.ndjson.gz"), is_by_line("visits.json")
    (True, False)
    """
    suffixes = [suffix.lower() for suffix in PurePath(name).suffixes]
    last = [one for one in suffixes if one not in COMPRESSIONS][-1:]
    return not LINE_SUFFIXES.isdisjoint(last)


def is_compressed(name: str) -> bool:
    """Return whether a file's name says that it is compressed."""
    return PurePath(name).suffix.lower() in COMPRESSIONS


def is_archive(name: str) -> bool:
    """Return whether a file's name says that it may hold several."""
    return PurePath(name).suffix.lower() == ".zip"


def _character(value: object) -> object:
    if value == "auto":
        message = "the manifest says it: manifest draft tells what the files have"
        raise ValueError(message)
    if str(value).startswith("TODO"):
        message = "still to do: say which of the two it is"
        raise ValueError(message)
    text = _WORDS.get(str(value), value)
    if isinstance(text, str) and len(text) == 1 and text not in "\r\n\0":
        return text
    message = "write one character, or tab"
    raise ValueError(message)


def _quote(value: object) -> object:
    return value if value == "none" else _character(value)


def _encoding(value: object) -> object:
    plain = value.lower().replace("_", "-") if isinstance(value, str) else value
    return _ALIASES.get(plain, plain) if isinstance(plain, str) else plain


Character = Annotated[
    str, BeforeValidator(_character), WithJsonSchema({"type": "string"})
]
Quote = Annotated[str, BeforeValidator(_quote), WithJsonSchema({"type": "string"})]
EncodingField = Annotated[
    Encoding, BeforeValidator(_encoding), WithJsonSchema({"type": "string"})
]
RowsAside = Annotated[StrictInt, Field(ge=0, le=MOST_ROWS_ASIDE)]
FooterRows = RowsAside | Literal["auto"]
ColumnName = Annotated[str, Field(max_length=500)]


def _named(sheet: object) -> object:
    """Return a sheet's name as text: YAML reads 2024 as a number."""
    if isinstance(sheet, list):
        return [_named(each) for each in sheet]
    return str(sheet) if type(sheet) is int else sheet


Sheets = Annotated[ColumnName | tuple[ColumnName, ...], BeforeValidator(_named)]


class Spec(BaseModel):
    """Keys of a manifest: those that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CsvSpec(Spec):
    """How text files write rows; what is not said is as in RFC 4180 and UTF-8.

    Attributes:
        delimiter: Stands between fields; ``,`` where not said.
        encoding: UTF-8 where not said; a byte order mark is left out.
        quote: Stands around fields that hold a delimiter or a line end; ``none``:
            nothing does.
        escape: Stands before a quote within quotes, where it is not doubled.
        skip_rows: Lines before the header.
        footer_rows: Records at the end that are no rows, such as totals; ``auto``: up
            to 5 that show it by themselves, as where files have other numbers of them.
        comment: Lines that begin with it are left out.
        names: What the columns are called, in order, where the files have no header.
        line_ends: ``any``: lines of one file may end in several ways.
    """

    delimiter: Character | None = None
    encoding: EncodingField | None = None
    quote: Quote | None = None
    escape: Character | None = None
    skip_rows: RowsAside | None = None
    footer_rows: FooterRows | None = None
    comment: Character | None = None
    names: tuple[ColumnName, ...] | None = Field(default=None, min_length=1)
    line_ends: Literal["any"] | None = None


class ExcelSpec(Spec):
    """Which part of a workbook is the table.

    Attributes:
        sheet: Its name; needed where a workbook has several. Or the names of several,
            laid out alike, whose rows make one table.
        skip_rows: Rows of the sheet before the header, empty ones too.
        footer_rows: Rows at the end that are no rows of the table; ``auto`` likewise.
        names: What the columns are called, in order, where there is no header.
    """

    sheet: Sheets | None = None
    skip_rows: RowsAside | None = None
    footer_rows: FooterRows | None = None
    names: tuple[ColumnName, ...] | None = Field(default=None, min_length=1)

    def of_each_sheet(self) -> "list[ExcelSpec]":
        """Return the parts of a workbook that make the table, one a sheet."""
        if not isinstance(self.sheet, tuple):
            return [self]
        return [self.model_copy(update={"sheet": each}) for each in self.sheet]


class JsonSpec(Spec):
    """Which objects of JSON files are the rows.

    Attributes:
        list_: The list whose elements are, by the names of the fields on the way to it
            (``visit.diagnoses``); the fields around it stand in each of its rows.
    """

    list_: ColumnName = Field(alias="list", pattern=r"^[^.]+(\.[^.]+)*$")

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the fields on the way to the list."""
        return tuple(self.list_.split("."))


class DatabaseSpec(Spec):
    """A table of a database, read instead of files; it is only read.

    Attributes:
        url: SQLAlchemy's URL without a password; of SQLite a file below the import
            folder.
        url_variable: The environment variable that holds the URL, password and all.
        table: The table's or view's name.
        table_schema: Where it lies, if not in the default schema.
    """

    url: str | None = None
    url_variable: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    table: ColumnName
    table_schema: ColumnName | None = None
