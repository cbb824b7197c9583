"""The files that a source's patterns name, in a fixed order, kept inside a folder.

Folders are walked one at a time, names in order, so that the list of a source's files
is never held whole and a reading that stopped goes on where it was.
"""

import os
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Protocol

from engines.regular_files import identity_of
from upstream.errors import IngestionError, Problem
from upstream.extraction.reading.outcomes import FlawError, Position, Reason

_NO_TEXT = frozenset({"Cc", "Cs", "Zl", "Zp"})  # Unicode's controls, and no characters


class FileSource(Protocol):
    """What names files by patterns."""

    @property
    def name(self) -> str:
        """Names the source in reports."""
        ...

    @property
    def folder(self) -> str:
        """Where patterns start, under the import folder."""
        ...

    @property
    def files(self) -> tuple[str, ...]:
        """Patterns of paths under the folder."""
        ...


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a source names.

    Attributes:
        id: Its path under the source's folder.
        name: Its path under the import folder, as a report may print it.
        path: Where it really lies, without links.
        root: The import folder, without links.
        state: Its size and time of change.
    """

    id: str
    name: str
    path: Path
    root: Path
    state: str = ""


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """What a source names and nobody may read, or can; and why."""

    id: str
    name: str
    flaw: FlawError


@dataclass(frozen=True, slots=True)
class _Walk:
    """One way through a folder."""

    folder: Path
    root: Path
    patterns: tuple[tuple[str, ...], ...]
    after: tuple[str, ...]
    linked: set[Path] = field(default_factory=set)


def source_files(
    source: FileSource, import_folder: Path, after: str = ""
) -> Iterator[SourceFile | UnreadFile]:
    """Yield what a source's patterns name, from a path under its folder on.

    Args:
        source: Its declaration.
        import_folder: What no file may lie outside of.
        after: The first path to yield, where it still exists; all without it.

    Raises:
        IngestionError: A pattern names nothing, or the folder is none.
    """
    root = import_folder.resolve()
    folder = root / source.folder
    if not folder.is_dir() or not folder.resolve().is_relative_to(root):
        sentence = f"is no folder inside the import folder (source {source.name})"
        raise IngestionError((Problem(source.folder, None, None, sentence),))
    patterns = tuple(PurePosixPath(pattern).parts for pattern in source.files)
    walk = _Walk(folder, root, patterns, PurePosixPath(after).parts)
    if not after:
        _require_some(source, walk)
    yield from (_looked_at(walk, parts) for parts in _walked(walk, patterns))


def _require_some(source: FileSource, walk: _Walk) -> None:
    problems = []
    for text, pattern in zip(source.files, walk.patterns, strict=True):
        if next(_walked(walk, (pattern,)), None) is None:
            sentence = (
                f"no file matches for source {source.name}: patterns are read from "
                "the source's folder; put the file there, or mend the pattern"
            )
            problems.append(Problem(text, None, None, sentence))
    if problems:
        raise IngestionError(tuple(problems))


_Rest = tuple[tuple[str, ...], ...]
"""What is left of patterns below a folder."""

_Entries = Iterator[tuple[str, bool, bool]]
"""Names in a folder, in order; which of them are folders, and which are links."""


def _walked(walk: _Walk, rests: _Rest) -> Iterator[tuple[str, ...]]:
    """Yield the paths of files that patterns match, and of what hides some."""
    levels: list[tuple[tuple[str, ...], _Rest, _Entries]] = []
    below: tuple[tuple[str, ...], _Rest] | None = ((), rests)
    while levels or below:
        if below is not None:
            entries = _entries(walk.folder.joinpath(*below[0]))
            if entries is None:
                yield below[0]
            else:
                levels.append((*below, entries))
            below = None
            continue
        above, left, entries = levels[-1]
        entry = next(entries, None)
        if entry is None:
            levels.pop()
            continue
        parts = (*above, entry[0])
        found = _found(walk, parts, left, entry)
        if found is True:
            yield parts
        elif found:
            below = (parts, found)


def _entries(folder: Path) -> _Entries | None:
    """Return what stands in a folder, or None where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = [(e.name, _is_folder(e), e.is_symlink()) for e in entries]
    except OSError:
        return None
    return iter(sorted(found))


