"""Attachments of FHIR resources: data in base64, or a file beside the resources."""

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from engines.regular_files import FileTooLargeError, read_at_most
from upstream.extraction.reading.decoding.encodings import (
    decode,
    known_encoding,
)
from upstream.extraction.reading.decoding.html_texts import html_text
from upstream.extraction.reading.decoding.xml_texts import xml_text
from upstream.extraction.reading.families.text_files import MOST_BYTES
from upstream.extraction.reading.folders import SourceFile, unreadable
from upstream.extraction.reading.judging import too_long
from upstream.extraction.reading.outcomes import FlawError, Json, Reason, Written
from upstream.extraction.reading.specs import FhirFiles
from upstream.manifests.file_specs import Encoding

_BLANKS = re.compile(r"[ \t\r\n]+")
_READ_TYPES = frozenset({"text/plain", "text/html", "text/xml", "application/xml", ""})


class Attachments:
    """Reads the attachments of one file's resources."""

    def __init__(self, source: FhirFiles, file: SourceFile) -> None:
        """Begin.

        Args:
            source: Says where paths start, and how long a text may be.
            file: Holds the resources.
        """
        self.source = source
        self.file = file

    def read(
        self, attachment: Mapping[str, Json]
    ) -> tuple[str | None, Written | FlawError]:
        """Return the file that an attachment names, if it does, and its text."""
        path = None
        try:
            kind, encoding = _content_type(attachment.get("contentType"))
            data, url = attachment.get("data"), attachment.get("url")
            if isinstance(data, str):
                raw = _decoded(data, self.source.max_characters)
            else:
                path, raw = self._followed(url)
            return path, _marked_up(raw, kind, encoding)
        except FlawError as flaw:
            return path, flaw

    def _followed(self, url: Json) -> tuple[str, bytes]:
        """Return name and bytes of the file that a relative url names.

        Raises:
            FlawError: It names none inside the import folder.
        """
        if not isinstance(url, str) or not url:
            raise FlawError(Reason.EMPTY, "it has neither data nor a url")
        root, most = self.file.root, MOST_BYTES * (self.source.max_characters + 1)
        try:
            real = _named(root / self.source.folder, root, unquote(url))
            return real.relative_to(root).as_posix(), read_at_most(
                real, most, within=root
            )
        except FileTooLargeError:
            raise too_long(self.source.max_characters) from None
        except (OSError, ValueError, RuntimeError) as error:
            raise unreadable(error) from None


def _named(folder: Path, root: Path, path: str) -> Path:
    said = "its url names no file in the source's folder: put it there, or export data"
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/|\\", path) or "\0" in path:
        raise FlawError(Reason.ELSEWHERE, said)
    real = (folder / path).resolve()
    if not real.is_relative_to(root):
        outside = "its url leads out of the import folder"
        raise FlawError(Reason.OUTSIDE_FOLDER, outside)
    if not real.is_file():
        raise FlawError(Reason.ELSEWHERE, said)
    return real


def _content_type(written: Json) -> tuple[str, Encoding | None]:
    """Return a type of contents and its declared encoding.

    Raises:
        FlawError: It is not read.
    """
    text = written.lower() if isinstance(written, str) else ""
    kind, *parameters = (part.strip() for part in text.split(";"))
    if kind not in _READ_TYPES:
        said = "its contentType is not read: export it as text/plain"
        raise FlawError(Reason.OTHER_FORMAT, said)
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            encoding = known_encoding(value.strip(" \"'"))
            if encoding is None:
                said = "the charset of its contentType is not read"
                raise FlawError(Reason.BAD_ENCODING, said)
            return kind, encoding
    return kind, None


def _decoded(data: str, max_characters: int) -> bytes:
    plain = _BLANKS.sub("", data)
    if len(plain) * 3 // 4 > MOST_BYTES * (max_characters + 1):
        raise too_long(max_characters)
    try:
        return b64decode(plain, validate=True)
    except (binascii.Error, ValueError):
        said = "its data are no base64"
        raise FlawError(Reason.BAD_BASE64, said) from None


def _marked_up(raw: bytes, kind: str, encoding: Encoding | None) -> Written:
    if kind in {"text/xml", "application/xml"}:
        return xml_text(raw, encoding)
    written = decode(raw, encoding)
    return html_text(written) if kind == "text/html" else written
