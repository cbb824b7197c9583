"""The files of a draft: which of them are one table, and how each is written."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from filecmp import cmp
from pathlib import Path, PurePath

import duckdb

from privacy.wording import counted
from upstream.drafting.sources.archives import LookedAtArchives
from upstream.drafting.sources.file_samples import Look, look_at_sheets, look_at_text
from upstream.drafting.sources.json_looks import Fields, JsonLook, look_at_json
from upstream.errors import IngestionError
from upstream.files.csv_structure import CsvFile
from upstream.files.exports.plain_copies import CopyArea
from upstream.files.reading_sql import quoted, quoted_name
from upstream.files.usual_forms import NULL_WORDS
from upstream.manifests.declarations import TableSpec
from upstream.manifests.file_specs import CsvSpec, DatabaseSpec, is_compressed, kind_of

_APART = (
    "written otherwise than another of a like name ({keys} differ), so a table of its "
    "own: write them alike if they are one"
)
_ENDS = (
    "the files end in other numbers of lines that are no rows; all of these are totals "
    "or notes, which footer_rows: auto tells"
)
_UNLIKE_ENDS = (
    "; which lines at the ends are rows? Not all of the others are totals or notes, "
    "which footer_rows: auto tells"
)
_OTHER_COLUMNS = "they share fewer than half of their columns"
_UNQUOTED = "read as if nothing were quoted: quotes stand within texts, not around them"
_EMPTY = "has no name in the header, and no value"
_BY_PLACE = re.compile(r"column_\d+")
SAMPLED = 200_000  # rows of a file that a draft is made from
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
        database: The table of a database that is read instead of files.
        left_out: Columns that no load reads, each with the reason.
        key: The primary key of a database's table.
        copies: Of text files alone, which may be written in ways of their own.
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
    database: DatabaseSpec | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    key: tuple[str, ...] = ()
    copies: tuple[CsvFile, ...] = ()

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
    _archives: LookedAtArchives = field(init=False)
    _warned: dict[Path, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.copies = CopyArea(
            self.work / "copies", Path("/"), SAMPLED, is_forgiving=True
        )
        self._archives = LookedAtArchives(self.work / "unpacked")

    def sources(self, files: Sequence[Path]) -> Iterator[DraftSource]:
        """Yield the tables that files seem to be, in the order of the files.

        Raises:
            OSError: One cannot be read.
            IngestionError: One holds no table.
        """
        for named in _like_named(files):
            group = self._archives.unpacked(named)
            kind = kind_of(group[0].name)
            if kind == "parquet":
                yield from self._parquets(group)
            elif kind == "workbook":
                yield from self._workbooks(group)
            elif kind == "json":
                yield from self._jsons(group)
            else:
                yield from self._texts(group)

    def _parquets(self, group: Sequence[Path]) -> Iterator[DraftSource]:
        """Yield one table of files of the same columns, else one of each."""
        types = [self._types(file) for file in group]
        if all(sorted(each) == sorted(types[0]) for each in types):
            yield self._parquet(group, types[0])
            return
        for file, each in zip(group, types, strict=True):
            yield self._parquet([file], each)

    def _types(self, file: Path) -> list[tuple[str, str]]:
        read = f"read_parquet({quoted(str(file))})"
        described = self.connection.execute(f"DESCRIBE FROM {read}").fetchall()
        return [(str(name), str(type_)) for name, type_, *_ in described]

    def _parquet(
        self, files: Sequence[Path], types: Sequence[tuple[str, str]]
    ) -> DraftSource:
        listed = ", ".join(quoted(str(file)) for file in files)
        read = f"read_parquet([{listed}], union_by_name = true)"
        as_texts = ", ".join(
            f"CAST({quoted_name(name)} AS VARCHAR) AS {quoted_name(name)}"
            for name, type_ in types
            if _NO_VARCHAR.match(type_)
        )
        rows = f"(SELECT * REPLACE ({as_texts}) FROM {read})" if as_texts else read  # noqa: S608 - quoted names
        texts = f"(SELECT COLUMNS(*)::VARCHAR FROM {read})"  # noqa: S608 - a quoted path
        said = _together(files)
        shown = _patterns(files)
        return DraftSource(
            _table_name(files), tuple(files), shown, Look(), rows, texts, said
        )

    def _workbooks(self, group: Sequence[Path]) -> Iterator[DraftSource]:
        """Yield one table of sheets of like names, layouts and columns."""
        found: dict[tuple[str, str, bool], list[_Sheet]] = {}
        for file in group:
            looks = look_at_sheets(file)
            for sheet, look in looks.items():
                name = sheet if len(looks) > 1 else ""
                one = _Sheet(file, name, look, self._copy(file, look))
                found.setdefault(one.likeness, []).append(one)
        for sheets in found.values():
            names = [
                {s.name for s in sheets if s.file == f}
                for f in {s.file for s in sheets}
            ]
            is_one = all(each == names[0] for each in names)
            if is_one and _share_columns([s.copy for s in sheets]):
                yield self._of_sheets(sheets)
                continue
            self._archives.require_one([one.file for one in sheets], _OTHER_COLUMNS)
            for one in sheets:
                yield self._of_sheets([one])

    def _of_sheets(self, sheets: "Sequence[_Sheet]") -> DraftSource:
        files = tuple(dict.fromkeys(one.file for one in sheets))
        names = tuple(dict.fromkeys(one.name for one in sheets))
        look = sheets[0].look
        if len(names) > 1 and look.excel is not None:
            told = " and ".join(map(repr, names))
            said = (f"the sheets {told}, of like names, are one table", *look.said[1:])
            look = Look(excel=look.excel.model_copy(update={"sheet": names}), said=said)
        named = self._archives.named(files)
        table = _without_numbers(names) if names[0] else _table_name(named)
        copies = tuple(one.copy for one in sheets)
        return self.drafted(table, files, _patterns(named), look, copies)

    def _jsons(self, group: Sequence[Path]) -> Iterator[DraftSource]:
        """Yield a table of the objects of files, and one of each list in them."""
        looks = {file: look_at_json(file, SAMPLED) for file in group}
        for path in dict.fromkeys(p for look in looks.values() for p in look.tables):
            files = [file for file in group if path in looks[file].tables]
            copies = [self._copy(f, looks[f].of_table(path)) for f in files]
            if _share_columns(copies):
                yield self._of_objects(files, path, looks[files[0]], copies)
                continue
            self._archives.require_one(files, _OTHER_COLUMNS)
            for file, copy in zip(files, copies, strict=True):
                yield self._of_objects([file], path, looks[file], [copy])

    def _of_objects(
        self,
        files: Sequence[Path],
        path: Fields,
        look: JsonLook,
        copies: Sequence[CsvFile],
    ) -> DraftSource:
        is_main = path == look.rows
        named = self._archives.named(files)
        own = [] if look.rows is None else [_table_name(named)]
        name = "_".join(own if is_main else [*own, *path])
        table = look.of_table(path)
        drafted = self.drafted(
            name, tuple(files), _patterns(named), table, tuple(copies)
        )
        return replace(drafted, left_out=look.left_out(path))

    def _texts(self, group: Sequence[Path]) -> Iterator[DraftSource]:
        """Yield one table of files of one look and most columns, else one of each."""
        seen = _in_one_encoding([look_at_text(file) for file in group])
        found = [self._read(*each) for each in zip(group, seen, strict=True)]
        if any(_is_unquoted(look) for look, _ in found):
            found = [
                self._unquoted_if_equal(file, look, copy)
                for file, (look, copy) in zip(group, found, strict=True)
            ]
        looks, copies = zip(*self._with_like_ends(group, found), strict=True)
        alike = all(look.csv == looks[0].csv for look in looks)
        if alike and _share_columns(copies):
            named = self._archives.named(group)
            whole = self.drafted(
                _table_name(named),
                tuple(group),
                _patterns(named),
                looks[0],
                copies,
            )
            yield replace(whole, copies=copies)
            return
        self._archives.require_one(group, _OTHER_COLUMNS if alike else _apart(looks))
        for file, look, copy in zip(group, looks, copies, strict=True):
            apart = () if alike else (_apart(looks),)
            told = replace(look, said=(*look.said, *apart))
            yield self.drafted(
                _table_name([file]), (file,), (file.name,), told, (copy,)
            )

    def _with_like_ends(
        self, group: Sequence[Path], found: Sequence[tuple[Look, CsvFile]]
    ) -> Sequence[tuple[Look, CsvFile]]:
        """Return files whose ends differ as alike, if each can be read so."""
        looks = _with_like_ends([look for look, _ in found])
        if looks is None:
            return found
        try:
            pairs = zip(group, looks, strict=True)
            return [(look, self._copy(file, look)) for file, look in pairs]
        except IngestionError:  # totals stand among rows
            self.copies.warnings.clear()
            return found

    def _read(self, file: Path, look: Look) -> tuple[Look, CsvFile]:
        """Return how a text file is written, and its copy; unquoted if quotes break.

        Raises:
            IngestionError: It cannot be read with quotes, nor in each line without.
        """
        try:
            return look, self._copy(file, look)
        except IngestionError:
            unquoted = self._unquoted(file, look)
            if unquoted is None:
                raise
            return unquoted

    def _unquoted(self, file: Path, look: Look) -> tuple[Look, CsvFile] | None:
        """Return a file read as if nothing were quoted; None: lines do not fit then."""
        spec = (look.csv or CsvSpec()).model_copy(update={"quote": "none"})
        told = replace(look, csv=spec, said=(*look.said, _UNQUOTED))
        self.copies.is_forgiving = False
        try:
            copy = self._copy(file, told)
            return None if _has_quoted(copy) else (told, copy)
        except IngestionError:
            self.copies.warnings.clear()
            return None
        finally:
            self.copies.is_forgiving = True

    def _unquoted_if_equal(
        self, file: Path, look: Look, copy: CsvFile
    ) -> tuple[Look, CsvFile]:
        """Return a file as its siblings are read, where that makes no difference."""
        other = None if _is_unquoted(look) else self._unquoted(file, look)
        if other is None or not cmp(copy.path, other[1].path, shallow=False):
            return look, copy
        return other

    def _copy(self, file: Path, look: Look) -> CsvFile:
        table = TableSpec.model_construct(
            name="draft", csv=look.csv, excel=look.excel, json=look.json_, columns=()
        )
        part = self._archives.part_of(file)
        copy = self.copies.of_file(table, part, _untold, Path("/"))
        self._warned[copy.path] = tuple(self.copies.warnings)
        self.copies.warnings.clear()
        return copy

    def drafted(
        self,
        name: str,
        files: tuple[Path, ...],
        shown: tuple[str, ...],
        look: Look,
        copies: tuple[CsvFile, ...],
    ) -> DraftSource:
        """Return a table of plain copies, with what they show."""
        headers = [set(copy.header) for copy in copies]
        everywhere = headers[0].intersection(*headers)
        lacking = frozenset(headers[0].union(*headers) - everywhere - {""})
        plain = _read(copies)
        texts = texts_of(*copies)
        nulls = tuple(self._null_words(texts))
        listed = ", ".join(quoted(word) for word in ("", *nulls))
        rows = f"{plain}, {_TYPES}, nullstr = [{listed}], ignore_errors = true)"
        said = [f"{_files(files)}: {', '.join(look.said)}"] if look.said else []
        said += _together(files)
        said += [one for copy in copies for one in self._warned.pop(copy.path, ())]
        said += self.copies.warnings  # of a table of a database
        self.copies.warnings.clear()
        said += self._archives.warnings
        self._archives.warnings.clear()
        if lacking:
            told = ", ".join(sorted(lacking))
            said.append(f"some of the files lack these columns: {told}")
        return DraftSource(
            name,
            files,
            shown,
            look,
            rows,
            texts,
            tuple(said),
            lacking,
            nulls,
            left_out=tuple((one, _EMPTY) for one in self._empty(look, texts)),
        )

    def _empty(self, look: Look, texts: str) -> list[str]:
        """Return the columns that are named by their place, and have no value."""
        spec = look.csv or look.excel
        names = [n for n in (spec and spec.names) or () if _BY_PLACE.fullmatch(n)]
        if not names:
            return []
        told = ", ".join(f"count(nullif({quoted_name(name)}, ''))" for name in names)
        found = self.connection.execute(f"SELECT {told} FROM {texts}").fetchone()  # noqa: S608 - quoted names
        return [n for n, count in zip(names, found or (), strict=True) if not count]

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


def _with_like_ends(looks: Sequence[Look]) -> Sequence[Look] | None:
    """Return looks that differ in their ends as one; None: others, or not at all."""
    specs = [look.csv or CsvSpec() for look in looks]
    counts = [spec.footer_rows or 0 for spec in specs]
    if len(set(counts)) == 1 or counts != [look.ends for look in looks]:
        return None
    alike = [spec.model_copy(update={"footer_rows": "auto"}) for spec in specs]
    if any(spec != alike[0] for spec in alike):
        return None
    return [
        replace(look, csv=spec, said=(*look.said, _ENDS))
        for look, spec in zip(looks, alike, strict=True)
    ]


def _apart(looks: Sequence[Look]) -> str:
    """Say why files are tables of their own."""
    keys = _differing(looks)
    asked = _UNLIKE_ENDS if "footer_rows" in keys else ""
    return _APART.format(keys=keys) + asked


def _in_one_encoding(looks: Sequence[Look]) -> Sequence[Look]:
    """Return looks of which those of ASCII alone are in the encoding of the others."""
    told = {(look.csv or CsvSpec()).encoding for look in looks if not look.is_ascii}
    encoding = told.pop() if len(told) == 1 else None
    if encoding is None or encoding.startswith("utf-16"):
        return looks
    changed = {"encoding": encoding}
    return [
        replace(look, csv=(look.csv or CsvSpec()).model_copy(update=changed))
        if look.is_ascii
        else look
        for look in looks
    ]


def _differing(looks: Sequence[Look]) -> str:
    """Return the keys of ``csv`` that files are not alike in."""
    specs = [look.csv or CsvSpec() for look in looks]
    told = [
        key
        for key in CsvSpec.model_fields
        if any(getattr(one, key) != getattr(specs[0], key) for one in specs)
    ]
    return ", ".join(told)


def _is_unquoted(look: Look) -> bool:
    return look.csv is not None and look.csv.quote == "none"


def _has_quoted(copy: CsvFile) -> bool:
    """Whether a value stands in quotes: then they stand around values in that file."""
    with copy.path.open(encoding="utf-8", newline="") as file:
        return any(
            len(value) > 1 and value[0] == value[-1] == '"'
            for record in csv.reader(file)
            for value in record
        )


def _read(copies: Sequence[CsvFile]) -> str:
    paths = ", ".join(quoted(str(copy.path)) for copy in copies)
    union = ", union_by_name = true" if len(copies) > 1 else ""
    return f"read_csv([{paths}]{_SNIFFED}{union}"


def texts_of(*copies: CsvFile) -> str:
    """Return the relation of the rows of plain copies, each value as it is written."""
    return f"{_read(copies)}, all_varchar = true)"


def _untold(_: int) -> None:
    """Tell nobody."""


def _files(files: Sequence[Path]) -> str:
    more = len(files) - 1
    return files[0].name + (f" and {more} more" if more else "")


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet that was looked at; without a name where its workbook has no other."""

    file: Path
    name: str
    look: Look
    copy: CsvFile

    @property
    def likeness(self) -> tuple[str, str, bool]:
        """What sheets of one table have in common: a name but for numbers, a layout.

        Those that are hidden are apart from those that are shown.
        """
        excel = self.look.excel
        layout = excel.model_dump(exclude={"sheet"}) if excel is not None else {}
        told = repr(layout if any(layout.values()) else {})
        return _NUMBER.sub("*", self.name).lower(), told, self.look.is_hidden


