import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.reading.limits import check_size, check_tokens
from query_lang.reading.parse import parse_query
from query_lang.syntax.tokens import lex

W = "SELECT COUNT(*) FROM t WHERE "


def allowed(sql):
    check_size(sql)
    check_tokens(lex(sql), {"DATE", "DECIMAL"})
    return True


LISTS = (
    *("= ANY ({})", "= some({})", "<> ALL ({})", "LIKE ANY ({})", "ILIKE ALL ({})"),
    *("= ANY (ARRAY[{}])", "<> ALL (ARRAY[{}]::int[])", "LIKE ANY (ARRAY[{}])"),
    *("IN UNNEST([{}])", "NOT IN UNNEST ( [{}] )"),
)


@pytest.mark.parametrize(
    "sql",
    [
        W + "(" * 30 + "b" + ")" * 30,
        W + "NOT " * 30 + "b",
        W + " AND ".join(["NOT b"] * 400),
        W + " OR ".join(["(NOT b)"] * 300),
        W + " AND ".join(["a = -1"] * 300),
        W + " OR ".join(["a = (-1)"] * 200),
        W + f"a IN ({', '.join(['-1'] * 256)})",
        W + "CASE WHEN NOT b THEN -1 ELSE -1 END = " + "- " * 30 + "1",
        "SELECT " + ", ".join(["COUNT(*)"] * 300) + " FROM t",
        W + "b" + " " * 16_000,
        ") END ) END",
        "SELECT " + " - ".join(["a"] * 300) + " FROM t",
        W + "DATE(f(DATE(DATE(1)))) = DATE(2) OR f(DATE(DATE(DATE(f(1)))))",
        "SELECT 1 FROM a" + " JOIN b ON NOT c" * 100,
        "SELECT 1 FROM a WHERE NOT b UNION ALL " * 100,
        W + f"a = ANY ({', '.join(['-1'] * 256)})",
        f"SELECT 1 FROM t UNION ALL (SELECT {', '.join(['1'] * 300)} FROM t)",
    ],
)
def test_what_is_long_but_flat_passes_the_limits(sql):
    assert allowed(sql)


@pytest.mark.parametrize(
    ("sql", "rule"),
    [
        (W + "NOT (" * 16 + "b" + ")" * 16, "depth"),
        (W + "CASE WHEN b THEN " * 31 + "1" + " END" * 31, "depth"),
        (W + "a = " + "-(" * 16 + "1" + ")" * 16, "depth"),
        (W + "f(" * 31 + "1" + ")" * 31, "depth"),
        (W + "DATE(f(DATE(DECIMAL(g(DATE(1))))))", "depth"),
        (W + f"a NOT IN ({', '.join(['1'] * 257)})", "in_list_size"),
        *(
            (f"{W}a {form.format(', '.join(['1'] * 257))}", "in_list_size")
            for form in LISTS
        ),
        (W + "é" * 8_200, "text_size"),
        (", " * 2_001, "token_count"),
    ],
)
def test_what_is_deep_or_large_is_refused(sql, rule):
    with pytest.raises(SqlNotAllowedError) as refused:
        allowed(sql)
    assert refused.value.rule == rule


def test_everything_within_the_limits_can_be_parsed():
    assert parse_query(W + "(" * 30 + "b" + ")" * 30)
    assert parse_query(W + "NOT " * 30 + "b")


def test_operators_inside_each_other_have_a_limit_of_their_own():
    assert parse_query(W + " + ".join(["a"] * 90) + " = 1")
    with pytest.raises(SqlNotAllowedError) as refused:
        parse_query(W + " + ".join(["a"] * 110) + " = 1")
    assert refused.value.rule == "depth"


def test_a_long_union_is_flat():
    union = " UNION ALL ".join(["SELECT u FROM a"] * 300)
    tree = parse_query(f"SELECT COUNT(*) FROM ({union}) AS d")
    assert len(tree.select.source.query.parts) == 300
