"""Functions of texts: the engine gives what the public lists are made of."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.schema import ColumnType
from query_lang.plans.expressions import (
    TRUTH,
    Call,
    Constant,
    Facts,
    FieldRef,
    Function,
)
from query_lang.plans.literals import constant_facts
from query_lang.plans.scalars.texts import computed, most_bytes
from query_lang.rendering.duckdb.scalars.texts import RENDERERS
from query_lang.rendering.fragments import Fragment
from query_lang.syntax.automata import MOST_STATES, has_few_states
from query_lang.syntax.patterns import regular_pattern, written

TEXT = FieldRef(0, Facts(ColumnType.TEXT))
PARAMETERS = {
    Function.SUBSTRING: [(1, 2), (3, 1), (2, 131_072), (9_999, 10_000)],
    Function.RIGHT: [(1,), (3,), (10_000,)],
    Function.REPLACE: [("a", ""), ("aa", "é東"), ("\u0301", "b"), (" ", "  ")],
    Function.STRPOS: [("a",), ("東",), ("aa.",)],
}
PLAIN = (
    *(Function.UPPER, Function.LOWER, Function.TRIM, Function.LTRIM, Function.RTRIM),
    Function.LENGTH,
)
CALLS = [
    *(Call(function, (TEXT,), TRUTH) for function in PLAIN),
    *(
        Call(function, (TEXT,), TRUTH, parameters)
        for function, many in PARAMETERS.items()
        for parameters in many
    ),
]


class Columns:
    """Renders slots as columns."""

    def render(self, expression):
        if isinstance(expression, Constant):
            return Fragment("CAST(? AS VARCHAR)", (expression.value,))
        return Fragment("x")


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect(config={"threads": 1}) as found:
        found.execute("CREATE TABLE t (x VARCHAR)")
        yield found


letters = "aAzZ .éÉ東ß\u0301\U0001f600\n\t\u00a0\u2003İ%_"
texts = st.lists(st.text(letters, max_size=9), min_size=1, max_size=30)


@settings(max_examples=12, deadline=None)
@given(texts)
def test_the_engine_and_the_lists_agree(connection, found):
    connection.execute("DELETE FROM t")
    connection.executemany("INSERT INTO t VALUES (?)", [[text] for text in found])
    for call in CALLS:
        sql = RENDERERS[call.function](Columns(), call)
        rows = connection.execute(f"SELECT x, {sql.sql} FROM t", sql.parameters)
        for text, value in rows.fetchall():
            wanted = computed(call.function, call.parameters, (text,))
            assert value == wanted, (call, text)
            if isinstance(value, str):
                most = most_bytes(call, [len(text.encode())])
                assert len(value.encode()) <= most, (call, text)


def test_texts_in_a_row_are_null_where_one_is(connection):
    constant = Constant("b", constant_facts("b", ColumnType.TEXT))
    call = Call(Function.CONCAT, (TEXT, constant, TEXT), TRUTH)
    sql = RENDERERS[Function.CONCAT](Columns(), call)
    rows = f"SELECT {sql.sql} FROM (VALUES ('a'), (NULL)) AS v (x)"
    assert connection.execute(rows, sql.parameters).fetchall() == [("aba",), (None,)]


def test_the_largest_patterns_are_read_by_the_engine(connection):
    """What an engine cannot compile would fail after it is paid for."""
    plain = f"{'a' * 100}{'b' * 100}{'c' * (MOST_STATES - 201)}"
    row = "[^a]{100}[^b]{80}[^c]{20}"
    wide = "|".join(f"[{chr(0x100 + 9 * n)}-{chr(0x104 + 9 * n)}]" for n in range(20))
    largest = (f"^{plain}$", f"^{row}$", f"^({wide}){{2}}$", "^(a?b?){15}$")
    for text in (*largest, "\\x{0}+.$"):
        pattern = regular_pattern(text)
        assert has_few_states(pattern), text
        sql = f"SELECT regexp_full_match('b', '{written(pattern)}')"
        assert connection.execute(sql).fetchall() in ([(True,)], [(False,)])
