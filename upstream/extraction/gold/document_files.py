"""Gold standards that have files for each document."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from engines.regular_files import read_at_most
from upstream.extraction.gold.outcomes import GoldError, Refused, require_writable
from upstream.extraction.reading.outcomes import Written
from upstream.extraction.text.documents import pieces_of
from upstream.extraction.text.spans import AnnotatedDocument

MOST_BYTES = 2**26
"""The most bytes of one file: a document is held in memory."""

_MOST_NAME = 200  # bytes of one part of a path, a suffix not counted


class Naming:
    """Names documents by their files' paths: an id of its own each, and fields."""

    def __init__(self, pattern: str | None = None) -> None:
        """Begin with no document.

        Args:
            pattern: Regular expression of a whole path, ``.txt`` and all: named groups
                become fields, and one called id the id; None: the path is the id.
        """
        self._pattern = None if pattern is None else re.compile(pattern)
        self._seen: set[str] = set()

    def named(self, path: str) -> tuple[str, dict[str, str]]:
        r"""Return a document's id and fields.

        Raises:
            GoldError: The pattern does not match, or another document has the id.

        >>> Naming(r"p(?P<patient>\d+)/.*").named("p12/a.txt")
        ('p12/a', {'patient': '12'})
        """
        plain = path.removesuffix(".txt")
        if self._pattern is None:
            return plain, {}
        match = self._pattern.fullmatch(path)
        if match is None:
            sentence = "its path does not match id_pattern"
            raise GoldError(sentence)
        fields = {name: said or "" for name, said in match.groupdict().items()}
        document_id = fields.pop("id", plain)
        if not document_id or document_id in self._seen:
            sentence = "id_pattern gives it no id, or one that another document has"
            raise GoldError(sentence)
        self._seen.add(document_id)
        return document_id, fields


def text_of(path: Path) -> Written:
    """Return the text of a file in UTF-8, as it is.

    Raises:
        GoldError: It cannot be read.
    """
    try:
        raw = read_at_most(path, MOST_BYTES)
        plain = raw.removeprefix(BOM_UTF8)
        text = plain.decode("utf-8")
    except OSError as error:
        sentence = f"cannot be read: {error.strerror}"
        raise GoldError(sentence) from error
    except UnicodeDecodeError as error:
        sentence = f"not UTF-8 at byte {error.start}"
        raise GoldError(sentence) from error
    pieces = pieces_of(text, "utf-8", original=len(raw) - len(plain))
    return Written(text, pieces, "utf-8", "declared")


def write_documents(
    documents: Iterable[AnnotatedDocument],
    folder: Path,
    files: Callable[[AnnotatedDocument], dict[str, str]],
) -> tuple[Refused, ...]:
    """Write the files of each document; return the documents that were refused.

    Args:
        documents: Their ids become paths under the folder.
        folder: Is made if it is missing.
        files: Gives what is written for a document, by the files' suffixes.
    """
    refused = []
    folder.mkdir(parents=True, exist_ok=True)
    for annotated in documents:
        try:
            _write(annotated, folder, files)
        except GoldError as error:
            refused.append(error.refused(str(folder), annotated.document.id))
    return tuple(refused)


def _write(
    annotated: AnnotatedDocument,
    folder: Path,
    files: Callable[[AnnotatedDocument], dict[str, str]],
) -> None:
    document = annotated.document
    require_writable(annotated)
    path = folder / _path(document.id)
    try:
        # A mark would be taken off as one when the file is read again.
        mark = "\ufeff" if document.text.startswith("\ufeff") else ""
        contents = {
            suffix: (mark + text).encode() for suffix, text in files(annotated).items()
        }
        targets = {path.with_name(path.name + each): each for each in contents}
        if any(target.exists() for target in targets):
            sentence = "a file of its name is there already: write to an empty folder"
            raise GoldError(sentence)
        path.parent.mkdir(parents=True, exist_ok=True)
        for target, suffix in targets.items():
            target.write_bytes(contents[suffix])
    except OSError as error:
        sentence = f"cannot be written: {error.strerror}"
        raise GoldError(sentence) from error


def _path(document_id: str) -> PurePosixPath:
    """Return the path of a document's files, from which its id is read again.

    Raises:
        GoldError: Its id is no path.
    """
    path = PurePosixPath(document_id)
    is_plain = path.as_posix() == document_id and not path.is_absolute()
    parts = path.parts
    if not parts or not is_plain or ".." in parts or not document_id.isprintable():
        sentence = "its id is no name of a file: rename it, or write JSON instead"
        raise GoldError(sentence)
    try:
        is_long = any(len(part.encode()) > _MOST_NAME for part in parts)
    except UnicodeEncodeError:
        is_long = True
    if is_long:
        sentence = "its id is too long for a file's name: write JSON instead"
        raise GoldError(sentence)
    return path
