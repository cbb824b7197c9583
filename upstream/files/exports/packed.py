"""Files that are compressed: gzip, Zstandard, or zip archives, of several files too."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import BinaryIO, cast

from backports.zstd import ZstdError, ZstdFile

from privacy.wording import counted
from upstream.files.records import MOST_PLACES, refused
from upstream.manifests.file_specs import PARQUET_SUFFIXES, is_archive, kind_of

MOST_MEMBERS = 1_000  # of an archive
_SMALL_BYTES = 1 << 28  # unpacked; what has no more is no bomb
_MOST_TIMES = 200  # unpacked for packed bytes: tables of text grow 5 to 50 times
_ARCHIVES = frozenset({".zip", ".7z", ".rar", ".tar", ".tgz"})
_DAMAGED = (
    "cannot be unpacked: it is damaged, was cut off, or is compressed otherwise than "
    "its name says; export it again"
)


@contextmanager
def unpacked(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Lend a file's bytes as they are once unpacked, by what its name ends in.

    Raises:
        IngestionError: It cannot be unpacked, or an archive holds no file or several.
    """
    with _unbroken(name), _opened(file, name) as content:
        yield content


@contextmanager
def _unbroken(name: str) -> Iterator[None]:
    try:
        yield
    except (
        EOFError, zlib.error, gzip.BadGzipFile, ZstdError, zipfile.BadZipFile,
        NotImplementedError,
    ) as error:  # fmt: skip
        raise refused(name, _DAMAGED) from error


@contextmanager
def _opened(file: BinaryIO, name: str) -> Iterator[BinaryIO]:
    match PurePath(name).suffix.lower():
        case ".gz":
            yield io.BufferedReader(gzip.GzipFile(fileobj=file))
        case ".zst":
            with ZstdFile(file) as content:
                yield io.BufferedReader(content)
        case ".zip":
            with zipfile.ZipFile(file) as archive:
                yield _only_member(archive, name)
        case _:
            yield file


def _only_member(archive: zipfile.ZipFile, name: str) -> BinaryIO:
    members = [member for member in archive.infolist() if _is_file(member)]
    if len(members) != 1:
        sentence = (
            f"the archive holds {counted(len(members), 'file')}: unpack it, and name "
            "the files"
        )
        raise refused(name, sentence)
    return _opened_member(archive, members[0], name)


def _opened_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str
) -> BinaryIO:
    if member.flag_bits & 1:
        raise refused(name, "the archive has a password: unpack it")
    return cast("BinaryIO", archive.open(member))


def _is_file(member: zipfile.ZipInfo) -> bool:
    """Whether a member is no folder, nor what programs hide beside files."""
    parts = PurePath(member.filename).parts
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return bool(parts) and not member.is_dir() and not is_hidden


@dataclass(frozen=True, slots=True)
class Archive:
    """The files of a zip archive of several.

    Attributes:
        members: Those that can be read, in the order of their names.
        others: The names of those that cannot.
    """

    members: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def warnings(self, name: str) -> Iterator[str]:
        """Yield which files of an archive are not read."""
        if self.others:
            told = ", ".join(map(ascii, self.others[:MOST_PLACES]))
            more = len(self.others) - MOST_PLACES
            told += f" and {more} more" if more > 0 else ""
            yield f"{name}: {told} left out: no kind of file that is read"


def archive_of(file: BinaryIO, name: str) -> Archive:
    """Return the files of an archive of several; none, if it is no such archive.

    One file alone, of text, is the archive's own, whatever it is called.

    Raises:
        IngestionError: Nothing in it can be read, it holds archives or Parquet, or it
            would be too much once it is unpacked.
    """
    if not is_archive(name):
        return Archive()
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            held = [member for member in archive.infolist() if _is_file(member)]
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise refused(name, _DAMAGED) from error
    names = sorted(member.filename for member in held)
    _refuse_bombs(held, name, file.seek(0, io.SEEK_END))
    if twice := next((a for a, b in pairwise(names) if a == b), None):
        raise refused(name, f"the archive holds {twice!a} twice: unpack it")
    if unread := next((one for one in names if _must_unpack(one)), None):
        raise refused(name, f"the archive holds {unread!a}: unpack it")
    kinds = {one: kind_of(one) for one in names}
    if len(names) == 1 and kinds[names[0]] in {None, kind_of(name)}:
        return Archive()
    members = tuple(one for one in names if kinds[one] is not None)
    if not members:
        sentence = (
            f"the archive holds {counted(len(names), 'file')}, none of which can be "
            "read: a table is text files, JSON or workbooks"
        )
        raise refused(name, sentence)
    return Archive(members, tuple(one for one in names if kinds[one] is None))


def _must_unpack(member: str) -> bool:
    """Whether a member has rows that are read outside of an archive alone."""
    suffix = PurePath(member).suffix.lower()
    return suffix in _ARCHIVES or suffix in PARQUET_SUFFIXES


def _refuse_bombs(
    members: Sequence[zipfile.ZipInfo], name: str, packed_bytes: int
) -> None:
    """Refuse an archive that grows far more than tables do; sizes are as it says.

    No more is read of a member than that.

    Raises:
        IngestionError: It does.
    """
    total = sum(member.file_size for member in members)
    if len(members) > MOST_MEMBERS:
        said = f"the archive holds more than {MOST_MEMBERS:,} files: unpack it"
        raise refused(name, said)
    if total > _SMALL_BYTES and total > _MOST_TIMES * packed_bytes:
        said = (
            f"the archive would unpack to {total >> 20:,} MB, more than {_MOST_TIMES} "
            "times its own size: it is no export of a table"
        )
        raise refused(name, said)


@contextmanager
def member_of(file: BinaryIO, name: str, member: str | None) -> Iterator[BinaryIO]:
    """Lend a member of an archive; ``None``: the file as it is.

    Raises:
        IngestionError: It cannot be unpacked.
    """
    if member is None:
        yield file
        return
    file.seek(0)
    with _unbroken(name), zipfile.ZipFile(file) as archive:
        told = member_name(name, member)
        with _opened_member(archive, archive.getinfo(member), told) as content:
            yield content


def member_name(name: str, member: str | None) -> str:
    """Return what to call a member of an archive.

    >>> member_name("months.zip", "a/01.csv"), member_name("a.csv", None)
    ('months.zip/a/01.csv', 'a.csv')
    """
    if member is None:
        return name
    return f"{name}/{member if member.isprintable() else ascii(member)}"
