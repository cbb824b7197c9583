"""Text files that are compressed: gzip, Zstandard, or a zip archive of one file."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import BinaryIO, cast

from backports.zstd import ZstdError, ZstdFile

from upstream.files.records import refused

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
    try:
        with _opened(file, name) as content:
            yield content
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
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        sentence = (
            f"the archive holds {len(members)} files: a table is read from an archive "
            "of one; unpack it and name the files"
        )
        raise refused(name, sentence)
    if members[0].flag_bits & 1:
        raise refused(name, "the archive has a password: unpack it")
    return cast("BinaryIO", archive.open(members[0]))
