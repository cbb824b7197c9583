"""Words and signs of other dialects, and what to write instead of each."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from privacy.errors import QueryError
from query_lang.syntax.nodes import Position
from query_lang.syntax.rules import RULES
from query_lang.syntax.tokens import Token, TokenKind

_NEAR: Final = 8  # tokens from where a text is refused to words that say why
_OUT = "leave it out: rows are read, never changed or locked"
_NO_WRITING = (
    "nothing is written by a query, and a step has a name: WITH old AS (SELECT ... "
    "FROM encounters WHERE age >= 60) SELECT COUNT(*) FROM old"
)
_TABLES = (
    "tables and columns stand on the dataset's page; a query counts: SELECT COUNT(*) "
    "FROM encounters"
)
_SETTING = "leave it out: a query needs no setting, and values are written into it"
_PIVOT = (
    "write a column for each value: COUNT(*) FILTER (WHERE ward = 'icu') AS icu, "
    "COUNT(*) FILTER (WHERE ward = 'er') AS er"
)
_ORDER = "clauses have an order: SELECT, FROM, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT"
UNDER_EACH_OTHER = (
    "put the columns under each other: FROM (SELECT patient_id, 'age' AS k, age AS v "
    "FROM a UNION ALL SELECT patient_id, 'year', year FROM a) AS u"
)
TIES = "LIMIT 10 alone: noise makes ties rare, and what is left out is seen without it"
_FIRST_WORDS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "TRUNCATE", "DROP"),
            *("CREATE", "ALTER", "COPY", "EXPORT", "GRANT", "LOAD"),
        ),
        _NO_WRITING,
    ),
    **dict.fromkeys(("SHOW", "DESCRIBE", "DESC", "PRAGMA", "SUMMARIZE"), _TABLES),
    **dict.fromkeys(("SET", "USE", "BEGIN", "COMMIT"), _SETTING),
    **dict.fromkeys(
        ("EXEC", "EXECUTE", "CALL", "DO", "IF"),
        "nothing is run by name or by condition: send the SELECT itself",
    ),
    "EXPLAIN": "leave EXPLAIN out: planning a query says what it means and its price",
    "FROM": "SELECT stands before FROM: SELECT COUNT(*) FROM encounters",
    "TABLE": _TABLES,
    "PIVOT": _PIVOT,
    "VALUES": "rows in the text stand in FROM, beside a declared table: JOIN (VALUES "
    "(2023), (2024)) AS t(y) ON e.year = t.y",
}
"""Of a text that begins with no SELECT."""

_SIGNS = (
    "comparisons are signs: sex <> 'F', age >= 60; what is missing is age IS NULL, "
    "which no sign takes for the smallest value, as SAS does: add OR age IS NULL"
)
_HINTS: tuple[tuple[str, str], ...] = (
    ("WITH ( NOLOCK )", "leave WITH (NOLOCK) out"),
    ("( + )", "write LEFT JOIN labs AS l ON l.patient_id = p.patient_id"),
    ("FOR UPDATE", _OUT),
    ("FOR SHARE", _OUT),
    ("LOCK IN", _OUT),
    ("FOR JSON", "leave FOR out: an answer is JSON, CSV or a table as the client asks"),
    ("FOR XML", "leave FOR out: an answer is JSON, CSV or a table as the client asks"),
    ("SYSTEM_TIME", "leave it out: a dataset is one snapshot of a declared day"),
    ("AT ( OFFSET", "leave it out: a dataset is one snapshot of a declared day"),
    ("OPTION (", "leave OPTION out: nothing is tuned in the text"),
    ("USE INDEX", "leave USE INDEX out: nothing is tuned in the text"),
    ("STRAIGHT_JOIN", "write JOIN patients USING (patient_id)"),
    ("SQL_CALC_FOUND_ROWS", "leave it out"),
    ("HIGH_PRIORITY", "leave it out"),
    ("PROCEDURE", "leave PROCEDURE out"),
    ("INTO", _NO_WRITING),
    ("PIVOT", _PIVOT),
    ("UNPIVOT", UNDER_EACH_OTHER),
    ("CONNECT BY", "levels of codes are columns or level(code, 'name'): no recursion"),
    ("START WITH", "levels of codes are columns or level(code, 'name'): no recursion"),
    ("KEEP (", "in a derived table: LAST(age ORDER BY admitted)"),
    ("WITH TIES", TIES),
    ("XOR", "write (age >= 60) <> (year = 2024)"),
    ("DIV", "write DIV(age, 10)"),
    ("MOD", "write MOD(age, 2)"),
    ("BINARY", "leave BINARY out: texts are compared letter by letter as it is"),
    ("OVERLAY", "write REPLACE(code, '.', '')"),
    ("AS STRUCT", "leave AS STRUCT out"),
    ("FORMAT (", "write TO_CHAR(admitted, 'YYYY-MM')"),
    ("STRING FORMAT", "write TO_CHAR(admitted, 'YYYY-MM')"),
    ("FORMAT =", "leave the format out, or ROUND(100.0 * COUNT(age) / COUNT(*), 1)"),
    ("LABEL =", "leave the label out: the name behind AS is the column's"),
    (
        "CALCULATED",
        (
            "write the expression again, or name it in a table below: SELECT n * 2 "
            "FROM (SELECT COUNT(*) AS n FROM encounters) AS t"
        ),
    ),
    ("CONTAINS", "write code LIKE '%11.%'"),
    *((word, _SIGNS) for word in ("EQ", "NE", "LT", "LE", "GT", "GE", "MISSING")),
    ("COLLATE", "leave COLLATE out; for capitals and small letters alike LOWER(code)"),
    ("AT TIME ZONE", "leave AT TIME ZONE out: times have no zone"),
    ("ISNULL", "write IS NULL: discharged_to IS NULL"),
    ("NOTNULL", "write IS NOT NULL: discharged_to IS NOT NULL"),
    ("UNIQUE", "use GROUP BY: every declared group comes back once"),
    ("SAMPLE (", "sampling is not allowed: ask over the whole table"),
    ("PARTITION (", "ask for the rows by a condition: WHERE year = 2024"),
)
"""Words beside each other, and what to write instead, those of more words first."""

_TIME_OF_DAY: Final = (
    "a time of the day is counted in minutes: EXTRACT(HOUR FROM arrived) * 60 + "
    "EXTRACT(MINUTE FROM arrived) >= 480, from 08:00 on; or in seconds, EXTRACT(EPOCH "
    "FROM arrived - arrived::date)"
)
_OF_DAYS: Final = "a day is a text with dashes: DATE '2020-01-31'"
_CLAUSES: Final = frozenset(("FROM", "WHERE", "GROUP", "HAVING"))
_RULES: Final = frozenset(
    ("syntax", "clause", "construct", "unread_text", "operator", "column_list", "cast")
)
"""Rules whose own hint says nothing of what was written."""


def telling_hint(tokens: Sequence[Token], error: QueryError) -> str | None:
    """Return what to write instead of words that are not the language's.

    Args:
        tokens: Of the text.
        error: Why it is refused. One with a hint of its own keeps it.
    """
    place = Position(error.line, error.column)
    at = next((n for n, t in enumerate(tokens) if t.position >= place), len(tokens))
    is_time = at < len(tokens) and tokens[at].word == "TIME"
    if error.rule == "cast" and is_time:
        return _TIME_OF_DAY
    if error.hint != RULES[error.rule].hint:
        return None
    return _hint_at(tokens, at, error.rule)


def _hint_at(tokens: Sequence[Token], at: int, rule: str) -> str | None:
    if rule == "only_select":
        return _FIRST_WORDS.get(tokens[0].word)
    marks = [token.word or token.text for token in tokens]
    found = None
    if rule == "syntax":
        found = _unclosed(marks) or _quoted(tokens, at)
    if found is None and rule in _RULES:
        found = _OF_DAYS if _is_day(tokens, at) else _hint_near(marks, at)
    return found


def _is_day(tokens: Sequence[Token], at: int) -> bool:
    """Whether SAS's letter of a day stands at a place: ``'31JAN2020'd``."""
    is_letter = at < len(tokens) and tokens[at].word in {"D", "DT"}
    return is_letter and at > 0 and tokens[at - 1].kind is TokenKind.STRING


