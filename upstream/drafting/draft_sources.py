"""The files of a draft: which of them are one table, and how each is written."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from privacy.wording import counted
from upstream.drafting.file_samples import Look, look_at_sheets, look_at_text
from upstream.files.csv_structure import CsvFile
from upstream.files.exports.plain_copies import CopyArea
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.usual_forms import NULL_WORDS
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import kind_of

_SAMPLED = 200_000  # rows of a file that a draft is made from
_SNIFFED = (
    ", delim = ',', quote = '\"', escape = '\"', comment = '', header = true, "
    "sample_size = 200000"
)
_TYPES = "auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR']"
_NO_VARCHAR = re.compile(r"(?:UUID|ENUM\(.*\))$")
"""Types of Parquet whose values are texts."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class DraftSource:
    """Files that make one table of a draft.

    Attributes:
        name: What the table may be called, before it is made an identifier.
        files: The custodian's.
        shown: How the manifest names them.
        look: How they are written.
        rows: The relation of their rows, as far as they were looked at, with types.
        texts: The same, each value as the files write it.
        said: What was seen, a sentence each.
        lacking: Columns that some of the files lack.
        nulls: Words for nothing that they have.
    """

    name: str
    files: tuple[Path, ...]
    shown: tuple[str, ...]
    look: Look
    rows: str
    texts: str
    said: tuple[str, ...] = ()
    lacking: frozenset[str] = frozenset()
    nulls: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """The first of the files."""
        return self.files[0]


@dataclass(slots=True)
class SourceReader:
    """Looks at files, and makes plain copies of what is written otherwise."""

    connection: duckdb.DuckDBPyConnection
    work: Path
    copies: CopyArea = field(init=False)

    def __post_init__(self) -> None:
        self.copies = CopyArea(
            self.work / "copies", Path("/"), _SAMPLED, is_forgiving=True
        )

    def sources(self, files: Sequence[Path]) -> Iterator[DraftSource]:
        """Yield the tables that files seem to be, in the order of the files.

        Raises:
            OSError: One cannot be read.
            IngestionError: One holds no table.
        """
        for group in _like_named(files):
            kind = kind_of(group[0].name)
            if kind == "parquet":
                for file in group:
                    yield self._parquet(file)
            elif kind == "workbook":
                for file in group:
                    yield from self._sheets(file)
            else:
                yield from self._texts(group)

    def _parquet(self, file: Path) -> DraftSource:
        read = f"read_parquet({quoted(str(file))})"
        described = self.connection.execute(f"DESCRIBE FROM {read}").fetchall()
        as_texts = ", ".join(
            f"CAST({quoted_name(str(name))} AS VARCHAR) AS {quoted_name(str(name))}"
            for name, type_, *_ in described
            if _NO_VARCHAR.match(str(type_))
        )
        rows = f"(SELECT * REPLACE ({as_texts}) FROM {read})" if as_texts else read  # noqa: S608 - quoted names
        texts = f"(SELECT COLUMNS(*)::VARCHAR FROM {read})"  # noqa: S608 - a quoted path
        name = file.name.split(".")[0]
        return DraftSource(name, (file,), (file.name,), Look(), rows, texts)

    def _sheets(self, file: Path) -> Iterator[DraftSource]:
        looks = look_at_sheets(file)
        for sheet, look in looks.items():
            table = TableSpec.model_construct(
                name="draft", excel=look.excel, columns=()
            )
            copy = self.copies.of_file(table, file, file.name, _untold, Path("/"))
            name = sheet if len(looks) > 1 else file.name.split(".")[0]
            yield self._drafted(name, (file,), (file.name,), look, (copy,))

    def _texts(self, group: Sequence[Path]) -> Iterator[DraftSource]:
        """Yield one table of files of one look and most columns, else one of each."""
        looks = [look_at_text(file) for file in group]
        copies = [
            self._copy(file, look) for file, look in zip(group, looks, strict=True)
        ]
        alike = all(look.csv == looks[0].csv for look in looks)
        headers = [set(copy.header) for copy in copies]
        shared = headers[0].intersection(*headers)
        if alike and all(len(shared) * 2 >= len(header) for header in headers):
            shown = _patterns(group)
            first = group[0].name.split(".")[0]
            name = _NUMBER.sub("", first).strip("_- ") if len(group) > 1 else first
            yield self._drafted(
                name or "files", tuple(group), shown, looks[0], tuple(copies)
            )
            return
        for file, look, copy in zip(group, looks, copies, strict=True):
            name = file.name.split(".")[0]
            yield self._drafted(name, (file,), (file.name,), look, (copy,))

    def _copy(self, file: Path, look: Look) -> CsvFile:
        table = TableSpec.model_construct(name="draft", csv=look.csv, columns=())
        return self.copies.of_file(table, file, file.name, _untold, Path("/"))

    def _drafted(
        self,
        name: str,
        files: tuple[Path, ...],
        shown: tuple[str, ...],
        look: Look,
        copies: tuple[CsvFile, ...],
    ) -> DraftSource:
        headers = [set(copy.header) for copy in copies]
        everywhere = headers[0].intersection(*headers)
        lacking = frozenset(headers[0].union(*headers) - everywhere - {""})
        paths = ", ".join(quoted(str(copy.path)) for copy in copies)
        union = ", union_by_name = true" if len(copies) > 1 else ""
        plain = f"read_csv([{paths}]{_SNIFFED}{union}"
        texts = f"{plain}, all_varchar = true)"
        nulls = tuple(self._null_words(texts))
        listed = ", ".join(quoted(word) for word in ("", *nulls))
        rows = f"{plain}, {_TYPES}, nullstr = [{listed}], ignore_errors = true)"
        said = [f"{_files(files)}: {', '.join(look.said)}"] if look.said else []
        if len(files) > 1:
            said.append(f"{counted(len(files), 'file')} of like names are one table")
        if lacking:
            told = ", ".join(sorted(lacking))
            said.append(f"some of the files lack these columns: {told}")
        return DraftSource(
            name, files, shown, look, rows, texts, tuple(said), lacking, nulls
        )

    def _null_words(self, rows: str) -> list[str]:
        """Return the words for nothing that are a value of some column."""
        described = self.connection.execute(f"DESCRIBE FROM {rows}").fetchall()
        words = ", ".join(quoted(word) for word in NULL_WORDS)
        names = (quoted_name(str(row[0])) for row in described)
        told = ", ".join(
            f"list(DISTINCT {name}) FILTER ({name} IN ({words}))" for name in names
        )
        found = self.connection.execute(f"SELECT {told} FROM {rows}").fetchone() or ()  # noqa: S608 - quoted names
        met = {word for each in found for word in each or ()}
        return [word for word in NULL_WORDS if word in met]


def _untold(_: int) -> None:
    """Tell nobody."""


def _files(files: Sequence[Path]) -> str:
    more = len(files) - 1
    return files[0].name + (f" and {more} more" if more else "")


def _like_named(files: Sequence[Path]) -> list[list[Path]]:
    """Return files grouped by their names without numbers."""
    groups: dict[tuple[Path, str], list[Path]] = {}
    for file in files:
        name = _NUMBER.sub("*", file.name)
        groups.setdefault((file.parent, name.lower()), []).append(file)
    return list(groups.values())


def _patterns(files: Sequence[Path]) -> tuple[str, ...]:
    """Return a pattern of these files and no others, else their names."""
    pattern = _NUMBER.sub("*", files[0].name)
    if len(files) > 1 and set(files[0].parent.glob(pattern)) == set(files):
        return (pattern,)
    return tuple(file.name for file in files)
