"""Our tokens to sqlglot's tree, by a duckdb parser that keeps functions as written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import Token as SqlglotToken
from sqlglot.tokenizer_core import TokenType

from query_lang.syntax import rules
from query_lang.syntax.nodes import Position
from query_lang.syntax.refusals import refuse, syntax_error
from query_lang.syntax.tokens import Token, TokenKind

_DIALECT = DuckDB()
_DIALECT.INDEX_OFFSET = 0  # else sqlglot types all that stands before each bracket
_LONGEST_LENGTH = 100
"""Characters of an interval's text that sqlglot reads; ours refuses longer ones."""
_SPECIAL_FORMS = ("CAST", "TRY_CAST", "EXTRACT")  # calls with more than a list inside


class PostfixCast(exp.Cast):
    """``value::type``, told apart from a call of CAST."""


class _Parser(DuckDBParser):
    """duckdb's grammar without sqlglot's knowledge of functions.

    sqlglot gives one node to many spellings (ANY_VALUE and FIRST, DATEDIFF and
    DATE_DIFF) and turns arguments round; here a call stays the name and the list that
    were written, and our own table of functions decides.
    """

    FUNCTIONS: ClassVar[Mapping[str, Callable[..., exp.Expr]]] = {}  # type: ignore[assignment]
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
        **{name: DuckDBParser.FUNCTION_PARSERS[name] for name in _SPECIAL_FORMS},
        "SAFE_CAST": DuckDBParser.FUNCTION_PARSERS["TRY_CAST"],
        "SUBSTRING": DuckDBParser.FUNCTION_PARSERS["SUBSTRING"],
        "TRIM": DuckDBParser.FUNCTION_PARSERS["TRIM"],
    }
    COLUMN_OPERATORS: ClassVar[Mapping[TokenType, object]] = {  # type: ignore[assignment]
        **DuckDBParser.COLUMN_OPERATORS,
        TokenType.DCOLON: lambda _, this, to: PostfixCast(this=this, to=to),
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
        "CASE": DuckDBParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
    }

    def _parse_interval_span(
        self,
        this: exp.Expr,
        parse_function_unit: bool = True,  # noqa: FBT001, FBT002 - sqlglot's own
    ) -> exp.Interval:
        """Leave long texts to us: sqlglot's patterns try each part from each place."""
        if this.is_string and len(this.name) > _LONGEST_LENGTH:
            return self.expression(exp.Interval(this=this))
        return super()._parse_interval_span(this, parse_function_unit)

    def _parse_cube_or_rollup(
        self,
        with_prefix: bool = False,  # noqa: FBT001, FBT002 - sqlglot's own
    ) -> exp.Cube | exp.Rollup | None:
        """Take conditions as keys, too: ``ROLLUP (age >= 60, sex)``."""
        if with_prefix:
            return super()._parse_cube_or_rollup(with_prefix=True)
        is_cube = self._match(TokenType.CUBE)
        if not is_cube and not self._match(TokenType.ROLLUP):
            return None
        keys = self._parse_wrapped_csv(self._parse_disjunction)
        kind = exp.Cube if is_cube else exp.Rollup
        return self.expression(kind(expressions=keys))

    def _parse_grouping_set(self) -> exp.Expr | None:
        return (
            self._parse_grouping_sets()
            or self._parse_cube_or_rollup()
            or self._parse_disjunction()
        )


def sqlglot_tree(tokens: Sequence[Token]) -> exp.Query:
    """Parse tokens that passed the limits.

    sqlglot's own lexer never sees the text: what a string or a comment is, is decided
    once, by ours.

    Raises:
        SqlSyntaxError: sqlglot cannot read it, for whatever reason.
        SqlNotAllowedError: It is another statement than a SELECT.
    """
    first = tokens[0].position
    try:
        trees = _Parser(dialect=_DIALECT).parse(list(_sqlglot_tokens(tokens)), "")
    except SqlglotError as error:
        dashed = _dashed_table(tokens)
        if dashed is not None:
            raise refuse(rules.QUALIFIED_TABLE, dashed) from None
        raise syntax_error(_error_position(error, tokens)) from None
    except Exception:  # noqa: BLE001 - a fault of the parser is a refusal of the text
        raise syntax_error(first) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise refuse(rules.ONLY_SELECT, first)
    return trees[0]


_KEYWORDS = {  # DIV is a function here, no operator
    word: kind for word, kind in DuckDB.Tokenizer.KEYWORDS.items() if word != "DIV"
}
TYPE_WORDS = frozenset(
    word.rpartition(" ")[-1]
    for word, kind in _KEYWORDS.items()
    if kind in DuckDBParser.TYPE_TOKENS
)
"""Words behind which the parser reads a bracket as a type's, and once more as a call's:
of types of several words (DOUBLE PRECISION) the last.
"""
_SIGNS = {
    **DuckDB.Tokenizer.SINGLE_TOKENS,
    **_KEYWORDS,
    "~": TokenType.RLIKE,
    "!~": TokenType.RLIKE,
    "!~*": TokenType.IRLIKE,
}
_PAIRS = frozenset(key.split(" ")[0] for key in _KEYWORDS if " " in key)
_KINDS = {
    TokenKind.QUOTED: TokenType.IDENTIFIER,
    TokenKind.STRING: TokenType.STRING,
    TokenKind.NUMBER: TokenType.NUMBER,
}


def _sqlglot_tokens(tokens: Sequence[Token]) -> Iterator[SqlglotToken]:
    """Write our tokens as sqlglot's, which has GROUP BY as one."""
    taken = False
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        if taken:  # as the second word of a pair
            taken = False
            continue
        text, word = token.text, token.word
        kind = _KEYWORDS.get(word, TokenType.VAR) if word else _type(token)
        if word == "MINUS" and after is not None and after.word == "SELECT":
            kind = TokenType.EXCEPT  # Oracle's word
        if word in _PAIRS and after is not None:
            pair = f"{word} {after.word}"
            if pair in _KEYWORDS:
                kind, text, taken = _KEYWORDS[pair], pair, True
        at, start = token.position, token.start
        if token.is_sign("!~") or token.is_sign("!~*"):
            yield SqlglotToken(TokenType.NOT, "NOT", at.line, at.column, start, start)
        yield SqlglotToken(kind, text, at.line, at.column, start, start)


def _type(token: Token) -> TokenType:
    """Return the type of what is no word."""
    if token.kind is TokenKind.SIGN:
        return _SIGNS[token.text]
    return _KINDS[token.kind]


def _dashed_table(tokens: Sequence[Token]) -> Position | None:
    """Return where ``my-project.dataset.table`` stands in FROM, as BigQuery has it."""
    for before, name, sign in zip(tokens, tokens[1:], tokens[2:], strict=False):
        is_named = before.word in {"FROM", "JOIN"} and bool(name.word)
        if is_named and sign.is_sign("-"):
            return name.position
    return None


def _error_position(error: SqlglotError, tokens: Sequence[Token]) -> Position:
    """Return the start of the token in which the place of the error lies."""
    found = [*getattr(error, "errors", []), {}][0]
    line, column = found.get("line"), found.get("col")
    if not isinstance(line, int) or not isinstance(column, int):
        return tokens[0].position
    reached = [t.position for t in tokens if t.position <= Position(line, column)]
    return max(reached, default=tokens[0].position)
