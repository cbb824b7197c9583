"""Rows of JSON objects: of fields within fields, and of the elements of lists."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from upstream.files.exports.json_objects import (
    FoundObject,
    JsonFaultError,
    TextList,
    json_objects,
)
from upstream.files.records import Record, refused

MOST_NAMES = 2_000  # of fields: beyond, ids or days seem to be names
_MOST_LEVELS = 32  # of objects and lists within each other
_MOST_REPEATED = 1 << 26  # characters beside the elements of one object's list

Path = tuple[str, ...]
"""The names of the fields on the way to a value."""

_NO_ROWS = "holds no object with a field: leave the file out, or export it again"


@dataclass(slots=True)
class JsonNames:
    """The fields that objects have, in the order in which they are met.

    Attributes:
        fields: The column of each path to a value.
        lists: Paths to lists, which are no columns.
        wanted: The columns that are read; none: all. Of private rows no others are
            copied: how much is would else grow with one patient's row, times all rows.
        others: Some that are not read.
    """

    fields: dict[Path, str] = field(default_factory=dict)
    lists: set[Path] = field(default_factory=set)
    wanted: frozenset[str] = frozenset()
    others: set[Path] = field(default_factory=set)
    _paths: dict[str, Path] = field(default_factory=dict)

    def add(self, paths: Iterable[Path], lists: Iterable[Path]) -> None:
        """Note what one row has.

        Raises:
            JsonFaultError: Two paths have one name, or there are too many.
        """
        self.lists.update(lists)
        for path in paths:
            if path not in self.fields and path not in self.others:
                self._add(path)

    def _add(self, path: Path) -> None:
        name = "_".join(path)
        if self.wanted and name not in self.wanted:
            if len(self.others) < MOST_NAMES:
                self.others.add(path)
            return
        other = self._paths.setdefault(name, path)
        if other != path:
            message = (
                f"{dotted(other)} and {dotted(path)} are two fields, and would both be "
                f"the column {name}: rename one of them in the export"
            )
            raise JsonFaultError(message)
        self.fields[path] = _sound(name)
        if len(self.fields) > MOST_NAMES:
            message = (
                f"has more than {MOST_NAMES:,} names of fields: ids or days seem to be "
                "names; export them as values, in a list of objects"
            )
            raise JsonFaultError(message)


@dataclass(frozen=True, slots=True)
class JsonRows:
    """How the rows of a table come out of objects.

    Attributes:
        path: Of the list whose elements are the rows; none: the objects are.
        keeps_lists: Whether other lists become texts: of public tables all that their
            files hold is compared with unit ids.
    """

    path: Path = ()
    keeps_lists: bool = False

    def of(self, found: FoundObject) -> Iterator[tuple[dict[Path, str], set[Path]]]:
        """Yield the texts of each row of an object, and its lists that are not read.

        Raises:
            JsonFaultError: It cannot be written as rows.
        """
        fields, lists = flattened(found.fields, ())
        if not self.path:
            yield self._with_lists(fields, lists), set(lists)
            return
        yield from self._elements(fields, lists, is_around=found.is_around)

    def _elements(
        self,
        around: dict[Path, str],
        lists: Mapping[Path, Iterable[object]],
        *,
        is_around: bool = False,
    ) -> Iterator[tuple[dict[Path, str], set[Path]]]:
        """Yield the rows of a list's elements, beside the fields that are around it."""
        at = next((p for p in lists if p == self.path[: len(p)]), None)
        if at is None:
            if any(
                p[: len(self.path)] == self.path and text for p, text in around.items()
            ):
                message = f"{dotted(self.path)} is no list here, as in other rows"
                raise JsonFaultError(message)
            return
        others = {p: each for p, each in lists.items() if p != at}
        if not is_around:
            around = self._with_lists(around, others)
        size, repeated = sum(map(len, around.values())), 0
        for element in lists[at]:
            repeated += size
            if repeated > _MOST_REPEATED:
                message = f"the texts beside the list {dotted(at)} are too long for it"
                raise JsonFaultError(message)
            fields, below = self._element(element, at)
            if at == self.path:
                yield around | self._with_lists(fields, below), {*others, *below}
            else:
                yield from self._elements(around | fields, below)

    def _element(
        self, element: object, at: Path
    ) -> tuple[dict[Path, str], dict[Path, Iterable[object]]]:
        if isinstance(element, dict):
            return flattened(element, at)
        if isinstance(element, list):
            message = f"{dotted(at)} holds lists within a list, which have no names"
            raise JsonFaultError(message)
        if at != self.path and element is not None:
            message = f"{dotted(at)} holds values, and no list {dotted(self.path)}"
            raise JsonFaultError(message)
        return ({at: _text(element)} if at == self.path else {}), {}

    def _with_lists(
        self, fields: dict[Path, str], lists: Mapping[Path, Iterable[object]]
    ) -> dict[Path, str]:
        if not self.keeps_lists:
            return fields
        told = {
            path: _sound(json.dumps(list(each), ensure_ascii=False))
            for path, each in lists.items()
        }
        return fields | told


