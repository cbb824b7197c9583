"""Names and types of a file's columns as a manifest writes them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import combining, normalize

from privacy.schema import ColumnType
from query_lang.reading.writable import is_writable
from upstream.manifests.rules.manifest_rules import RESERVED

_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae", "œ": "oe"}
    | {"ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)
_KINDS = (
    (re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?"), ColumnType.INTEGER),
    (re.compile(r"DOUBLE|FLOAT|DECIMAL.*"), ColumnType.DECIMAL),
    (re.compile(r"DATE"), ColumnType.DATE),
    (re.compile(r"TIMESTAMP.*"), ColumnType.TIMESTAMP),
    (re.compile(r"BOOLEAN"), ColumnType.BOOLEAN),
)


@dataclass(frozen=True, slots=True)
class Drafted:
    """One column: its name in the file and here, and its type."""

    source: str
    name: str
    kind: ColumnType


def family_of(type_: str) -> str:
    """Return a type in a word: what is nested in it can be long.

    >>> family_of("STRUCT(a INTEGER, b VARCHAR)[]"), family_of("BLOB")
    ('list', 'binary')
    """
    if type_.endswith("]"):
        return "list"
    word = type_.partition("(")[0].lower()
    return "binary" if word == "blob" else word


def type_of(type_: str) -> ColumnType:
    """Return our type of a DuckDB type; what we do not know is text."""
    known = (kind for pattern, kind in _KINDS if pattern.fullmatch(type_))
    return next(known, ColumnType.TEXT)


def identifier(text: str) -> str:
    """Return a text as an identifier of a manifest.

    >>> identifier("Visit Date (UTC)"), identifier("Größe"), identifier("Płeć")
    ('visit_date_utc', 'groesse', 'plec')
    """
    plain = normalize("NFKD", text.lower().translate(_SPELLED))
    plain = "".join(one for one in plain if not combining(one))
    name = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:60]
    if not name[:1].isalpha() or name in RESERVED or not is_writable(name):
        name = f"c_{name}"
    return name.rstrip("_")


def apart(names: Sequence[str]) -> list[str]:
    """Number the second and later uses of a name.

    >>> apart(["a", "b", "a"])
    ['a', 'b', 'a_2']
    """
    uses: Counter[str] = Counter()
    apart = []
    for name in names:
        uses[name] += 1
        apart.append(name if uses[name] == 1 else f"{name}_{uses[name]}")
    return apart
