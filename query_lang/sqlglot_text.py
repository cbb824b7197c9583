"""Text to sqlglot's tree, by a duckdb parser that keeps every function as written."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import TokenType

from query_lang import rules
from query_lang.refusals import refuse, syntax_error
from query_lang.syntax import Position
from query_lang.tokens import LexedText, Token

_DIALECT = DuckDB()
_SPECIAL_FORMS = ("CAST", "EXTRACT")  # calls whose brackets hold more than a list


class _Parser(DuckDBParser):
    """duckdb's grammar without sqlglot's knowledge of functions.

    sqlglot gives one node to many spellings (ANY_VALUE and FIRST, DATEDIFF and
    DATE_DIFF) and turns arguments round; here a call stays the name and the list that
    were written, and our own table of functions decides.
    """

    FUNCTIONS: ClassVar[Mapping[str, Callable[..., exp.Expr]]] = {}  # type: ignore[assignment]
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
        name: DuckDBParser.FUNCTION_PARSERS[name] for name in _SPECIAL_FORMS
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
        "CASE": DuckDBParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
    }
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, type[exp.Expr]]] = {
        TokenType.CURRENT_DATE: exp.CurrentDate
    }


def sqlglot_tree(lexed: LexedText) -> exp.Query:
    """Parse a text that passed the limits.

    Raises:
        SqlSyntaxError: sqlglot cannot read it, for whatever reason.
        SqlNotAllowedError: It is another statement than a SELECT.
    """
    first = lexed.tokens[0].position
    try:
        trees = _Parser(dialect=_DIALECT).parse(
            _DIALECT.tokenize(lexed.text), lexed.text
        )
    except SqlglotError as error:
        raise syntax_error(_error_position(error, lexed.tokens)) from None
    except Exception:  # noqa: BLE001 - a fault of the parser is a refusal of the text
        raise syntax_error(first) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise refuse(rules.ONLY_SELECT, first)
    return trees[0]


def _error_position(error: SqlglotError, tokens: tuple[Token, ...]) -> Position:
    """Return the start of the token in which the place of the error lies."""
    found = [*getattr(error, "errors", []), {}][0]
    line, column = found.get("line"), found.get("col")
    if not isinstance(line, int) or not isinstance(column, int):
        return tokens[0].position
    reached = [t.position for t in tokens if t.position <= Position(line, column)]
    return max(reached, default=tokens[0].position)
