"""Any text is read or is refused by a rule; nothing else is ever raised."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from query_lang.syntax.wire import from_json, to_json

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
    "PARTITION",
    "ROWS",
    "PRECEDING",
    "CURRENT",
    "ROW",
    "UNBOUNDED",
    "ROW_NUMBER",
    "LAG",
    "FIRST",
    "LAST",
    "NULLS",
    "DESC",
    "ASC",
    "SUM",
    "QUANTILE",
    "COALESCE",
    "DATE_DIFF",
    "EXTRACT",
    "YEAR",
    "CURRENT_DATE",
    "EXISTS",
    "LEFT",
    "USING",
    "LATERAL",
    "RECURSIVE",
    "INTERSECT",
    "QUALIFY",
    "WINDOW",
    "ESCAPE",
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
    """Read a text; a tree is kept whole in JSON, a refusal points into the text."""
    try:
        tree = parse_query(sql)
    except QueryError as refused:
        check_place(refused, sql.split("\n"))
    else:
        assert from_json(to_json(tree)) == tree


def check_place(refused, lines):
    assert refused.rule
    assert 1 <= refused.line <= len(lines)
    assert 1 <= refused.column <= len(lines[refused.line - 1]) + 1


@settings(max_examples=500, deadline=None)
@given(sql=st.one_of(st.text(max_size=60), TEXTS))
@example("SELECT COUNT(*) FROM encounters WHERE age IN (")
def test_any_text_is_read_or_is_refused(sql):
    tried(sql)


@settings(max_examples=500, deadline=None)
@given(
    head=st.sampled_from(
        [
            "",
            "WHERE ",
            "WHERE age = 1 ",
            "WHERE EXISTS ( SELECT * FROM encounters ",
            "WHERE age IN ( ",
            "JOIN encounters AS f ON ",
            "GROUP BY ",
            "GROUP BY age HAVING ",
            "ORDER BY ",
            "e ",
        ]
    ),
    tail=TAILS,
)
def test_any_ending_is_read_or_is_refused(head, tail):
    tried(f"SELECT COUNT(*) FROM encounters {head}{tail}")


@settings(max_examples=200, deadline=None)
@given(item=TAILS)
def test_any_select_list_is_read_or_is_refused(item):
    tried(f"SELECT {item} FROM encounters")
    tried(f"SELECT SUM(age) OVER ( {item} ) FROM encounters")
