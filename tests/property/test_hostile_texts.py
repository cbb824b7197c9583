"""Any text compiles or is refused by a rule; nothing else is ever raised."""

import contextlib

from hypothesis import example, given, settings
from hypothesis import strategies as st

from privacy.errors import QueryError
from query_lang.compile import compile_query
from tests.hospital import HOSPITAL

WORDS = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "COUNT",
    "(",
    ")",
    "*",
    ",",
    ".",
    ";",
    "=",
    "<>",
    "<",
    "<=",
    "+",
    "-",
    "/",
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS",
    "NULL",
    "TRUE",
    "BETWEEN",
    "DISTINCT",
    "AS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "LIKE",
    "DATE",
    "'2024-01-31'",
    "'x'",
    "''",
    "1",
    "0.5",
    ".5",
    "60",
    "age",
    "sex",
    "ward",
    "code",
    "e",
    "patient_id",
    "encounters",
    "WITH",
    "ALL",
    "UNION",
    "JOIN",
    "ON",
    '"age"',
    "OVER",
    "FILTER",
    "ANY",
    "INTERVAL",
    "CAST",
    "::",
    "$1",
    "?",
    "[",
    "]",
    "{",
    "}",
    "/*",
    "*/",
    "--",
    "\n",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
TAILS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def tried(sql):
    with contextlib.suppress(QueryError):
        return compile_query(sql, HOSPITAL)
    return None


@settings(max_examples=500, deadline=None)
@given(sql=st.one_of(st.text(max_size=60), TEXTS))
@example("SELECT COUNT(*) FROM encounters WHERE age IN (")
def test_any_text_compiles_or_is_refused(sql):
    tried(sql)


@settings(max_examples=500, deadline=None)
@given(
    head=st.sampled_from(["", "WHERE ", "WHERE age = 1 ", "GROUP BY ", "e "]),
    tail=TAILS,
)
def test_any_ending_compiles_or_is_refused(head, tail):
    tried(f"SELECT COUNT(*) FROM encounters {head}{tail}")
