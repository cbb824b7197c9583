"""Unit ids compared loosely: in any case, padding and leading zeros.

For refusals and warnings alone: which rows are one unit's is decided by
``upstream.canonical``.
"""

from collections.abc import Collection

from upstream.canonical import UnitType
from upstream.declarations import FOLDS, Fold

_MOST_DIGITS = 20  # of an id that is padded with zeros
_BLANK = r"[\p{Z}\p{C}]"


def loose_sql(text: str, kinds: Collection[Fold] = FOLDS) -> str:
    """Return the DuckDB expression of a text without what spellings differ in."""
    loose = f"nfc_normalize({text})"
    if "trim" in kinds:
        loose = f"regexp_replace({loose}, '{_BLANK}', '', 'g')"
    if "case" in kinds:
        loose = f"lower({loose})"
    if "zeros" in kinds:
        plain = f"regexp_replace({loose}, '^[+]', '')"
        loose = f"regexp_replace({plain}, '^([^0-9]*)0+([0-9])', '\\1\\2')"
    return loose


def candidates_sql(rows: str, unit_type: UnitType) -> str:
    """Return the query of canonical ids ``c`` that the texts ``t`` may be meant as.

    Keyed hashes cannot be compared loosely, so the spellings are tried one by one.
    """
    if unit_type == "integer":
        whole = "CAST(TRY_CAST(trim(t) AS BIGINT) AS VARCHAR)"
        return f"SELECT t, {whole} AS c FROM ({rows})"  # noqa: S608 - our own query
    bare = f"regexp_replace(nfc_normalize(t), '^{_BLANK}+|{_BLANK}+$', '', 'g')"
    rows = f"SELECT t, {bare} AS bare FROM ({rows})"  # noqa: S608 - as above
    form = "'^([^0-9]*)0*([0-9]+)$'"
    parts = (
        f"SELECT t, regexp_extract(bare, {form}, ['head', 'tail']) AS p FROM ({rows})"  # noqa: S608 - as above
    )
    padded = (
        f"SELECT t, concat(p.head, lpad(p.tail, w::INT, '0')) AS c FROM ({parts}), "  # noqa: S608 - as above
        f"range(1, {_MOST_DIGITS + 1}) AS widths(w) "
        "WHERE p.tail <> '' AND strlen(p.tail) <= w"
    )
    spelled = f"SELECT t, bare AS c FROM ({rows}) UNION ALL {padded}"  # noqa: S608 - as above
    cased = "CASE WHEN lower(c) = upper(c) THEN [c] ELSE [c, lower(c), upper(c)] END"
    return f"SELECT t, unnest({cased}) AS c FROM ({spelled})"  # noqa: S608 - as above
