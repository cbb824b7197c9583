"""Canonical unit ids: one spelling per unit, whichever table wrote it (CONTRACT 1)."""

import re
import unicodedata
from collections.abc import Collection
from typing import Literal

from upstream.files.long_texts import is_long
from upstream.files.usual_forms import WHITE_SPACE
from upstream.manifests.declarations import Fold

UnitType = Literal["integer", "text"]

MOST_ID_BYTES = 1_000
"""Bytes of UTF-8 that a unit id may have as it is written."""

_LEADING_ZEROS = re.compile(r"\A([^0-9]*)0+(?=[0-9])")
_BLANK = r"[\p{Z}\p{C}]"
_BLANK_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,19})")


class UnitIdError(ValueError):
    """A unit id is too long, or no integer of 64 bits though the population's are."""


def canonical_unit_id(raw: str | None, unit_type: UnitType) -> str | None:
    """Return the one spelling of a unit id, or None where the row has no unit.

    Raises:
        UnitIdError: The population's ids are integers and this is none of 64 bits, or
            it is longer than ``MOST_ID_BYTES``.

    >>> canonical_unit_id(" 007 ", "integer"), canonical_unit_id(" 007 ", "text")
    ('7', '007')
    """
    if is_long(raw or "", MOST_ID_BYTES):
        raise UnitIdError
    trimmed = (raw or "").strip(WHITE_SPACE)
    if not trimmed:
        return None
    if unit_type == "integer":
        return _canonical_integer(trimmed)
    return unicodedata.normalize("NFC", trimmed).strip(WHITE_SPACE)


def _canonical_integer(trimmed: str) -> str:
    match = _INTEGER.fullmatch(trimmed)
    number = int(match[1] + match[2]) if match else None
    if number is None or not -(2**63) <= number < 2**63:
        raise UnitIdError
    return str(number)


def folded_unit_id(uid: str, folds: Collection[Fold]) -> str | None:
    """Return a canonical id without what a population's spellings differ in.

    ``trim`` leaves out white space, control and format characters wherever they stand,
    ``case`` folds letters, ``zeros`` drops zeros before the first other digit. None
    where nothing is left.

    >>> folded_unit_id("P 0042a", ["case", "trim"]), folded_unit_id("00", ["zeros"])
    ('p0042a', '0')
    """
    if "trim" in folds:
        kept = (c for c in uid if unicodedata.category(c) not in _BLANK_CATEGORIES)
        uid = "".join(kept)
    if "case" in folds:
        uid = unicodedata.normalize("NFD", uid).casefold()
    if "zeros" in folds:
        uid = _LEADING_ZEROS.sub(r"\1", uid)
    return unicodedata.normalize("NFC", uid) or None


def folded_sql(uid: str, folds: Collection[Fold]) -> str:
    """Return the DuckDB expression of ``folded_unit_id`` for printable ASCII.

    Of other texts it tells which ids may be alike, for warnings: letters alone whose
    small form is longer are not folded.
    """
    folded = uid
    if "trim" in folds:
        folded = f"regexp_replace({folded}, '{_BLANK}', '', 'g')"
    if "case" in folds:
        folded = f"lower({folded})"
    if "zeros" in folds:
        folded = f"regexp_replace({folded}, '^([^0-9]*)0+([0-9])', '\\1\\2')"
    return folded


def plain_id_sql(raw: str, unit_type: UnitType) -> str:
    """Return a DuckDB condition: the id's spelling needs no more than ``plain_sql``.

    Whatever it does not hold for (white space at an end, anything beyond printable
    ASCII, long integers) is spelled by ``canonical_unit_id``, so that one library's
    Unicode tables decide.
    """
    pattern = "[+-]?[0-9]{1,18}" if unit_type == "integer" else "[!-~]([ -~]*[!-~])?"
    short = f"strlen({raw}) <= {MOST_ID_BYTES}"
    return f"coalesce({short} AND regexp_full_match({raw}, '{pattern}'), false)"


def plain_sql(raw: str, unit_type: UnitType) -> str:
    """Return the DuckDB expression that spells a plain id (see ``plain_id_sql``)."""
    if unit_type == "integer":
        return f"CAST(TRY_CAST({raw} AS BIGINT) AS VARCHAR)"
    return raw
