"""Rules of where a table's rows are, and of how its files write them."""

from collections.abc import Iterator, Sequence

from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import (
    CsvSpec,
    DatabaseSpec,
    FileKind,
    is_archive,
    kind_of,
    unread,
)
from upstream.manifests.yaml_nodes import Place

Broken = Iterator[tuple[Place, str]]

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


def broken_file_rules(at: Place, table: TableSpec) -> Broken:
    """Yield every broken rule of a table's files, with the path of its node."""
    if table.database is not None:
        yield from _database(at, table, table.database)
        return
    if not table.files:
        sentence = "files is missing: name the table's files, or its database"
        yield at, sentence
    for index, pattern in enumerate(table.files):
        yield from _pattern((*at, "files", index), pattern)
    kinds = {kind for pattern in table.files if (kind := kind_of(pattern))}
    if not any(map(is_archive, table.files)):  # whatever the files in one are
        yield from _options(at, table, kinds)
    if table.csv is not None:
        yield from _csv((*at, "csv"), table.csv)
    if table.excel is not None and isinstance(table.excel.sheet, tuple):
        yield from _sheets((*at, "excel", "sheet"), table.excel.sheet)
    for key, names in _names(table):
        yield from _twice((*at, key, "names"), names)


def _names(table: TableSpec) -> Iterator[tuple[str, Sequence[str]]]:
    for key, spec in (("csv", table.csv), ("excel", table.excel)):
        if spec is not None and spec.names is not None:
            yield key, spec.names


def _options(at: Place, table: TableSpec, kinds: set[FileKind]) -> Broken:
    if table.csv is not None and kinds and "csv" not in kinds:
        yield (*at, "csv"), "no file of the table is a text file: remove csv"
    if table.excel is not None and kinds and "workbook" not in kinds:
        yield (*at, "excel"), "no file of the table is a workbook: remove excel"
    if table.json_ is not None and kinds and "json" not in kinds:
        yield (*at, "json"), "no file of the table is JSON: remove json"


def _sheets(at: Place, sheets: Sequence[str]) -> Broken:
    if not sheets:
        yield at, "name at least one sheet"
    yield from _twice(at, sheets)


def _pattern(at: Place, pattern: str) -> Broken:
    if not is_relative(pattern):
        yield at, "files are relative to the manifest's folder: write a relative path"
    if any("**" in part and part != "**" for part in pattern.split("/")):
        yield at, "** stands for folders: write it alone between slashes"
    if kind_of(pattern) is None:
        yield at, unread(pattern)


def is_relative(path: str) -> bool:
    """Return whether a path is relative, and may be one."""
    return not path.startswith(("/", "\\", "~")) and "\0" not in path


def _csv(at: Place, spec: CsvSpec) -> Broken:
    marks = {
        "delimiter": spec.delimiter or ",",
        "quote": spec.quote or '"',
        "escape": spec.escape,
        "comment": spec.comment,
    }
    seen: dict[str, str] = {}
    for key, mark in marks.items():
        if mark is None or mark == "none":
            continue
        if mark in seen:
            yield (*at, key), f"{key} and {seen[mark]} are the same character"
        if key != "comment" and mark.lower() in _LETTERS:
            yield (*at, key), f"{key} is a letter or a digit, which values hold"
        seen[mark] = key


def _twice(at: Place, names: Sequence[str]) -> Broken:
    for index, name in enumerate(names):
        if name and name in names[:index]:
            yield (*at, index), f"the name {name!r} stands twice: keep one of them"


def _database(at: Place, table: TableSpec, spec: DatabaseSpec) -> Broken:
    declared = (
        ("files", table.files),
        ("csv", table.csv),
        ("excel", table.excel),
        ("json", table.json_),
    )
    for key, value in declared:
        if value:
            yield (*at, key), f"the table is read from a database: remove {key}"
    for index, column in enumerate(table.columns):
        if len(column.file_columns) > 1:
            sentence = "a table of a database has one name for a column: keep that"
            yield (*at, "columns", index, "from"), sentence
    below: Place = (*at, "database")
    if (spec.url is None) == (spec.url_variable is None):
        yield below, "declare one of url and url_variable"
    if spec.url is not None and "@" in spec.url and ":" in _credentials(spec.url):
        sentence = (
            "a password does not belong in a manifest: put the URL into an "
            "environment variable, and name that with url_variable"
        )
        yield (*below, "url"), sentence


def _credentials(url: str) -> str:
    """Return what stands before the host of a URL."""
    return url.partition("://")[2].rpartition("@")[0]