NAMES_OF_CLAUSES: Final = frozenset(
    (
        *("BETWEEN", "CASE", "CROSS", "CUBE", "DISTINCT", "ELSE", "EXCEPT", "FETCH"),
        *("FOR", "FROM", "HAVING", "ILIKE", "INNER", "INTERSECT", "INTO", "JOIN"),
        *("LATERAL", "LIKE", "LIMIT", "NOT", "NOTNULL", "OFFSET", "ON", "OR", "OUTER"),
        *("ROLLUP", "SELECT", "THEN", "UNION", "USING", "WHEN", "WHERE", "WINDOW"),
        "WITH",
    )
)
NAMES_OF_STATEMENTS: Final = frozenset(
    (
        *("ALTER", "CREATE", "DROP", "FORCE", "GRANT", "INSERT", "LOCK", "ONLY"),
        *("QUALIFY", "RETURNING", "REVOKE", "ROLLBACK", "TABLESAMPLE"),
    )
)
"""Words that name something behind AS and a point, and nowhere else unless quoted;
these stand in no question of the language."""


def named_words(tokens: Sequence[Token], words: AbstractSet[str]) -> AbstractSet[str]:
    """Return which of some words AS makes names of, that are used as such again."""
    named: set[str] = set()
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.word == "AS" and after.word != "MATERIALIZED":
            named.add(token.word)
    return named & words & {token.word for _, token in bare_words(tokens)}


