"""SQL text to our own tree: an allow-list over what sqlglot reads.

Nothing of the text goes on from here but the nodes of ``syntax``. Every sqlglot node
and every argument of it must be known; every token is taken by the node it was
written for; and the tokens that the tree accounts for must be the tokens of the text,
in their order, so that nothing a parser drops or turns round is ignored.
"""

from privacy.errors import SqlNotAllowedError, SqlSyntaxError
from query_lang.reading.limits import check_size, check_tokens
from query_lang.reading.places import Places
from query_lang.reading.queries import QueryReader
from query_lang.reading.sqlglot_tree import TYPE_WORDS, sqlglot_tree
from query_lang.reading.token_check import check_every_token_is_read
from query_lang.rewriting.rewrite import rewritten
from query_lang.syntax import rules
from query_lang.syntax.hints.words import telling_hint
from query_lang.syntax.nodes import Query
from query_lang.syntax.refusals import refuse, refusing_depth, with_hint
from query_lang.syntax.tokens import Token, lex, without_tops


def parse_query(sql: str, *, sequences: bool = False) -> Query:
    """Read one query in the language's own words, whatever dialect it is written in.

    Args:
        sql: The text.
        sequences: As of ``read_query``.

    Raises:
        SqlSyntaxError: The text is not SQL, or empty.
        SqlNotAllowedError: It is, but a limit or a rule of the language refuses it.
    """
    tree = read_query(sql, sequences=sequences)
    with refusing_depth(tree.select.position):
        return rewritten(tree)


def read_query(sql: str, *, sequences: bool = False) -> Query:
    """Read one query as it is written, idioms of other dialects among its nodes.

    Args:
        sql: The text.
        sequences: Whether the functions of sequences are words of the language, as
            they are in questions to a release of sequences alone.

    Raises:
        SqlSyntaxError: The text is not SQL, or empty.
        SqlNotAllowedError: It is, but a limit or a rule of the language refuses it.
    """
    check_size(sql)
    tokens = lex(sql)
    check_tokens(tokens, TYPE_WORDS)
    try:
        return _read(tokens, sequences=sequences)
    except (SqlNotAllowedError, SqlSyntaxError) as error:
        hint = telling_hint(tokens, error)
        if hint is None:
            raise
        raise with_hint(error, hint) from None


def _read(tokens: tuple[Token, ...], *, sequences: bool) -> Query:
    first = tokens[0]
    if first.word not in {"SELECT", "WITH"} and not first.is_sign("("):
        raise refuse(rules.ONLY_SELECT, first.position)
    parsed = sqlglot_tree(without_tops(tokens))
    places = Places(tokens)
    with refusing_depth(first.position):
        tree = QueryReader(places, sequences=sequences).whole(parsed)
    places.take_end()
    check_every_token_is_read(tree, tokens)
    return tree
