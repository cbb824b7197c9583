"""Keyed hashes of rows and units, in Python and as DuckDB expressions.

A message is a run of fields. A field is ``V``, its length in bytes, a colon and its
UTF-8 bytes; NULL is ``N``. No run of fields reads as another, and NULL is not empty. A
source text of more than ``CARRIED_BYTES`` enters by its length and SHA-256.
"""

import hashlib
import hmac
from collections.abc import Sequence

from upstream.files.long_texts import CARRIED_BYTES, carried_sql, carried_text

POPULATION_ID_BYTES = 16
_BLOCK = 64
_INNER, _OUTER = 0x36, 0x5C


def message(fields: Sequence[str | None]) -> bytes:
    """Return the fields as one unambiguous string of bytes.

    >>> message(["ab", None, ""])
    b'V2:abNV0:'
    """
    return b"".join(_field(text) for text in fields)


def _field(text: str | None) -> bytes:
    if text is None:
        return b"N"
    raw = text.encode()
    return b"V%d:%b" % (len(raw), raw)


def first_64_bits(key: bytes, fields: Sequence[str | None]) -> int:
    """Return the first 64 bits of HMAC-SHA-256 of the fields, as a signed integer."""
    digest = hmac.new(key, message(fields), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def row_hash(
    key: bytes, table: str, unit: str, raw: Sequence[str | None], occurrence: int
) -> int:
    """Return the stored hash of a row (PRIVACY 2).

    Args:
        key: K_row.
        table: The table's declared name.
        unit: The row's canonical unit id.
        raw: Source text of the declared columns, in manifest order.
        occurrence: Which of the unit's equal rows this is, from 1.
    """
    texts = [carried_text(text, CARRIED_BYTES) for text in raw]
    return first_64_bits(key, [table, unit, *texts, str(occurrence)])


def unit_key(key: bytes, unit: str) -> int:
    """Return the stored key of a unit: 64 signed bits under K_unit."""
    return first_64_bits(key, [unit])


def population_id(key: bytes, unit: str) -> bytes:
    """Return the 16 bytes that stand for a unit in the overlap file."""
    return hmac.new(key, message([unit]), hashlib.sha256).digest()[:POPULATION_ID_BYTES]


def field_sql(expression: str) -> str:
    """Return the DuckDB expression of one field of a message."""
    return (
        f"CASE WHEN {expression} IS NULL THEN 'N' "
        f"ELSE concat('V', strlen({expression}), ':', {expression}) END"
    )


def message_sql(constants: Sequence[str], expressions: Sequence[str]) -> str:
    """Return the DuckDB expression of a message: constants first, then columns.

    One ``concat`` for all: a chain of ``||`` copies the text once a field.
    """
    start = message(constants).decode()
    fields = ", ".join(field_sql(expression) for expression in expressions)
    return f"concat('{start}', {fields})"


def hashed_text_sql(raw: str) -> str:
    """Return the DuckDB expression of what of a source text enters ``row_hash``."""
    return carried_sql(raw, CARRIED_BYTES)


def unit_key_sql(uid: str) -> str:
    """Return the DuckDB expression of ``unit_key``; NULL where there is no unit."""
    hashed = first_64_bits_sql(hmac_hex_sql("unit", field_sql(uid)))
    return f"CASE WHEN {uid} IS NOT NULL THEN {hashed} END"


def population_id_sql(uid: str) -> str:
    """Return the DuckDB expression of ``population_id``."""
    digest = hmac_hex_sql("people", field_sql(uid))
    return f"unhex(left({digest}, {2 * POPULATION_ID_BYTES}))"


def row_hash_sql(message: str, occurrence: str) -> str:
    """Return the DuckDB expression of ``row_hash``.

    Args:
        message: Expression of the fields up to the occurrence number.
        occurrence: Expression of that number's field.
    """
    return first_64_bits_sql(hmac_hex_sql("row", f"{message} || {occurrence}"))


def hmac_hex_sql(key_name: str, text: str) -> str:
    """Return the DuckDB expression of HMAC-SHA-256 in hexadecimal.

    The connection holds the padded keys as variables (``set_key``): no statement's
    text, and so no error or log, contains them.
    """
    inner = f"sha256(getvariable('{key_name}_inner') || encode({text}))"
    return f"sha256(getvariable('{key_name}_outer') || unhex({inner}))"


def first_64_bits_sql(hexadecimal: str) -> str:
    """Return the DuckDB expression that reads 16 hex digits as a signed integer."""
    return f"CAST(CAST(unhex(left({hexadecimal}, 16)) AS BIT) AS BIGINT)"


def padded_keys(key: bytes) -> tuple[bytes, bytes]:
    """Return the inner and outer block of HMAC (RFC 2104) for a key of 64 bytes."""
    block = key.ljust(_BLOCK, b"\0")
    return bytes(b ^ _INNER for b in block), bytes(b ^ _OUTER for b in block)