def _found(
    walk: _Walk, parts: tuple[str, ...], rests: _Rest, entry: tuple[str, bool, bool]
) -> _Rest | bool:
    """Return what to look for below a folder, or whether an entry is to be yielded."""
    name, is_folder, is_link = entry
    if parts < walk.after[: len(parts)]:
        return False
    left = tuple(dict.fromkeys(each for rest in rests for each in _behind(rest, name)))
    if is_folder and not is_link:
        return left
    return any(left if is_folder else map(_is_done, left))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _behind(pattern: tuple[str, ...], name: str) -> Iterator[tuple[str, ...]]:
    """Yield what is left of a pattern behind a name that it may begin with."""
    if not pattern:
        return
    if pattern[0] == "**":
        yield pattern
        yield from _behind(pattern[1:], name)
    elif fnmatchcase(name, pattern[0]):
        yield pattern[1:]


def _is_done(rest: tuple[str, ...]) -> bool:
    return all(part == "**" for part in rest)


def _looked_at(walk: _Walk, parts: tuple[str, ...]) -> SourceFile | UnreadFile:
    found = walk.folder.joinpath(*parts)
    name = found.relative_to(walk.root).as_posix()
    shown = name if name.isprintable() else ascii(name)[1:-1]
    path_id = PurePosixPath(*parts).as_posix()
    try:
        real = found.resolve(strict=True)
        _require_readable(walk, found, real)
        identity = identity_of(real)
    except FlawError as flaw:
        return UnreadFile(path_id, shown, flaw)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        return UnreadFile(path_id, shown, unreadable(error))
    state = f"{identity.size_bytes}-{identity.modified_ns}"
    return SourceFile(path_id, shown, real, walk.root, state)


def _require_readable(walk: _Walk, found: Path, real: Path) -> None:
    if _has_no_text(str(found.relative_to(walk.folder))):
        said = "its path has characters that are no text: rename it"
        raise FlawError(Reason.BAD_NAME, said)
    if not real.is_relative_to(walk.root):
        said = "lies outside the import folder: copy it inside"
        raise FlawError(Reason.OUTSIDE_FOLDER, said)
    if real.is_dir():
        os.scandir(real).close()
        said = "is a link to a folder: name the files where they lie"
        raise FlawError(Reason.UNREADABLE, said)
    if found.is_symlink():
        _require_first(walk, real)


def _require_first(walk: _Walk, real: Path) -> None:
    """Refuse a link to what the source reads already."""
    folder = walk.folder.resolve()
    is_named = real.is_relative_to(folder) and any(
        _names(pattern, real.relative_to(folder).parts) for pattern in walk.patterns
    )
    if is_named or real in walk.linked:
        said = "is a link to a file that the source names already"
        raise FlawError(Reason.DUPLICATE_ID, said)
    walk.linked.add(real)


def _names(pattern: tuple[str, ...], parts: Iterable[str]) -> bool:
    rests: Iterable[tuple[str, ...]] = (pattern,)
    for part in parts:
        rests = [left for rest in rests for left in _behind(rest, part)]
    return any(_is_done(rest) for rest in rests)


def _has_no_text(name: str) -> bool:
    return any(unicodedata.category(each) in _NO_TEXT for each in name)


def unreadable(error: Exception) -> FlawError:
    """Return why a file cannot be read, in the system's words."""
    strerror = error.strerror if isinstance(error, OSError) else None
    said = strerror or "its links lead in a circle"
    return FlawError(Reason.UNREADABLE, f"cannot be read: {said}")


def refuse_changed(file: SourceFile, after: Position | None) -> None:
    """Require that the file in which a reading stopped is as it was.

    Raises:
        IngestionError: It is not: positions in it mean nothing any more.
    """
    if after and after.file == file.id and after.record and after.state != file.state:
        sentence = "changed since the reading stopped in it: begin anew"
        raise IngestionError((Problem(file.name, None, None, sentence),))
