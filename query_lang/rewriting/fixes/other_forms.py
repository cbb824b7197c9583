"""Lists, numbers, lengths of time and ranges as PostgreSQL writes them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from privacy.errors import CuratorError, QueryError
from query_lang.rewriting.fixes.token_texts import (
    Edit,
    between,
    closing_of,
    edited,
    ends_of,
    marks_of,
    offset_of,
    tokens_of,
    with_text,
)
from query_lang.syntax.tokens import Token, TokenKind, cut, lex

# -- what the lexer refuses, one by one ------------------------------------------

_MOST_CHANGES: Final = 20
_Change = Callable[[str, int], str | None]


def _each(sql: str, offset: int, change: _Change) -> Iterator[str]:
    """Change a text where it is refused, and again where what comes of it is."""
    for _step in range(_MOST_CHANGES):
        changed = change(sql, offset)
        if changed is None:
            return
        sql = changed
        try:
            lex(sql)
        except QueryError as error:
            offset = offset_of(sql, error)
        else:
            yield sql
            return


def operators(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write ``&&`` as AND, ``x ^ 2`` as POWER, make_interval as an interval."""
    yield from _each(sql, offset, _operator)


def _operator(sql: str, offset: int) -> str | None:
    if sql[offset : offset + 2] == "&&":
        return f"{sql[:offset].rstrip()} AND {sql[offset + 2 :].lstrip()}"
    if sql[offset : offset + 1] == "^":
        return _power(sql, offset)
    before = _NAMED_LENGTH.search(sql, max(0, offset - _LONGEST_NAME), offset)
    behind = _ITS_NUMBER.match(sql, offset)
    if before is None or behind is None:
        return None
    unit = _UNITS.get(before[1].lower(), before[1].lower())
    return f"{sql[: before.start()]}INTERVAL '{behind[1]} {unit}'{sql[behind.end() :]}"


def _power(sql: str, offset: int) -> str | None:
    """Write ``x ^ 2`` as POWER(x, 2): of PostgreSQL's signs it binds most but casts.

    A minus in front belongs to the operand there. Nothing may be divided: it is a float
    there, and POWER of whole numbers is one.
    """
    exponent = _EXPONENT_BEHIND.match(sql, offset)
    if "/" in sql:
        return None
    try:
        tokens = cut(sql[:offset])
    except CuratorError:
        return None
    first = _operand_before(tokens)
    if exponent is None or first is None:
        return None
    start = tokens[first].start
    x = sql[start:offset].rstrip()
    return f"{sql[:start]}POWER({x}, {exponent[1]}){sql[exponent.end() :]}"


def _operand_before(tokens: Sequence[Token]) -> int | None:
    """Return where a name, a number, a call or brackets begin that end here."""
    first = len(tokens) - 1
    if first < 0:
        return None
    if tokens[first].is_sign(")"):
        first = {end: at for at, end in closing_of(tokens).items()}.get(first, -1)
        if first > 0 and tokens[first - 1].word not in {"", *_BEFORE_BRACKETS}:
            first -= 1
    elif not tokens[first].word and tokens[first].kind is not TokenKind.NUMBER:
        return None
    while first > 1 and tokens[first - 1].is_sign("."):
        first -= 2
    before = marks_of(tokens, max(0, first - 1), 1)[0]
    is_sign = before in {"-", "+"} and first > 0
    binds = before == "::" or (is_sign and not _ends_operand(tokens[: first - 1]))
    return None if first < 0 or binds else first


def _ends_operand(tokens: Sequence[Token]) -> bool:
    if not tokens or tokens[-1].word in _BEFORE_BRACKETS:
        return False
    return tokens[-1].kind is not TokenKind.SIGN or tokens[-1].is_sign(")")


