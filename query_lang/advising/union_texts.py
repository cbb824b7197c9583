"""One table whose cells two questions of the same rows add up of.

Texts alone: whether the answers do follow from the table is for those to see who
compile it (query_lang/deriving).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from privacy.errors import QueryError
from query_lang.advising.clauses import Outermost, Part, is_of, outermost

LONGEST: Final = 4_000
"""Characters of a text that is looked at; a longer one has no union."""

_PLAIN: Final = frozenset({"SELECT", "FROM", "WHERE", "GROUP", "ORDER"})


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of GROUP BY: the item that shows it, and its words without a name."""

    item: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """A text with its keys and its measures told apart."""

    text: Outermost
    keys: tuple[_Key, ...]
    measures: tuple[str, ...]


def union_text(one: str, other: str) -> str | None:
    """Return a question with the keys of both and the measures of the first.

    None where they do not read the same rows by the same words, or do more than count
    cells.

    >>> union_text(
    ...     "SELECT sex, COUNT(*) AS n FROM v WHERE age > 9 GROUP BY sex",
    ...     "SELECT ward, COUNT(*) FROM v WHERE age > 9 GROUP BY 1 ORDER BY ward",
    ... )
    'SELECT sex, ward, COUNT(*) AS n FROM v WHERE age > 9 GROUP BY 1, 2'
    """
    tables = [_table(sql) for sql in (one, other)]
    first, second = tables
    if first is None or second is None or _rows(first) != _rows(second):
        return None
    known = {key.words for key in first.keys}
    keys = [*first.keys, *(key for key in second.keys if key.words not in known)]
    if not keys:
        return None
    clauses = [
        first.text.sql[part.start : part.end]
        for name in ("FROM", "WHERE")
        if (part := first.text.clauses.get(name)) is not None
    ]
    before = first.text.sql[: first.text.clauses["SELECT"].start]
    items = ", ".join([*(key.item for key in keys), *first.measures])
    places = ", ".join(str(n + 1) for n in range(len(keys)))
    return f"{before}SELECT {items} {' '.join(clauses)} GROUP BY {places}"


def _table(sql: str) -> _Table | None:
    text = _read(sql) if len(sql) <= LONGEST else None
    if text is None or not text.clauses.keys() <= _PLAIN or _is_distinct(text):
        return None
    found = [_item_of(text, key) for key in text.keys]
    shown = [item for item in found if item is not None]
    if len(shown) != len(text.keys):
        return None
    keys = tuple(_Key(_written(text, item), _unnamed(item)) for item in shown)
    rest = [item for item in text.items if item not in shown]
    return _Table(text, keys, tuple(_written(text, item) for item in rest))


def _read(sql: str) -> Outermost | None:
    try:
        return outermost(sql)
    except QueryError:
        return None


def _is_distinct(text: Outermost) -> bool:
    words = text.clauses["SELECT"].words
    return len(words) > 1 and words[1] == "distinct"


def _item_of(text: Outermost, key: Part) -> Part | None:
    """Return the item that a key of GROUP BY means: by its place, words or name."""
    (word, *others) = key.words
    if not others and word.isdigit():
        place = int(word) - 1
        return text.items[place] if 0 <= place < len(text.items) else None
    return next((item for item in text.items if is_of(item, key)), None)


def _written(text: Outermost, item: Part) -> str:
    return text.sql[item.start : item.end]


def _unnamed(item: Part) -> tuple[str, ...]:
    words = item.words
    named = len(words) > 2 and words[-2] == "as"  # noqa: PLR2004 - a word, AS, a name
    return words[:-2] if named else words


def _rows(table: _Table) -> Sequence[object]:
    """Return what is equal for texts that read the same rows by the same words."""
    text = table.text
    where = text.clauses.get("WHERE")
    before = text.sql[: text.clauses["SELECT"].start].split()
    return before, text.clauses["FROM"].words, None if where is None else where.words
