"""SAS's words in PROC SQL, which registers' analysts know, written as SQL has them.

A comparison by a word is the same as one by its sign. What SAS counts of missing
values otherwise, as the smallest of all, no sign has here: the hint of the words says
so.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from privacy.errors import QueryError
from query_lang.rewriting.fixes.own_aliases import expression_of
from query_lang.rewriting.fixes.token_texts import (
    Edit,
    arguments_of,
    between,
    edited,
    ends_of,
    marks_of,
    offset_of,
    tokens_of,
)
from query_lang.syntax.tokens import Token, TokenKind, lex

_MARKS: Final = re.compile(
    r"[0-9]'dt?\b|=\s*:\s*'|\b(eq|ne|lt|le|gt|ge|missing|contains|calculated|intck"
    r"|yrdif|nmiss|n\s*\(|(format|label)\s*=)",
    re.IGNORECASE,
)
_MOST_STEPS: Final = 40
_Change = Callable[[str, Sequence[Token]], Sequence[Edit]]


def as_sql(sql: str) -> Iterator[str]:
    """Write a text of SAS in the words of SQL, all that it has of them."""
    if _MARKS.search(sql) is None:
        return
    text = _with_likes(sql)
    for change in _CHANGES:
        text = _repeated(text, change)
    if text != sql:
        yield _repeated(text, _renamed)


def _repeated(sql: str, change: _Change) -> str:
    """Return a text that is changed until nothing changes; of nested calls one by one.

    Edits that stand in what another edit replaces wait for the next time.
    """
    for _step in range(_MOST_STEPS):
        tokens = tokens_of(sql)
        kept: list[Edit] = []
        for edit in sorted(change(sql, tokens)):
            if not kept or edit[0] >= kept[-1][1]:
                kept.append(edit)
        if not kept:
            return sql
        sql = edited(sql, tokens, kept)
    return sql


# -- signs and words ---------------------------------------------------------------


def _with_likes(sql: str) -> str:
    """Write ``code =: 'F3'``, which no lexer of SQL reads, as LIKE 'F3%'."""
    for _step in range(_MOST_STEPS):
        try:
            lex(sql)
        except QueryError as error:
            offset = offset_of(sql, error)
        else:
            return sql
        before, found = sql[:offset].rstrip(), _BEGINS.match(sql, offset)
        if found is None or not before.endswith("="):
            return sql
        sql = f"{before[:-1].rstrip()} LIKE '{found[1]}%'{sql[found.end() :]}"
    return sql


_BEGINS: Final = re.compile(r":\s*'([A-Za-z0-9. -]+)'")
_RESERVED: Final = frozenset(
    (
        *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"),
        *("BY", "JOIN", "RIGHT", "INNER", "FULL", "CROSS", "ON", "USING", "UNION"),
        *("AND", "OR", "NOT", "AS", "THEN", "ELSE", "WHEN", "BETWEEN", "IN", "IS"),
        *("LIKE", "LEFT", "CASE", "NATURAL", "OUTER", "WITH", "DESC", "ASC"),
    )
)
_SIGNS: Mapping[str, str] = {
    "EQ": "=",
    "NE": "<>",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
}


def _ends_operand(tokens: Sequence[Token], at: int) -> bool:
    """Whether what stands at a place ends something that is compared."""
    if at < 0:
        return False
    token = tokens[at]
    return token.is_sign(")") or (
        token.kind is not TokenKind.SIGN and token.word not in _RESERVED
    )


def _begins_operand(tokens: Sequence[Token], at: int) -> bool:
    """Whether what stands at a place begins something that is compared."""
    if at >= len(tokens):
        return False
    token = tokens[at]
    if token.word in {"LEFT", "RIGHT"}:
        return marks_of(tokens, at + 1, 1) == ["("]
    if token.kind is TokenKind.SIGN:
        return token.text in {"(", "-", "."}
    return token.word == "CASE" or token.word not in _RESERVED


def _compared(_: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Write ``age lt 7`` as ``age < 7``."""
    return [
        (at, at + 1, _SIGNS[token.word])
        for at, token in enumerate(tokens)
        if token.word in _SIGNS
        and _ends_operand(tokens, at - 1)
        and _begins_operand(tokens, at + 1)
    ]


