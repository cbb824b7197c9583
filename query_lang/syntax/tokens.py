"""Words, numbers, strings and signs of a query, each with its place.

A lexer of our own, stricter than any engine's: what it does not know is refused
before a parser sees it, and what it returns is what the parse is checked against.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from privacy.errors import QueryError
from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse, syntax_error


class TokenKind(Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "quoted"
    NUMBER = "number"
    STRING = "string"
    SIGN = "sign"


class Token(NamedTuple):
    """One token; ``text`` as written, but a string or quoted name without quotes."""

    kind: TokenKind
    text: str
    start: int  # offset in characters, from 0
    position: Position
    word: str  # the text in capitals if this is a bare word, else empty

    def is_sign(self, text: str) -> bool:
        """Whether this is that sign."""
        return self.kind is TokenKind.SIGN and self.text == text


_SCANNER = re.compile(
    r"""[ \t\r\n]*(?:
     (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<line_comment>--[^\n]*)
    |(?P<comment>/\*)
    |(?P<name>`[^`\n]*`)
    |(?P<bracket>\[)
    |(?P<string>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")*")
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))
    |(?P<text_sign>\|\||!~\*|!~|~\*|~)
    |(?P<operator>//|\*\*|->|=>|<<|>>|<=>|[|^&])
    |(?P<sign>::|<=|>=|<>|!=|==|[=<>(),.;*+/%\]-])
    |(?P<end>\Z)
    |(?P<unknown>.)
    )""",
    re.VERBOSE,
)
_KINDS = {
    "string": TokenKind.STRING,
    "quoted": TokenKind.QUOTED,
    "name": TokenKind.QUOTED,  # as MySQL, BigQuery and SQL Server write it
    "number": TokenKind.NUMBER,
    "word": TokenKind.WORD,
    "sign": TokenKind.SIGN,
    "text_sign": TokenKind.SIGN,
}
_WORD, _SIGN = TokenKind.WORD, TokenKind.SIGN
_BRACKETED = re.compile(r"(?<![A-Za-z0-9_)\]\"`])\[[A-Za-z_][A-Za-z0-9_ ]*\]")
_PLACED = re.compile(r"\[\s*(SAFE_)?(OFFSET|ORDINAL)\s*\(", re.IGNORECASE)
_FIRST_OF_ARRAY = re.compile(r"\[\s*1\s*\]")
_EMPTY = re.compile(r"\[\s*\]")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_WORD_SIGN = re.compile(r"[A-Za-z0-9_.]")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,62}")
_STRING_PREFIXES = frozenset({"E", "X", "B", "N", "R", "U", "F", "BR", "RB"})
_IDLE_PREFIXES = frozenset({"N", "R"})
"""N'text' and r'text' mean what 'text' does: backslashes are characters here."""
_PARAMETER_SIGNS = frozenset("$?@:{}")
_OTHER_SIGNS = {
    "`": "this quote is never closed",
    "[": "a list stands in round brackets: age IN (60, 61), code LIKE ANY ('I2%', "
    "'I50%'); quantiles are asked one by one: PERCENTILE_CONT(0.25) WITHIN GROUP "
    "(ORDER BY age), APPROX_QUANTILES(age, 4)[OFFSET(1)]",
    "!": "write NOT in front of a condition, and <> for unequal",
    "#": "a comment begins a line, or by --; a step has a name: WITH seen AS (SELECT "
    "...)",
}
"""Signs of other dialects, and what to write instead."""


_OPERATORS: Mapping[str, str] = {
    "=>": (
        "arguments are told by their places, and a length of time is INTERVAL '6 "
        "months'"
    ),
    "^": "a power is POWER(height, 2)",
}
_IN_RANGE = "a day of a range is admitted BETWEEN '2024-01-01' AND '2024-06-30'"


def is_identifier(name: str) -> bool:
    """Whether a name may stand in a catalogue: ``[a-z][a-z0-9_]{0,62}``."""
    return _IDENTIFIER.fullmatch(name) is not None


def column_name(quoted: str) -> str:
    """Return the name of a column that a SELECT list calls by any text.

    >>> column_name("Smoking status (%)")
    'smoking_status'
    """
    words = re.findall(r"[a-z0-9]+", quoted.lower())
    return "_".join(words)[:63]


def lex(sql: str) -> tuple[Token, ...]:
    """Cut a text into tokens; comments are dropped, a trailing ``;`` too.

    Raises:
        SqlSyntaxError: The text is empty, or a string or comment never ends.
        SqlNotAllowedError: A character, number or string form outside the subset.
    """
    return _one_statement(_without_arrays(cut(sql)))