def bare_words(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Yield words that stand neither behind AS nor behind a point, and call nothing."""
    for at, token in enumerate(tokens):
        before, after = tokens[max(0, at - 1)], tokens[at + 1 : at + 2]
        is_told = before.word == "AS" or before.is_sign(".")
        if token.word and not is_told and not any(t.is_sign("(") for t in after):
            yield at, token


def _quoted(tokens: Sequence[Token], at: int) -> str | None:
    """Say which name near a place is a word of SQL that is read as one."""
    named = named_words(tokens, NAMES_OF_CLAUSES | NAMES_OF_STATEMENTS)
    near = {t.word for n, t in bare_words(tokens) if abs(n - at) <= _NEAR}
    if not named & near:
        return None
    name = min(named & near).lower()
    return f'{name} is a word of SQL: give another name, or write it quoted, "{name}"'


def _hint_near(marks: Sequence[str], at: int) -> str | None:
    if at < len(marks) and marks[at] in _CLAUSES:
        return _ORDER
    near = marks[max(0, at - _NEAR) : at + _NEAR]
    for words, hint in _HINTS:
        sought = words.split()
        starts = range(len(near) - len(sought) + 1)
        if any(_stands(near[n:], sought) for n in starts):
            return hint
    return None


def _stands(marks: Sequence[str], words: Sequence[str]) -> bool:
    """Whether words begin here, and are no name of a table: ``le.age``."""
    end = len(words)
    is_table = marks[end : end + 1] == ["."] and marks[end + 1 : end + 2] not in _ENDS
    return list(marks[:end]) == list(words) and not is_table


_ENDS: Sequence[Sequence[str]] = ([], [")"], ["AND"], ["OR"], ["GROUP"])


def _unclosed(marks: Sequence[str]) -> str | None:
    """Say which brackets have no other end."""
    opened, closed = marks.count("("), marks.count(")")
    if opened == closed:
        return None
    return f"close each bracket that is opened: the text has {opened} ( and {closed} )"
