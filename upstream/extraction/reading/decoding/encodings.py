"""Bytes to text: the declared encoding, a byte order mark, valid UTF-8, or a guess.

A guess is made among the encodings that hospitals' systems write beside UTF-8
(Windows-1252, Latin-1 and UTF-16 without a mark); what looks like none of them is set
aside rather than read wrongly. Nothing is normalised.
"""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import get_args

from charset_normalizer import from_bytes

from upstream.extraction.reading.outcomes import (
    EncodingSource,
    FlawError,
    Reason,
    Written,
)
from upstream.extraction.text.documents import pieces_of
from upstream.manifests.file_specs import Encoding

_NAMES = {name.replace("-", ""): name for name in get_args(Encoding)}
_NAMES |= {"cp1252": "windows-1252", "cp1250": "windows-1250", "usascii": "ascii"}
_NAMES |= {"latin1": "iso-8859-1", "latin2": "iso-8859-2", "latin9": "iso-8859-15"}

_MARKS = (
    (BOM_UTF8, "utf-8"),
    (BOM_UTF16_LE, "utf-16-le"),
    (BOM_UTF16_BE, "utf-16-be"),
)
_FORMATS = (
    (b"%PDF-", "a PDF file: export its text"),
    (b"PK\x03\x04", "a zip archive or an Office document: unpack or export it as text"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "compressed by gzip: unpack it"),
    (b"\xfd7zXZ\x00", "compressed by xz: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"),
    (b"(\xb5/\xfd", "compressed by zstd: unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Office document: export it as text"),
    (b"{\\rtf", "an RTF document: export it as text"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF87a", "an image"),
    (b"GIF89a", "an image"),
    (b"II*\x00", "an image"),
    (b"MM\x00*", "an image"),
)
_DICOM_AT = 128  # bytes before the letters DICM of a DICOM file
_WHOLE_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_MOST_HIGH = 0.3  # share of bytes above ASCII in a short Western text that is guessed
_NOT_ASCII = bytes(range(0x80, 0x100))
_REPLACED = "\ufffd"  # what Python writes for each flaw in UTF-8
_CUT = re.compile(
    rb"(?:[\xc2\xc3]|[\xe0-\xef][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{1,2})\Z"
)


def known_encoding(name: str) -> Encoding | None:
    """Return the encoding that a header names, or None where it is not read.

    >>> known_encoding("ISO_8859-1"), known_encoding("klingon")
    ('iso-8859-1', None)
    """
    plain = re.sub(r"[^a-z0-9]", "", name.casefold())
    found = _NAMES.get(plain)
    return next((known for known in get_args(Encoding) if known == found), None)


def decode(
    raw: bytes, declared: Encoding | None = None, *, original: int = 0
) -> Written:
    """Return the text that bytes hold, and where its characters stand.

    Args:
        raw: All bytes of one document.
        declared: Its encoding, or None to detect it.
        original: Offset of the first byte in the original.

    Raises:
        FlawError: They are no text, or not in that encoding.
    """
    refuse_other_formats(raw)
    mark, encoding, source = _decided(raw, declared)
    try:
        text = raw[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        at = original + len(mark) + error.start
        is_cut = error.end + len(mark) >= len(raw)
        raise _undecodable(encoding, at, is_cut=is_cut) from None
    pieces = pieces_of(text, encoding, original=original + len(mark))
    return Written(text, pieces, encoding, source)


def refuse_other_formats(raw: bytes) -> None:
    """Refuse bytes that begin as a format which holds its text in another way.

    Raises:
        FlawError: They do.
    """
    for signature, said in _FORMATS:
        if raw.startswith(signature):
            raise FlawError(Reason.OTHER_FORMAT, f"it is {said}", 0)
    if raw.startswith(b"BZh") and raw[4:10] == b"1AY&SY":
        raise FlawError(Reason.OTHER_FORMAT, "it is compressed by bzip2: unpack it", 0)
    if raw[_DICOM_AT : _DICOM_AT + 4] == b"DICM":
        raise FlawError(Reason.OTHER_FORMAT, "it is a DICOM file: export its text", 0)


def _decided(
    raw: bytes, declared: Encoding | None
) -> tuple[bytes, str, EncodingSource]:
    """Return the mark that the text begins behind, its encoding, and how it is known.

    Raises:
        FlawError: It is not known.
    """
    mark, marked = next((m for m in _MARKS if raw.startswith(m[0])), (b"", ""))
    if declared is None:
        return (mark, marked, "mark") if mark else (b"", *_detected(raw))
    if mark and declared not in {marked, marked[:6]}:
        said = "its byte order mark is not that of the declared encoding"
        raise FlawError(Reason.BAD_ENCODING, said, 0)
    if declared == "utf-16":
        return mark, marked or "utf-16-le", "declared"
    return mark, declared, "declared"


def _undecodable(encoding: str, at: int, *, is_cut: bool) -> FlawError:
    said = f"the bytes are not {encoding}: declare the encoding, or save it as UTF-8"
    if is_cut and encoding.startswith("utf"):
        said = f"the text ends within a character of {encoding}: it was cut off"
    return FlawError(Reason.BAD_ENCODING, said, at)


def _detected(raw: bytes) -> tuple[str, EncodingSource]:
    if b"\0" in raw:
        return _without_mark(raw), "guessed"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if _is_damaged(raw):
            is_cut = error.end >= len(raw)
            raise _undecodable(error.encoding, error.start, is_cut=is_cut) from None
        return _western(raw, error.start), "guessed"
    return "utf-8", "valid"


def _without_mark(raw: bytes) -> str:
    """Return which UTF-16 a text with zero bytes is in, which ASCII letters give."""
    at_odd, at_even = raw[1::2].count(0), raw[::2].count(0)
    guess = "utf-16-le" if at_odd > at_even else "utf-16-be"
    try:
        is_text = "\0" not in raw.decode(guess)
    except UnicodeDecodeError:
        is_text = False
    is_western = max(at_odd, at_even) > _MOST_HIGH * len(raw)  # of at most a half
    if not (is_text and is_western and _looks_right(raw, guess)):
        said = "zero bytes stand in it: it is no text, or its encoding must be declared"
        raise FlawError(Reason.BINARY, said, raw.index(0))
    return guess


def _is_damaged(raw: bytes) -> bool:
    """Whether bytes were UTF-8 once, and were cut off or changed.

    In other encodings letters stand side by side as whole sequences seldom. A text of
    ASCII that ends in the beginning of one was cut too: in Windows-1252 it would end in
    an A with a circumflex or a tilde, or in a sign behind a letter with an accent.
    """
    whole = len(_WHOLE_SEQUENCE.findall(raw))
    flaws = raw.decode("utf-8", errors="replace").count(_REPLACED)
    flaws -= raw.count(_REPLACED.encode())
    return whole >= max(1, flaws) or (flaws == 1 and _CUT.search(raw) is not None)


def _western(raw: bytes, at: int) -> str:
    high = len(raw) - len(raw.translate(None, delete=_NOT_ASCII))
    for name in ("windows-1252", "iso-8859-1"):
        try:
            raw.decode(name)
        except UnicodeDecodeError:
            continue
        is_short_note = name == "windows-1252" and high <= _MOST_HIGH * len(raw)
        if is_short_note or _looks_right(raw, name):
            return name
    said = "its encoding cannot be told: declare it, or save the text as UTF-8"
    raise FlawError(Reason.BAD_ENCODING, said, at)


def _looks_right(raw: bytes, encoding: str) -> bool:
    """Whether the letters look as those of a language do, decoded so."""
    return from_bytes(raw, cp_isolation=[encoding]).best() is not None