def cut(sql: str) -> list[Token]:
    """Cut a text into tokens as they are written, arrays and ``;`` among them.

    Raises:
        SqlSyntaxError: A string or comment never ends.
        SqlNotAllowedError: A character, number or string form outside the subset.
    """
    hidden = _HIDDEN.search(sql)
    if hidden is not None:
        raise refuse(rules.CONTROL_CHARACTER, place(sql, hidden.start()))
    tokens: list[Token] = []
    line, line_start, line_end = 1, 0, _line_end(sql, 0)
    for kind, start, end in _pieces(sql):
        while start > line_end:
            line, line_start = line + 1, line_end + 1
            line_end = _line_end(sql, line_start)
        text, position = sql[start:end], Position(line, start - line_start + 1)
        if kind is _WORD:
            tokens.append(Token(kind, text, start, position, text.upper()))
        elif kind is _SIGN:
            tokens.append(Token(kind, text, start, position, ""))
        elif text.startswith("`") and "." in text:
            tokens += _path(text, start, position)
        else:
            token = Token(kind, _content(kind, text), start, position, "")
            if tokens and _is_idle(tokens[-1], token):
                tokens.pop()
            _refuse_forms(tokens[-1] if tokens else None, token, sql)
            tokens.append(token)
    return tokens


def _without_arrays(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens in which lists of arrays stand in round brackets.

    ``ANY (ARRAY['a', 'b']::text[])`` is ``ANY ('a'::text, 'b'::text)``, and
    ``IN UNNEST(['a'])`` is ``IN ('a')``.

    Raises:
        SqlNotAllowedError: An array stands elsewhere.
    """
    kept: list[Token] = []
    passed = 0
    for at, token in enumerate(tokens):
        if at < passed:
            continue
        if not token.is_sign("[") or not _is_list(tokens, at):
            kept.append(token)
            continue
        found = _array(tokens, at)
        if found is None:
            hint = _list_hint(tokens[max(0, at - _BEFORE_LIST) : at])
            raise refuse(rules.SYMBOL, token.position, hint=hint)
        items, passed = found
        del kept[-1 if kept[-1].word == "ARRAY" else -2]  # ARRAY, or UNNEST
        kept += items
    return kept


def _is_list(tokens: Sequence[Token], at: int) -> bool:
    """Whether a square bracket is no place, as in ``[OFFSET(1)]`` and ``[1]``."""
    before = tokens[max(0, at - 2) : at]
    if before and before[-1].word == "ARRAY":
        return True
    is_empty = at + 1 < len(tokens) and tokens[at + 1].is_sign("]")
    return is_empty or bool(before and before[0].word == "UNNEST")


def _array(tokens: Sequence[Token], at: int) -> tuple[list[Token], int] | None:
    """Return the items of the array from a place on, and where it ends.

    None if it is no list of ANY or IN.
    """
    words = tuple(each.word or each.text for each in tokens[max(0, at - 3) : at])
    end = _end_of_array(tokens, at) if words in _BEFORE_ARRAYS else None
    if end is None:
        return None
    cast, after = _cast_of_array(tokens, end + 1)
    if after == len(tokens) or not tokens[after].is_sign(")"):
        return None
    return _each_cast(tokens[at + 1 : end], cast), after


def _end_of_array(tokens: Sequence[Token], at: int) -> int | None:
    """Return where the array from a place on ends; None if others stand in it."""
    depth = 0
    for end in range(at + 1, len(tokens)):
        token = tokens[end]
        depth += token.is_sign("(") - token.is_sign(")")
        if depth < 0 or token.is_sign("["):
            return None
        if token.is_sign("]"):
            return None if depth else end
    return None


def _cast_of_array(tokens: Sequence[Token], at: int) -> tuple[Sequence[Token], int]:
    """Return ``:: text`` of ``::text[]``, where it stands, and what comes after it."""
    if at < len(tokens) and tokens[at].is_sign("::"):
        for end in (at + 2, at + 3):  # DOUBLE PRECISION is one type
            named = all(token.word for token in tokens[at + 1 : end])
            if named and [each.text for each in tokens[end : end + 2]] == ["[", "]"]:
                return tokens[at:end], end + 2
    return (), at


def _each_cast(items: Sequence[Token], cast: Sequence[Token]) -> list[Token]:
    """Return the items of an array, the cast of the whole behind each of them."""
    if not cast or _changes_nothing(items, cast[-1].word):
        return [*items]
    found: list[Token] = []
    depth = 0
    for token, after in zip(items, (*items[1:], None), strict=True):
        found.append(token)
        depth += token.is_sign("(") - token.is_sign(")")
        ends = after is None or after.is_sign(",")
        if ends and depth == 0 and not token.is_sign(","):
            start, position = token.start, token.position
            found += [c._replace(start=start, position=position) for c in cast]
    return found


def _changes_nothing(items: Sequence[Token], kind: str) -> bool:
    """Whether a cast of numbers gives the same, those below zero among them."""
    numbers = [token.text for token in items if token.kind is TokenKind.NUMBER]
    signs = (token.is_sign(",") or token.is_sign("-") for token in items)
    if sum(signs) + len(numbers) < len(items):
        return False
    return kind in _DECIMAL or (kind in _WHOLE and all(map(str.isdecimal, numbers)))


_WHOLE = frozenset({"INT", "INTEGER", "BIGINT", "INT4", "INT8"})
_DECIMAL = frozenset({"NUMERIC", "DECIMAL"})
_BEFORE_ARRAYS = frozenset(
    {(word, "(", "ARRAY") for word in ("ANY", "SOME", "ALL")} | {("IN", "UNNEST", "(")}
)


def _path(quoted: str, start: int, position: Position) -> Iterator[Token]:
    """Yield the names of `hospital.encounters`, which BigQuery quotes as one."""
    at = 1
    for place_in, name in enumerate(quoted[1:-1].lower().split(".")):
        if place_in:
            where = replace(position, column=position.column + at)
            yield Token(_SIGN, ".", start + at, where, "")
            at += 1
        where = replace(position, column=position.column + at)
        yield Token(TokenKind.QUOTED, name, start + at, where, "")
        at += len(name)


def _list_hint(before: Sequence[Token]) -> str:
    """Return what to write for a list in square brackets."""
    if any(token.word == "WIDTH_BUCKET" for token in before):
        return (
            "limits at equal distances are WIDTH_BUCKET(cost, 0, 1000, 10); others are "
            "CASE WHEN cost < 100 THEN 1 WHEN cost < 1000 THEN 2 ELSE 3 END"
        )
    return _OTHER_SIGNS["["]


_BEFORE_LIST = 12  # tokens in front of a list that are looked at


def is_top(tokens: Sequence[Token], at: int) -> bool:
    """Whether ``TOP 5`` or ``TOP (5)`` stands here, behind SELECT."""
    if tokens[at].word != "TOP" or not at or tokens[at - 1].word not in _BEFORE_TOP:
        return False
    behind = tokens[at + 1 : at + 4]
    if behind and behind[0].is_sign("("):
        kinds = [token.kind for token in behind[1:2]]
        return kinds == [TokenKind.NUMBER] and behind[-1].is_sign(")")
    return bool(behind) and behind[0].kind is TokenKind.NUMBER


def without_tops(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without those of TOP, which the parser does not know."""
    kept: list[Token] = []
    passed = 0
    for at, token in enumerate(tokens):
        if is_top(tokens, at):
            passed = 4 if tokens[at + 1].is_sign("(") else 2
        if passed:
            passed -= 1
        else:
            kept.append(token)
    return kept


_BEFORE_TOP = frozenset({"SELECT", "DISTINCT"})


def has_comment(sql: str) -> bool:
    """Whether a text holds anything but tokens and blanks."""
    last = 0
    for _, start, end in _pieces(sql):
        if sql[last:start].strip():
            return True
        last = end
    return bool(sql[last:].strip())


def _line_end(sql: str, start: int) -> int:
    """Return the offset of the next line break, or of the end of the text."""
    found = sql.find("\n", start)
    return len(sql) if found < 0 else found


def place(sql: str, offset: int) -> Position:
    """Return the line and column of an offset."""
    return Position(sql.count("\n", 0, offset) + 1, offset - sql.rfind("\n", 0, offset))


def _pieces(sql: str) -> Iterator[tuple[TokenKind, int, int]]:
    """Yield kind, start and end of each token; what is no token is passed over."""
    offset, match_at, kind_of = 0, _SCANNER.match, _KINDS.get
    last = before = (0, 0)  # the token before, and that before it
    while match := match_at(sql, offset):
        name, (start, offset) = match.lastgroup or "", match.span(match.lastindex or 0)
        kind = kind_of(name)
        if name == "bracket":
            words = sql[slice(*before)].upper(), sql[slice(*last)].upper()
            kind, offset = _bracket(sql, start, words)
        if kind is not None:
            before, last = last, (start, offset)
            yield kind, start, offset
        elif name == "end":
            return
        elif name == "comment":
            offset = _comment_end(sql, start)
        elif name == "operator":
            hint = _OPERATORS.get(sql[start : start + 2]) or _OPERATORS.get(sql[start])
            raise refuse(rules.OPERATOR, place(sql, start), hint=hint)
        elif name == "unknown":
            offset = _after_unknown(sql, start)


def _bracket(sql: str, start: int, before: tuple[str, str]) -> tuple[TokenKind, int]:
    """Return what ``[`` begins, a name in brackets or a list, and where that ends.

    Raises:
        SqlNotAllowedError: It has no meaning after these two tokens.
    """
    is_sign = (
        before[1] == "ARRAY"
        or before == ("UNNEST", "(")
        or _PLACED.match(sql, start)
        or (before[1] == ")" and _FIRST_OF_ARRAY.match(sql, start))
        or (before[1].isalnum() and _EMPTY.match(sql, start))
    )
    if is_sign:
        return _SIGN, start + 1
    name = _BRACKETED.match(sql, start)
    if name is None:
        raise _unknown_character(sql, start)
    return TokenKind.QUOTED, name.end()


def _after_unknown(sql: str, offset: int) -> int:
    """Return where a comment of MySQL and BigQuery ends; all else is refused."""
    if sql[offset] != "#" or not _begins_line(sql, offset):
        raise _unknown_character(sql, offset)
    return _line_end(sql, offset)


def _begins_line(sql: str, offset: int) -> bool:
    return not sql[sql.rfind("\n", 0, offset) + 1 : offset].strip()


def _comment_end(sql: str, start: int) -> int:
    if sql.startswith("/*+", start):
        raise refuse(rules.OPTIMIZER_HINT, place(sql, start))
    depth = 0
    for edge in _COMMENT_EDGE.finditer(sql, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise syntax_error(place(sql, start), rule=rules.OPEN_COMMENT)


def _content(kind: TokenKind, text: str) -> str:
    if kind is TokenKind.STRING:
        return text[1:-1].replace("''", "'")
    if kind is TokenKind.QUOTED and text.startswith('"'):
        return text[1:-1].replace('""', '"')
    return text[1:-1].lower() if kind is TokenKind.QUOTED else text


_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _unknown_character(sql: str, offset: int) -> QueryError:
    character, position = sql[offset], place(sql, offset)
    if character in "'\"":
        return syntax_error(position, rule=rules.OPEN_QUOTE)
    if not character.isascii():
        return refuse(rules.NON_ASCII, position)
    is_parameter = character in _PARAMETER_SIGNS
    rule = rules.PARAMETER if is_parameter else rules.SYMBOL
    is_range = sql.startswith("@>", offset)
    hint = _IN_RANGE if is_range else _OTHER_SIGNS.get(character)
    return refuse(rule, position, hint=hint)


def _refuse_forms(before: Token | None, token: Token, sql: str) -> None:
    """Refuse literals that engines read in different ways."""
    if token.kind is TokenKind.NUMBER and _WORD_SIGN.match(
        sql, token.start + len(token.text)
    ):
        raise refuse(rules.NUMBER_FORM, token.position)
    if before is None:
        return
    if before.kind is token.kind is TokenKind.STRING:
        raise refuse(rules.STRING_CONCATENATION, token.position)
    touching = before.start + len(before.text) == token.start
    if token.kind is TokenKind.STRING and touching and before.word in _STRING_PREFIXES:
        raise refuse(rules.STRING_FORM, before.position)


def _is_idle(before: Token, token: Token) -> bool:
    """Whether a word is the prefix of a string that changes nothing."""
    touching = before.start + len(before.text) == token.start
    is_string = token.kind is TokenKind.STRING
    return is_string and touching and before.word in _IDLE_PREFIXES


def _one_statement(tokens: list[Token]) -> tuple[Token, ...]:
    ends = next((i for i, t in enumerate(tokens) if t.is_sign(";")), len(tokens))
    statement, rest = tokens[:ends], tokens[ends:]
    if not statement:
        raise syntax_error(Position(1, 1), rule=rules.EMPTY_TEXT)
    extra = next((t for t in rest if not t.is_sign(";")), None)
    if extra is not None:
        raise refuse(rules.ONE_STATEMENT, extra.position)
    return tuple(statement)
