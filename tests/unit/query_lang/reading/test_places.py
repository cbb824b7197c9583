import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.reading.places import Places
from query_lang.syntax.nodes import Position
from query_lang.syntax.tokens import TokenKind, lex


@pytest.fixture
def places():
    return Places(lex("SELECT a (b, FROM) FROM"))


def test_tokens_are_taken_in_the_order_of_the_text(places):
    assert places.take("SELECT") == Position(1, 1)
    assert places.take_name().text == "a"
    assert places.take_sign("[", "(").position == Position(1, 10)
    assert (places.word(), places.word(ahead=9)) == ("B", "")


@pytest.mark.parametrize(
    "take",
    [
        lambda places: places.take("FROM"),
        lambda places: places.take_sign(","),
        lambda places: places.take_kind(TokenKind.NUMBER),
        lambda places: places.take_end(),
    ],
)
def test_other_text_than_is_due_is_refused_where_it_stands(places, take):
    with pytest.raises(SqlNotAllowedError) as refused:
        take(places)
    assert (refused.value.rule, refused.value.column) == ("unread_text", 1)


def test_a_word_ahead_is_found_outside_brackets_only(places):
    assert places.ahead(frozenset({"FROM"})) == Position(1, 20)
    assert places.ahead(frozenset({"B"})) is None
