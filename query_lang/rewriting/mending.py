"""A refused text with its fix, where the fix is mechanical and means the same.

What is offered was compiled: a fix that is refused in its turn is none. It depends on
the text, the refusal and the public schema alone, as the refusal does.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Final

from privacy.errors import CuratorError, QueryError
from query_lang.rewriting.fixes.compared_rows import looked_up
from query_lang.rewriting.fixes.days import (
    days_written,
    times_written,
    truths_written,
)
from query_lang.rewriting.fixes.other_words import OTHER_FIXES
from query_lang.rewriting.fixes.own_aliases import written_out
from query_lang.rewriting.fixes.sas import as_sql
from query_lang.rewriting.fixes.token_texts import between, offset_of, tokens_of
from query_lang.rewriting.fixes.unit_keys import UNIT_FIXES, unit_added
from query_lang.syntax.tokens import Token, TokenKind

LONGEST: Final = 4_000
"""Characters of a text that is mended; a longer one keeps its hint alone."""

MOST_TRIED: Final = 4
"""Texts that are compiled to find one."""

MOST_STEPS: Final = 2_000
"""Steps of binding that a refusal and what is tried may take: what would be beyond is
not tried. No example of the reference page takes more than 1,500, for values of keys
that are tried, and most take less than 300; a test holds it."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_BOOLEAN: Final = "of type boolean"
_DAYS: Final = ("of type date", "beside a date")
_TIME: Final = "of type timestamp"
_MEANT = re.compile(r"did you mean ([a-z][a-z0-9_.]*)\?")
_WRITTEN = re.compile(r"write ([a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)$")
_GROUPED = re.compile(r"add (GROUP BY [a-z][a-z0-9_, ]*)$")
_NAMED = re.compile(r"add ([a-z][a-z0-9_]*) to the SELECT list$")
_TEXT = re.compile(r"write '([0-9]+)'")
_SIGNS: Final = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\xa0": " "}
)


def mended(
    sql: str, error: QueryError, compiles: Callable[[str], object]
) -> str | None:
    """Return the text as it may be asked, or None.

    Args:
        sql: That was refused.
        error: Why, and where.
        compiles: Compiles a text over the same schema; raises what refuses it.
    """
    if len(sql) > LONGEST:
        return None
    taken = error.steps
    for text in islice(_tried(sql, error, refused := []), MOST_TRIED):
        if taken + error.steps > MOST_STEPS:  # the next takes what this one took
            return None
        try:
            compiles(text)
        except QueryError as again:
            refused.append((text, again))
            taken += again.steps
        except CuratorError:
            taken += MOST_STEPS
        else:
            return text
    return None


def _tried(
    sql: str, error: QueryError, refused: list[tuple[str, QueryError]]
) -> Iterator[str]:
    """Yield what fixes make of a text; and of that again, where one mends one place.

    Args:
        sql: That was refused.
        error: Why.
        refused: What was yielded and refused in its turn, noted by the caller.
    """
    fix = _FIXES.get(error.rule)
    for text in as_sql(sql):
        yield text
        yield from _again(refused)
    for text in fix(sql, offset_of(sql, error), error) if fix else ():
        if text == sql:
            continue
        yield text
        is_last = not refused or refused[-1][1].rule not in _AGAIN
        if error.rule in _AGAIN and not is_last:
            yield from _again(refused)
        refused.clear()


def _again(refused: list[tuple[str, QueryError]]) -> Iterator[str]:
    """Yield what fixes make of the text that was yielded last, if it was refused."""
    found = refused.pop() if refused else None
    if found is not None:
        yield from _tried(*found, refused)


_AGAIN: Final = frozenset(
    (
        *UNIT_FIXES,
        *("arithmetic", "cast", "construct", "function", "literal_type", "operator"),
        *("star", "text_part", "unknown_column"),
    )
)
"""Rules whose fix mends one place of what may be several."""
_Fix = Callable[[str, int, QueryError], Iterator[str]]


def _at(sql: str, offset: int) -> int | None:
    """Return which token begins at an offset."""
    starts = [token.start for token in tokens_of(sql)]
    return starts.index(offset) if offset in starts else None


