import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.parse import parse_query
from query_lang.tally import check_every_token_is_read
from query_lang.tokens import lex


def test_a_tree_of_another_text_is_refused_at_the_first_odd_token():
    tree = parse_query("SELECT COUNT(*) FROM t WHERE a = 1")
    with pytest.raises(SqlNotAllowedError) as refused:
        check_every_token_is_read(
            tree, lex("SELECT COUNT(*) FROM t WHERE a = 2").tokens
        )
    assert (refused.value.rule, refused.value.column) == ("unread_text", 34)


def test_a_tree_that_says_more_than_its_text_is_refused():
    tree = parse_query("SELECT COUNT(*) FROM t WHERE a AND NULL = TRUE")
    with pytest.raises(SqlNotAllowedError) as refused:
        check_every_token_is_read(tree, lex("SELECT COUNT(*) FROM t").tokens)
    assert refused.value.rule == "unread_text"