def _share_columns(copies: Sequence[CsvFile]) -> bool:
    """Whether at least half of each header is in all of them."""
    headers = [set(copy.header) for copy in copies]
    shared = headers[0].intersection(*headers)
    return all(len(shared) * 2 >= len(header) for header in headers)


def _together(files: Sequence[Path]) -> tuple[str, ...]:
    if len(files) == 1:
        return ()
    return (f"{counted(len(files), 'file')} of like names are one table",)


def _table_name(files: Sequence[Path]) -> str:
    """Return what a table of files may be called: without numbers, if of several."""
    return _without_numbers([file.name.split(".")[0] for file in files])


def _without_numbers(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return _NUMBER.sub("", names[0]).strip("_- ") or "files"


def _like_named(files: Sequence[Path]) -> list[list[Path]]:
    """Return files grouped by their names without numbers, packed or not."""
    groups: dict[tuple[Path, str], list[Path]] = {}
    for file in files:
        name = _NUMBER.sub("*", _unpacked_name(file.name))
        groups.setdefault((file.parent, name.lower()), []).append(file)
    return list(groups.values())


def _unpacked_name(name: str) -> str:
    """Return a file's name without what says that it is compressed.

    >>> _unpacked_name("x_2021.csv.gz"), _unpacked_name("x_2022.zip")
    ('x_2021.csv', 'x_2022.csv')
    """
    if not is_compressed(name):
        return name
    bare = PurePath(name).stem
    return bare if kind_of(bare) else f"{bare}.csv"


def _patterns(files: Sequence[Path]) -> tuple[str, ...]:
    """Return patterns of these files and no others, else their names."""
    patterns = dict.fromkeys(_NUMBER.sub("*", file.name) for file in files)
    found = {path for one in patterns for path in files[0].parent.glob(one)}
    if len(files) > 1 and found == set(files):
        return tuple(patterns)
    return tuple(file.name for file in files)