def _null_tests(_: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Write ``age ne .`` and ``age is not missing`` as IS NOT NULL."""
    edits: list[Edit] = []
    for at, (sign, dot) in enumerate(pairwise(tokens)):
        test = _TESTS.get(sign.text) if sign.kind is TokenKind.SIGN else None
        if test is not None and dot.is_sign(".") and _is_alone(tokens, at + 1):
            edits.append((at, at + 2, test))
    for at, token in enumerate(tokens):
        negated = marks_of(tokens, max(0, at - 2), 2) == ["IS", "NOT"]
        plain = marks_of(tokens, max(0, at - 1), 1) == ["IS"]
        if token.word == "MISSING" and (negated or plain):
            edits.append((at, at + 1, "NULL"))
    return edits


_TESTS: Mapping[str, str] = {
    "=": "IS NULL",
    "<>": "IS NOT NULL",
    "!=": "IS NOT NULL",
    ">": "IS NOT NULL",  # of all values the missing one is the smallest
}


def _is_alone(tokens: Sequence[Token], at: int) -> bool:
    """Whether a dot is SAS's missing value, and no column's."""
    behind = tokens[at + 1] if at + 1 < len(tokens) else None
    return behind is None or behind.start > tokens[at].start + 1 or behind.text == ")"


def _contained(sql: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Write ``code contains '.1'`` as LIKE '%.1%'."""
    edits: list[Edit] = []
    for at, (token, text) in enumerate(pairwise(tokens)):
        if token.word != "CONTAINS" or text.kind is not TokenKind.STRING:
            continue
        is_negated = marks_of(tokens, at - 1, 1) == ["NOT"] if at else False
        if _ends_operand(tokens, at - 1 - is_negated) and _PLAIN.fullmatch(text.text):
            written = between(sql, tokens, at + 1, at + 2)
            edits.append((at, at + 2, f"LIKE '%{written[1:-1]}%'"))
    return edits


_PLAIN: Final = re.compile(r"[^%_\\]+")  # no sign of a pattern


# -- days and formats --------------------------------------------------------------


def _days(_: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Write ``'01JAN2020'd`` as DATE '2020-01-01', and of ``dt`` a TIMESTAMP."""
    edits: list[Edit] = []
    for at, (text, letter) in enumerate(pairwise(tokens)):
        if text.kind is not TokenKind.STRING or letter.word not in {"D", "DT"}:
            continue
        found = _DAY.fullmatch(text.text)
        touches = letter.start == text.start + len(text.text) + 2
        month = _MONTHS.get(found[2].upper()) if found else None
        if found is None or month is None or not touches:
            continue
        day = f"{found[3]}-{month}-{int(found[1]):02}"
        if letter.word == "D" and found[4] is None:
            edits.append((at, at + 2, f"DATE '{day}'"))
        if letter.word == "DT" and found[4] is not None:
            edits.append((at, at + 2, f"TIMESTAMP '{day} {found[4]}'"))
    return edits


_DAY: Final = re.compile(
    r"([0-9]{1,2})([A-Za-z]{3})([0-9]{4})(?::([0-9]{2}:[0-9]{2}:[0-9]{2}))?"
)
_NAMES_OF_MONTHS: Final = (
    *("JAN", "FEB", "MAR", "APR", "MAY", "JUN"),
    *("JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
)
_MONTHS: Final[Mapping[str, str]] = {
    name: f"{number:02}" for number, name in enumerate(_NAMES_OF_MONTHS, start=1)
}


def _unformatted(_: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Leave out ``format=percent8.1`` and ``label='Share'`` behind a column's name."""
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        is_set = token.word in {"FORMAT", "LABEL"} and _ends_operand(tokens, at - 1)
        if not is_set or marks_of(tokens, at + 1, 1) != ["="]:
            continue
        after = _end_of_value(tokens, at + 2)
        if marks_of(tokens, after, 1) in _AFTER_VALUES:
            edits.append((at - 1, after, _written(tokens[at - 1])))
    return edits


_AFTER_VALUES: Sequence[Sequence[str]] = (["FROM"], [","], ["FORMAT"], ["LABEL"])


def _written(token: Token) -> str:
    return f'"{token.text}"' if token.kind is TokenKind.QUOTED else token.text


def _end_of_value(tokens: Sequence[Token], at: int) -> int:
    """Return where a format's name ends: tokens with no blank between them."""
    while at + 1 < len(tokens):
        token, behind = tokens[at], tokens[at + 1]
        if token.kind is TokenKind.STRING:
            return at + 1
        if behind.is_sign(",") or behind.start > token.start + len(token.text):
            return at + 1
        at += 1
    return len(tokens)


# -- calls -------------------------------------------------------------------------


def _called(sql: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Write SAS's functions as what they are; those inside others later."""
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        change = _CALLS.get(token.word)
        if change is None or marks_of(tokens, at + 1, 1) != ["("]:
            continue
        ends = list(ends_of(tokens, at + 1))
        if not ends or not tokens[ends[-1]].is_sign(")") or ends[0] == at + 2:
            continue
        written = change(arguments_of(sql, tokens, at))
        if written is not None:
            edits.append((at, ends[-1] + 1, written))
    return edits


def _missing(arguments: Sequence[str]) -> str | None:
    return f"({arguments[0]} IS NULL)" if len(arguments) == 1 else None


def _present(arguments: Sequence[str]) -> str | None:
    return f"COUNT({arguments[0]})" if len(arguments) == 1 else None


def _absent(arguments: Sequence[str]) -> str | None:
    if len(arguments) != 1:
        return None
    return f"COUNT(*) FILTER (WHERE {arguments[0]} IS NULL)"


def _boundaries(arguments: Sequence[str]) -> str | None:
    """Count the starts of days, months and years between two days, as INTCK does."""
    if len(arguments) != 3:  # noqa: PLR2004 - a unit and two days
        return None
    unit = _UNITS.get(arguments[0].strip("'").lower())
    return unit and f"DATEDIFF({unit}, {arguments[1]}, {arguments[2]})"


_UNITS: Mapping[str, str] = {
    "day": "day",
    "month": "month",
    "qtr": "quarter",
    "quarter": "quarter",
    "year": "year",
}
_CALLS: Mapping[str, Callable[[Sequence[str]], str | None]] = {
    "MISSING": _missing,
    "N": _present,
    "NMISS": _absent,
    "INTCK": _boundaries,
}


def _aged(sql: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Write ``yrdif(born, day, 'AGE') >= 80`` as ``born + INTERVAL '80 years' <= day``.

    Both take who is born on 29 February to be a year older on 28 February of a year
    that is no leap year.
    """
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        ends = list(ends_of(tokens, at + 1)) if token.word == "YRDIF" else []
        if len(ends) != 3 or marks_of(tokens, at + 1, 1) != ["("]:  # noqa: PLR2004 - two days and a basis
            continue
        if marks_of(tokens, ends[1] + 1, 2) not in (["AGE", ")"], ["age", ")"]):
            continue
        whole = marks_of(tokens, max(0, at - 2), 2) in (["FLOOR", "("], ["INT", "("])
        first, after = (at - 2, ends[2] + 2) if whole else (at, ends[2] + 1)
        limit = marks_of(tokens, after, 3)
        is_number = len(limit) > 1 and limit[1].isdecimal()
        if not is_number or limit[2:] not in _BEHIND_NUMBERS:
            continue
        if marks_of(tokens, first - 1, 1) not in _BEFORE_CONDITIONS:
            continue
        sign, years = _OF_AGES.get((limit[0], whole), ("", 0))
        if sign:
            born = between(sql, tokens, at + 2, ends[0])
            day = between(sql, tokens, ends[0] + 1, ends[1])
            length = f"INTERVAL '{int(limit[1]) + years} years'"
            edits.append((first, after + 2, f"{born} + {length} {sign} {day}"))
    return edits


_OF_AGES: Mapping[tuple[str, bool], tuple[str, int]] = {
    **{(">=", whole): ("<=", 0) for whole in (True, False)},
    **{("<", whole): (">", 0) for whole in (True, False)},
    (">", False): ("<", 0),
    ("<=", False): (">=", 0),
    (">", True): ("<=", 1),
    ("<=", True): (">", 1),
}
"""The other sign, and years more, of a comparison; of whole years or not."""
_BEHIND_NUMBERS: Sequence[Sequence[str]] = (
    *([], [")"], ["AND"], ["OR"], ["THEN"], ["GROUP"], ["ORDER"], ["HAVING"]),
)
_BEFORE_CONDITIONS: Sequence[Sequence[str]] = (
    *(["WHERE"], ["AND"], ["OR"], ["NOT"], ["ON"], ["WHEN"], ["("]),
)


def _calculated(sql: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Write ``calculated n`` as the expression that the SELECT list calls n."""
    for at, (token, name) in enumerate(pairwise(tokens)):
        if token.word == "CALCULATED" and name.word:
            found = expression_of(sql, tokens, at, name.text)
            if found is not None:
                return [(at, at + 2, found)]
    return ()


def _renamed(_: str, tokens: Sequence[Token]) -> Sequence[Edit]:
    """Name STD and INT as SQL does; by themselves they are of more dialects."""
    return [
        (at, at + 1, _NAMES[token.word])
        for at, token in enumerate(tokens)
        if token.word in _NAMES and marks_of(tokens, at + 1, 1) == ["("]
    ]


_NAMES: Mapping[str, str] = {"STD": "STDDEV", "INT": "TRUNC"}
_CHANGES: Sequence[_Change] = (
    *(_days, _unformatted, _compared, _null_tests, _contained),
    *(_aged, _called, _calculated),
)
