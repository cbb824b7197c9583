from dataclasses import replace

import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.reading.parse import read_query
from query_lang.reading.token_check import check_every_token_is_read
from query_lang.syntax.tokens import lex
from tests.golden.constructs import IDIOMS, TEXTS


def refused(tree, sql):
    with pytest.raises(SqlNotAllowedError) as found:
        check_every_token_is_read(tree, lex(sql))
    assert found.value.rule == "unread_text"
    return found.value.column


def test_a_tree_of_another_text_is_refused_at_the_first_odd_token():
    tree = read_query("SELECT COUNT(*) FROM t WHERE a = 1")
    assert refused(tree, "SELECT COUNT(*) FROM t WHERE a = 2") == 34


def test_a_tree_that_says_more_than_its_text_is_refused():
    tree = read_query("SELECT COUNT(*) FROM t WHERE a AND NULL = TRUE")
    assert refused(tree, "SELECT COUNT(*) FROM t") == 22


def test_a_tree_that_says_less_than_its_text_is_refused():
    tree = read_query("SELECT COUNT(*) FROM t")
    assert refused(tree, "SELECT COUNT(*) FROM t WHERE a") == 24


def test_a_tree_that_turns_arguments_round_is_refused():
    tree = read_query("SELECT COUNT(*) FROM t WHERE DATE_DIFF('day', a, b) = 1")
    turned = "SELECT COUNT(*) FROM t WHERE DATE_DIFF('day', b, a) = 1"
    assert refused(tree, turned) == turned.index("b, a") + 1


def test_a_string_is_no_name():
    tree = read_query("SELECT COUNT(*) FROM t WHERE a = b")
    assert refused(tree, "SELECT COUNT(*) FROM t WHERE a = 'B'") == 34


@pytest.mark.parametrize("sql", [*TEXTS, *IDIOMS])
def test_no_token_of_any_construct_can_be_left_out_or_written_twice(sql):
    tree, tokens = read_query(sql), lex(sql)
    check_every_token_is_read(tree, tokens)
    for index, token in enumerate(tokens):
        if token.is_sign("(") or token.is_sign(")"):
            continue
        twice = (*tokens[: index + 1], *tokens[index:])
        with pytest.raises(SqlNotAllowedError):
            check_every_token_is_read(tree, twice)
        less = (*tokens[:index], *tokens[index + 1 :])
        if token.word in {"AS", "ASC", "INNER", "OUTER"}:
            continue
        with pytest.raises(SqlNotAllowedError):
            check_every_token_is_read(tree, less)


def test_a_tree_that_drops_a_condition_is_refused():
    sql = "SELECT COUNT(*) FROM t WHERE a"
    tree = read_query(sql)
    less = replace(tree, select=replace(tree.select, where=None))
    assert refused(less, sql) == 24