def flattened(
    fields: Mapping[str, object], at: Path
) -> tuple[dict[Path, str], dict[Path, Iterable[object]]]:
    """Return the texts of an object's values by their paths, and its lists by theirs.

    Args:
        fields: The object's.
        at: The path of the object.

    Raises:
        JsonFaultError: It is nested too deeply, or has a text that no file may have.
    """
    texts: dict[Path, str] = {}
    lists: dict[Path, Iterable[object]] = {}
    _flatten(fields, at, texts, lists)
    return texts, lists


def _flatten(
    fields: Mapping[str, object],
    at: Path,
    texts: dict[Path, str],
    lists: dict[Path, Iterable[object]],
) -> None:
    if len(at) > _MOST_LEVELS:
        message = f"is nested deeper than {_MOST_LEVELS} levels"
        raise JsonFaultError(message)
    for key, value in fields.items():
        if isinstance(value, str):
            texts[*at, key] = value if value.isalnum() else _sound(value)
        elif isinstance(value, dict):
            _flatten(value, (*at, key), texts, lists)
        elif isinstance(value, list | TextList):
            lists[*at, key] = value
        else:
            texts[*at, key] = _text(value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return _sound(value)
    return "" if value is None else "true" if value else "false"


def _sound(text: str) -> str:
    r"""Return a text that UTF-8 can write.

    Raises:
        JsonFaultError: It has half a character, or a NUL.
    """
    if "\0" in text:
        message = r"a text has a NUL (\u0000): the export is damaged"
        raise JsonFaultError(message)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            message = r"a text has half a character (a lone \ud800 to \udfff)"
            raise JsonFaultError(message) from error
    return text


def dotted(path: Sequence[str]) -> str:
    """Return a path as a manifest writes it."""
    return ".".join(path)


def json_records(
    file: BinaryIO,
    name: str,
    rows: JsonRows,
    columns: Sequence[Sequence[str]],
    absent: list[str] | None = None,
) -> Iterator[Record]:
    """Yield the header, and the number and the texts of each row.

    The file is read twice: first for the names of all fields. Declared columns are
    there in any case, without texts where no object has the field: whether one patient
    has it would else decide what is read of all others (PRIVACY 1).

    Args:
        file: The file, packed or not.
        name: What to call it in a problem.
        rows: How its rows come out of it.
        columns: That the table declares, each by its names in files.
        absent: Takes the declared columns that no object has.

    Raises:
        IngestionError: It is no JSON, or its objects are no rows.
    """
    wanted = frozenset(one for column in columns for one in column)
    read = frozenset() if rows.keeps_lists else wanted
    names = json_names(file, name, rows, read, is_declared=bool(columns))
    for path in sorted(names.lists):
        if "_".join(path) in wanted:
            said = (
                f"{dotted(path)} is a list, and no column: a table of its own reads "
                f"it, with json: {{list: {dotted(path)}}}"
            )
            raise refused(name, said)
    met = [*names.fields.values(), *sorted(map("_".join, names.others))[:1]]
    is_another = bool(met) and not wanted & set(met)  # which is refused, as of others
    met = met if is_another else [*names.fields.values()]
    lacking = (one[0] for one in columns if not (is_another or set(one) & set(met)))
    added = [*dict.fromkeys(lacking)]  # two columns may be of one field
    if absent is not None:
        absent += added
    header = [*met, *added]
    yield 1, header
    nothing = [""] * (len(header) - len(names.fields))
    for number, texts, _ in _rows(file, name, rows):
        yield number, [texts.get(path, "") for path in names.fields] + nothing


def json_names(
    file: BinaryIO,
    name: str,
    rows: JsonRows,
    wanted: frozenset[str] = frozenset(),
    *,
    is_declared: bool = False,
) -> JsonNames:
    """Return the names that the fields of a file's rows have.

    Args:
        file: The file, packed or not.
        name: What to call it in a problem.
        rows: How its rows come out of it.
        wanted: The columns that are read; none: all.
        is_declared: Whether it may have no rows: its columns are known.

    Raises:
        IngestionError: As of ``json_records``.
    """
    names = JsonNames(wanted=wanted)
    for number, texts, lists in _rows(file, name, rows):
        try:
            names.add(texts, lists)
        except JsonFaultError as error:
            raise refused(name, str(error), number) from error
    if not (names.fields or names.others or is_declared):
        of_list = f" in a list {dotted(rows.path)}" if rows.path else ""
        raise refused(name, _NO_ROWS.replace(" with", f"{of_list} with"))
    return names


def _rows(
    file: BinaryIO, name: str, rows: JsonRows
) -> Iterator[tuple[int, dict[Path, str], set[Path]]]:
    for found in json_objects(file, name, rows.path):
        number = found.number
        try:
            for count, (texts, lists) in enumerate(rows.of(found), 1):
                number = count if found.is_around else found.number
                yield number, texts, lists
        except JsonFaultError as error:
            raise refused(name, str(error), number) from error