_BEFORE_BRACKETS: Final = frozenset(
    (
        *("AND", "BETWEEN", "BY", "CASE", "DISTINCT", "ELSE", "HAVING", "LIKE", "NOT"),
        *("ON", "OR", "SELECT", "THEN", "WHEN", "WHERE"),
    )
)
_EXPONENT_BEHIND: Final = re.compile(r"\^\s*([1-9][0-9]?)(?![\w.]|\s*::)")
_LONGEST_NAME: Final = 40  # characters of make_interval(months
_NAMED_LENGTH: Final = re.compile(
    r"\bmake_interval\s*\(\s*(years|months|weeks|days|hours|mins|secs)\s*\Z",
    re.IGNORECASE,
)
_ITS_NUMBER: Final = re.compile(r"=>\s*([0-9]{1,9})\s*\)")
_UNITS: Mapping[str, str] = {"mins": "minutes", "secs": "seconds"}


def plain_numbers(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write ``1e5`` as the decimal that it is: 100000.0 divides without a cut."""
    yield from _each(sql, offset, _plain_number)


def _plain_number(sql: str, offset: int) -> str | None:
    found = _EXPONENT.match(sql, offset)
    if found is None or int(found[3]) > _MOST_ZEROS:
        return None
    whole, _, digits = found[1].partition(".")
    by = int(f"{found[2]}{found[3]}")
    all_digits = whole + digits
    point = len(whole) + by
    if point <= 0:
        all_digits, point = "0" * (1 - point) + all_digits, 1
    all_digits = all_digits.ljust(point, "0")
    written = f"{all_digits[:point].lstrip('0') or '0'}.{all_digits[point:] or '0'}"
    return sql[:offset] + written + sql[found.end() :]


_EXPONENT: Final = re.compile(
    r"([0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})e([+-]?)([0-9]{1,2})(?![0-9A-Za-z_.])",
    re.IGNORECASE,
)
_MOST_ZEROS: Final = 18


def ranges(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write ``daterange('2024-01-01', '2024-07-01') @> d`` as comparisons."""
    yield from _each(sql, offset, _range)


def _range(sql: str, offset: int) -> str | None:
    if sql[offset : offset + 2] != "@>":
        return None
    begin = max(0, offset - _LONGEST_RANGE)
    range_, value = _RANGE.search(sql, begin, offset), _VALUE.match(sql, offset + 2)
    if range_ is None or value is None:
        return None
    low, high, ends = range_[1], range_[2], range_[3] or "[)"
    d = value[1]
    lower, upper = (">=" if ends[0] == "[" else ">"), ("<=" if ends[1] == "]" else "<")
    written = f"({d} {lower} {low} AND {d} {upper} {high})"
    if ends == "[]":
        written = f"({d} BETWEEN {low} AND {high})"
    return sql[: range_.start()] + written + sql[value.end() :]


_DAY: Final = r"((?:DATE\s*)?'[0-9]{4}-[0-9]{2}-[0-9]{2}'(?:::date)?)"
_RANGE: Final = re.compile(
    rf"\bdaterange\s*\(\s*{_DAY}\s*,\s*{_DAY}\s*(?:,\s*'([\[(][\])])'\s*)?\)\s*\Z",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"\s*([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?)(?![\w.:(]|\s*[-+*/|(])",
    re.IGNORECASE,
)
_LONGEST_RANGE: Final = 120

# -- lengths of time -------------------------------------------------------------


def whole_lengths(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``INTERVAL '1.5 days'`` as 36 hours: a smaller unit in which it is whole.

    A month has no number of days, and a day has 24 hours where there are no zones.
    """
    tokens = tokens_of(sql)
    edits: list[Edit] = []
    for at in range(1, len(tokens)):
        text = tokens[at].text
        is_length = tokens[at - 1].word == "INTERVAL" and "." in text
        if not is_length or tokens[at].kind is not TokenKind.STRING:
            continue
        unit = marks_of(tokens, at + 1, 1)
        if unit and unit[0].lower().removesuffix("s") in _SMALLER:
            return
        whole = _whole_length(text)
        if whole is None:
            return
        edits.append((at, at + 1, f"'{whole}'"))
    if edits:
        yield edited(sql, tokens, edits)


def _whole_length(text: str) -> str | None:
    """Return a length whose numbers are whole; None where there is none."""
    if not _LENGTHS.fullmatch(text.lower()):
        return None
    found = []
    for number, unit in _PART.findall(text.lower()):
        much, name = Decimal(number), unit
        while much != int(much):
            if name not in _SMALLER:
                return None
            times, name = _SMALLER[name]
            much *= times
        found.append(f"{int(much)} {name}{'' if abs(much) == 1 else 's'}")
    return " ".join(found)


_PART: Final = re.compile(
    r"([-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(year|month|week|day|hour|minute|second)s?"
)
_LENGTHS: Final = re.compile(rf"\s*(?:{_PART.pattern}\s*)+")
_SMALLER: Mapping[str, tuple[int, str]] = {
    "year": (12, "month"),
    "week": (7, "day"),
    "day": (24, "hour"),
    "hour": (60, "minute"),
    "minute": (60, "second"),
}

# -- lists -----------------------------------------------------------------------


def lists(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``= ANY ('{a,b}'::text[])`` as IN; without a cast as texts or numbers."""
    try:
        tokens = cut(sql)
    except CuratorError:
        return
    found = list(_lists(tokens))
    for otherwise in _QUOTES:
        edits: list[Edit] = []
        for at, after, quote, items in found:
            word = _QUANTIFIED[tuple(marks_of(tokens, at, 3))]
            mark = otherwise if quote is None else quote
            listed = ", ".join(f"{mark}{item}{mark}" for item in items)
            edits.append((at, after, f"{word} ({listed})"))
        if edits:
            yield edited(sql, tokens, edits)


_QUOTES: Final = ("'", "")


def _lists(
    tokens: Sequence[Token],
) -> Iterator[tuple[int, int, str | None, Sequence[str]]]:
    """Yield where each list stands, the quotes that its cast asks for, its items."""
    for at in range(len(tokens) - 4):
        text = tokens[at + 3].text
        is_list = (
            tokens[at + 3].kind is TokenKind.STRING and text[:1] + text[-1:] == "{}"
        )
        if not is_list or tuple(marks_of(tokens, at, 3)) not in _QUANTIFIED:
            continue
        cast = marks_of(tokens, at + 4, 4)
        is_cast = cast[:1] == ["::"] and cast[2:] == ["[", "]"]
        if is_cast and cast[1] in _CUT:
            continue
        quote = _QUOTES_OF.get(cast[1], "'") if is_cast else None
        after = at + 8 if is_cast else at + 4
        items = [item.strip() for item in text[1:-1].split(",")]
        pattern = _INTEGER if quote == "" else _ITEM
        plain = all(pattern.fullmatch(i) and i.upper() != "NULL" for i in items)
        if plain and marks_of(tokens, after, 1) == [")"]:
            yield at, after + 1, quote, items


_CUT: Final = frozenset(("CHAR", "CHARACTER", "BPCHAR"))
"""Types that cut texts, or fill them up: the first two to one character."""
_QUOTES_OF: Mapping[str, str] = dict.fromkeys(
    ("INT", "INTEGER", "BIGINT", "SMALLINT", "INT2", "INT4", "INT8"), ""
)
_ITEM: Final = re.compile(r"[A-Za-z0-9_.:/-](?:[A-Za-z0-9_.:/ -]*[A-Za-z0-9_.:/-])?")
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
_QUANTIFIED: Mapping[tuple[str, ...], str] = {
    **{("=", word, "("): "IN" for word in ("ANY", "SOME")},
    **{(sign, "ALL", "("): "NOT IN" for sign in ("<>", "!=")},
}

# -- conditions ------------------------------------------------------------------


def null_tests(sql: str, offset: int, _: QueryError) -> Iterator[str]:
    """Write ``x ISNULL`` and ``x NOTNULL`` as IS NULL and IS NOT NULL."""
    tokens = tokens_of(sql)
    edits = [
        (at, at + 1, _TESTS[token.word])
        for at, token in enumerate(tokens)
        if token.word in _TESTS and marks_of(tokens, at + 1, 1) != ["("]
    ]
    if any(tokens[at].start == offset for at, _after, _words in edits):
        yield edited(sql, tokens, edits)


_TESTS: Mapping[str, str] = {"ISNULL": "IS NULL", "NOTNULL": "IS NOT NULL"}


def short_ages(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``age(b, a) < interval '7 days'`` as ``b - a < interval '7 days'``.

    Both are the same days below 28, the shortest month; then an age has months.
    """
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at in range(1, len(tokens) - 2):
        end = closing.get(at + 1)
        if tokens[at].word != "AGE" or end is None:
            continue
        if marks_of(tokens, at - 1, 1)[0] not in _BEFORE_CONDITIONS:
            continue
        marks = marks_of(tokens, end + 1, 3)
        commas = list(ends_of(tokens, at + 1))
        is_two = len(commas) == 2 and _is_plain(tokens[at + 2 : end])  # noqa: PLR2004
        if not is_two or marks[:1] not in _ORDERS or marks[1:2] != ["INTERVAL"]:
            continue
        length = _LENGTH.fullmatch(marks[2].lower()) if marks[2:] else None
        if length is None or int(length[1]) * _DAYS[length[2]] >= _SHORTEST_MONTH:
            continue
        later = between(sql, tokens, at + 2, commas[0])
        earlier = between(sql, tokens, commas[0] + 1, end)
        edits.append((at, end + 1, f"{later} - {earlier}"))
    if edits:
        yield edited(sql, tokens, edits)


def _is_plain(tokens: Sequence[Token]) -> bool:
    """Whether all that stands here are columns and days, with a comma."""
    signs = {token.text for token in tokens if token.kind is TokenKind.SIGN}
    return signs <= {",", ".", "::"}


_BEFORE_CONDITIONS: Final = frozenset(
    ("WHERE", "AND", "OR", "NOT", "(", "ON", "WHEN", "HAVING", "SELECT", ",")
)
_ORDERS: Final = (["<"], ["<="], [">"], [">="])
_LENGTH: Final = re.compile(r"\s*([0-9]{1,2})\s*(day|week)s?\s*")
_DAYS: Mapping[str, int] = {"day": 1, "week": 7}
_SHORTEST_MONTH: Final = 28


def seconds_between(sql: str, offset: int, error: QueryError) -> Iterator[str]:
    """Write a length beside a column of seconds as the number that the hint has."""
    seconds = _SECONDS.search(error.hint)
    tokens = tokens_of(sql)
    for at in range(1, len(tokens) - 1):
        if tokens[at].word != "INTERVAL" or tokens[at].start < offset:
            continue
        is_whole = marks_of(tokens, at + 2, 1) in _BEHIND_CONDITIONS
        if seconds is not None and is_whole and marks_of(tokens, at - 1, 1) in _ORDERS:
            yield with_text(sql, tokens, at, at + 2, seconds[1])
        return


_SECONDS: Final = re.compile(r"in seconds: compare it with ([0-9]+)$")
_BEHIND_CONDITIONS: Sequence[Sequence[str]] = (
    *([], [")"], ["AND"], ["OR"], ["THEN"]),
    *(["GROUP"], ["ORDER"], ["HAVING"], ["LIMIT"]),
)


def logarithms(sql: str, _: int, __: QueryError) -> Iterator[str]:
    """Write ``LOG10(x)`` and ``LOG2(x)`` of results by natural logarithms."""
    tokens = tokens_of(sql)
    closing = closing_of(tokens)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        base, end = _BASES.get(token.word), closing.get(at + 1)
        if base is None or end is None or end == at + 2:
            continue
        if edits and at < edits[-1][1]:
            return
        x = between(sql, tokens, at + 2, end)
        edits.append((at, end + 1, f"(LN({x}) / LN({base}))"))
    if edits:
        yield edited(sql, tokens, edits)


_BASES: Mapping[str, str] = {"LOG10": "10", "LOG2": "2"}
