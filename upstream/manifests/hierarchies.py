"""Own hierarchies: CSV files with a code and its value on each level."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import MappingProxyType

from engines.regular_files import FileTooLargeError, read_at_most
from privacy.schema import Hierarchy
from upstream.errors import ManifestError, Problem
from upstream.manifests.declarations import HierarchySpec

MOST_CODES = 5_000
MOST_BYTES = 2**20
MOST_CHARACTERS = 200  # of one cell
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,62}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CODE = "code"


def read_hierarchies(
    specs: Sequence[HierarchySpec], base: Path, import_folder: Path
) -> Mapping[str, Hierarchy]:
    """Read the declared files.

    Args:
        specs: Names and files, relative to ``base``.
        base: The manifest's folder.
        import_folder: The folder that real paths must lie under.

    Raises:
        ManifestError: Every problem of every file, with its line.
    """
    found: dict[str, Hierarchy] = {}
    problems: list[Problem] = []
    for spec in specs:
        try:
            text = _text(base / spec.file, spec.file, import_folder)
            found[spec.name] = _Reading(spec, text).hierarchy()
        except ManifestError as error:
            problems.extend(error.problems)
    if problems:
        raise ManifestError(tuple(problems))
    return MappingProxyType(found)


def _text(path: Path, shown: str, import_folder: Path) -> str:
    root = import_folder.resolve()
    try:
        real = path.resolve()
        if not real.is_relative_to(root):
            sentence = "lies outside the import folder: move it inside"
            raise _refused(shown, None, sentence)
        return read_at_most(real, MOST_BYTES, within=root).decode("utf-8-sig")
    except FileTooLargeError:
        sentence = "is larger than one mebibyte: shorten it"
        raise _refused(shown, None, sentence) from None
    except (OSError, ValueError, RuntimeError) as error:
        raise _refused(shown, None, _unread(error)) from error


def _unread(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "save the file as UTF-8"
    told = error.strerror if isinstance(error, OSError) else "it is no file's name"
    return f"cannot be read ({told}): check the name"


def _refused(file: str, line: int | None, sentence: str) -> ManifestError:
    return ManifestError((Problem(file, line, None, sentence),))


@dataclass
class _Reading:
    """One file on its way to a hierarchy."""

    spec: HierarchySpec
    text: str
    problems: list[Problem] = field(default_factory=list)

    def hierarchy(self) -> Hierarchy:
        rows = self._rows()
        line, header = next(rows, (1, []))
        self._check_header(line, header)
        self._stop()
        codes: dict[str, tuple[str | None, ...]] = {}
        for line, row in rows:
            if self._fits(line, row, len(header), codes):
                codes[row[0]] = tuple(value or None for value in row[1:])
        if not codes:
            self._note(line, "no code: write one a line, below the header")
        if len(codes) > MOST_CODES:
            self._note(line, f"more than {MOST_CODES:,} codes: declare fewer")
        self._stop()
        levels = tuple(header[1:])
        return Hierarchy(self.spec.name, levels, MappingProxyType(codes))

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(StringIO(self.text, newline=""), strict=True)
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            self._note(reader.line_num, f"no plain CSV ({error}): mend the quotes")
            self._stop()

    def _note(self, line: int, sentence: str) -> None:
        self.problems.append(Problem(self.spec.file, line, None, sentence))

    def _stop(self) -> None:
        if self.problems:
            raise ManifestError(tuple(self.problems))

    def _check_header(self, line: int, header: list[str]) -> None:
        levels = header[1:]
        if header[:1] != [_CODE] or not levels:
            self._note(line, "start with a header: code,level1,level2,...")
        for name in levels:
            if not _IDENTIFIER.fullmatch(name) or levels.count(name) > 1:
                self._note(
                    line,
                    f"level {name!r}: name each level once; start with a small letter, "
                    "then small letters, digits or _, 63 at most",
                )

    def _fits(
        self, line: int, row: list[str], width: int, known: Mapping[str, object]
    ) -> bool:
        sentence = None
        if len(row) != width:
            sentence = f"{len(row)} fields, but the header has {width}: mend the line"
        elif not row[0]:
            sentence = "the code is empty: write one, or remove the line"
        elif row[0] in known:
            sentence = f"the code {row[0]!r} stands twice: keep one of them"
        elif any(_CONTROL.search(cell) for cell in row):
            sentence = "a control character stands in a cell: remove it"
        elif any(len(cell) > MOST_CHARACTERS for cell in row):
            sentence = f"a cell has more than {MOST_CHARACTERS} characters: shorten it"
        if sentence is not None:
            self._note(line, sentence)
        return sentence is None