def _length(token: Token, sql: str) -> int:
    """Return how many characters of the text a token has, its quotes included."""
    if token.kind is TokenKind.STRING:
        return len(token.text.replace("'", "''")) + 2
    if token.kind is TokenKind.QUOTED:
        return len(token.text.replace('"', '""')) + 2
    return len(sql[token.start : token.start + len(token.text)])


def _replaced(sql: str, first: Token, last: Token, text: str) -> str:
    return sql[: first.start] + text + sql[last.start + _length(last, sql) :]


def _name(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Write the name that was meant; a text in double quotes in single ones."""
    tokens, place = tokens_of(sql), _at(sql, offset)
    if place is None:
        return
    dotted = place + 2 < len(tokens) and tokens[place + 1].is_sign(".")
    last = tokens[place + 2] if dotted else tokens[place]
    if last.kind is TokenKind.QUOTED and "." in last.text:  # BigQuery's whole name
        yield _replaced(sql, last, last, last.text.rpartition(".")[2])
    if last.kind is TokenKind.QUOTED:
        quoted = last.text.replace("'", "''")
        yield _replaced(sql, last, last, f"'{quoted}'")
        if error.rule == "identifier" and last.text.lower() != last.text:
            yield _replaced(sql, last, last, last.text.lower())
    if last.kind is TokenKind.STRING:  # an alias in single quotes
        yield _replaced(sql, last, last, last.text.lower())
    meant = _MEANT.search(error.hint)
    if meant is not None:
        yield _replaced(sql, last, last, meant[1])


def _table(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Put the table in front of a name that could mean two."""
    tokens, place = tokens_of(sql), _at(sql, offset)
    written = _WRITTEN.search(error.hint)
    if place is not None and written is not None:
        yield _replaced(sql, tokens[place], tokens[place], written[1])


def _literal(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Take the quotes off a number, or put them round what is a text.

    Beside a list of texts it is the one that the hint names, if any has that number.
    """
    tokens, place = tokens_of(sql), _at(sql, offset)
    if place is None:
        return
    if _BOOLEAN in error.detail:
        yield from truths_written(sql, tokens, place)
        return
    if any(told in error.detail for told in _DAYS):  # a moment keeps its time
        yield from days_written(sql, tokens, place)
    if _TIME in error.detail:
        yield from times_written(sql, tokens, place)
    token = tokens[place]
    if token.kind is TokenKind.STRING and _NUMBER.fullmatch(token.text):
        yield _replaced(sql, token, token, token.text)
    if token.kind is TokenKind.NUMBER and not error.hint.startswith("declared are "):
        meant = _TEXT.fullmatch(error.hint)
        text = meant[1] if meant else token.text
        yield _replaced(sql, token, token, f"'{text}'")


def _null(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write ``= NULL`` as IS NULL, ``<> NULL`` as IS NOT NULL."""
    tokens, place = tokens_of(sql), _at(sql, offset)
    if not place or tokens[place].word != "NULL":
        return
    words = {"=": "IS NULL", "<>": "IS NOT NULL", "!=": "IS NOT NULL"}
    written = words.get(tokens[place - 1].text)
    if written is not None:
        yield _replaced(sql, tokens[place - 1], tokens[place], written)


def _unqualified(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Leave out the schema in front of a table or of a column's table."""
    tokens, place = tokens_of(sql), _at(sql, offset)
    if place is None:
        return
    for at in range(place + 1, len(tokens) - 1, 2):
        if not (tokens[at].is_sign(".") or tokens[at].is_sign("-")):  # my-project.x.t
            return
        if tokens[at].is_sign("."):
            yield sql[:offset] + sql[tokens[at + 1].start :]


def _grouped(sql: str, _: int, error: QueryError) -> Iterator[str]:
    """Add the GROUP BY that the hint names before what follows it."""
    found = _GROUPED.search(error.hint)
    if found is None:
        return
    after = [t.start for t in tokens_of(sql) if t.word in {"HAVING", "ORDER", "LIMIT"}]
    end = after[0] if after else len(sql.rstrip().rstrip(";"))
    yield f"{sql[:end].rstrip()} {found[1]} {sql[end:]}".rstrip()


def _selected(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Select the key that GROUP BY alone names, or writes.

    First of all, unless that would be another item's place: ORDER BY 1.
    """
    tokens = tokens_of(sql)
    found = _NAMED.search(error.hint)
    key = found[1] if found else _written_key(sql, offset)
    selects = [t for t in tokens if t.word == "SELECT"]
    if key is None or len(selects) != 1:
        return
    counts = any(
        token.kind is TokenKind.NUMBER and (before.word == "BY" or before.is_sign(","))
        for before, token in pairwise(tokens)
    )
    if found is not None and not counts:
        yield _replaced(sql, selects[0], selects[0], f"SELECT {key},")
        return
    end = _place_of(tokens, 0, frozenset(("FROM",)))
    if 0 < end < len(tokens):
        last = tokens[end - 1]
        yield _replaced(sql, last, last, f"{between(sql, tokens, end - 1, end)}, {key}")


def _written_key(sql: str, offset: int) -> str | None:
    """Return a key of GROUP BY that has no name, with one that the text has not."""
    tokens, place = tokens_of(sql), _at(sql, offset)
    if place is None:
        return None
    end = _place_of(tokens, place, _AFTER_KEYS)
    words = {token.text.lower() for token in tokens}
    names = (f"key_{number}" for number in range(1, len(tokens) + 2))
    name = next(name for name in names if name not in words)
    return f"{between(sql, tokens, place, end)} AS {name}"


def _place_of(tokens: Sequence[Token], place: int, words: frozenset[str]) -> int:
    """Return where one of some words or signs stands, in no brackets."""
    depth = 0
    for at in range(place, len(tokens)):
        depth += tokens[at].is_sign("(") - tokens[at].is_sign(")")
        if depth == 0 and (tokens[at].word or tokens[at].text) in words:
            return at
    return len(tokens)


_AFTER_KEYS: Final = frozenset(
    (",", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "FETCH")
)


def _quotes(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write curly quotes as plain ones."""
    yield sql.translate(_SIGNS)


_CLAUSES: Final = ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")


def _after_where(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Move a WHERE on an aggregate behind GROUP BY, as HAVING; else as ``_name``."""
    yield from written_out(sql, offset, error)
    if "write HAVING" not in error.hint:
        yield from _name(sql, offset, error)
        return
    tokens = tokens_of(sql)
    found = {t.word: t for t in tokens if t.word in _CLAUSES}
    is_plain = sum(t.word in {"SELECT", "WHERE", "OR", "AND"} for t in tokens) == 2  # noqa: PLR2004 - one SELECT, one WHERE, one condition
    if not is_plain or "HAVING" in found or "WHERE" not in found:
        return
    end = len(sql.rstrip().rstrip(";"))
    where = found["WHERE"].start
    later = sorted(t.start for t in found.values() if t.start > where)
    after = (t.start for w, t in found.items() if w in {"ORDER", "LIMIT"})
    stop, place = (later or [end])[0], min(after, default=end)
    having = sql[where:stop].strip()[len("WHERE") :]
    before = f"{sql[:where]}{sql[stop:place].strip()}".rstrip()
    yield f"{before} HAVING{having} {sql[place:]}".rstrip()


def _value(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Tie a value in brackets by the unit key, or look it up by IN."""
    yield from unit_added(sql, offset, error)
    yield from looked_up(sql, offset, error)


_FIXES: Mapping[str, _Fix] = {
    **OTHER_FIXES,
    **UNIT_FIXES,
    "ambiguous_name": _table,
    "identifier": _name,
    "key_not_selected": _selected,
    "literal_type": _literal,
    "non_ascii": _quotes,
    "not_grouped": _grouped,
    "null_literal": _null,
    "qualified_table": _unqualified,
    "scalar_subquery": _value,
    "unknown_column": _after_where,
    "unknown_table": _name,
}
