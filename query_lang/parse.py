"""SQL text to our own tree: an allow-list over what sqlglot reads.

Nothing of the text goes on from here but the nodes of ``syntax``. Every sqlglot node
and every argument of it must be known; and the tokens that the tree accounts for must
be the tokens of the text, so that nothing a parser drops in silence is ignored.
"""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.helper import flatten

from privacy.errors import SqlNotAllowedError
from query_lang import rules
from query_lang.limits import check_size, check_tokens
from query_lang.node_rules import rule_of
from query_lang.places import Places
from query_lang.read_expressions import ExpressionReader, arguments
from query_lang.refusals import refuse, syntax_error
from query_lang.syntax import Expression, Position, Select, SelectItem, TableName
from query_lang.tally import check_every_token_is_read
from query_lang.tokens import LexedText, Token, lex

_CLAUSES = frozenset({"expressions", "from_", "where", "group"})


def parse_query(sql: str) -> Select:
    """Read one SELECT.

    Raises:
        SqlSyntaxError: The text is not SQL, or empty.
        SqlNotAllowedError: It is, but a limit or a rule of the language refuses it.
    """
    check_size(sql)
    lexed = lex(sql)
    check_tokens(lexed.tokens)
    first = lexed.tokens[0]
    if first.word not in {"SELECT", "WITH"} and not first.is_sign("("):
        raise refuse(rules.ONLY_SELECT, first.position)
    tree = _Reader(lexed.tokens).select(_sqlglot_tree(lexed))
    check_every_token_is_read(tree, lexed.tokens)
    return tree


def _sqlglot_tree(lexed: LexedText) -> exp.Expr:
    first = lexed.tokens[0].position
    try:
        tree = sqlglot.parse_one(lexed.text, read="duckdb")
    except SqlglotError as error:
        raise syntax_error(_error_position(error, lexed.tokens)) from None
    except RecursionError:
        raise syntax_error(first) from None
    if not isinstance(tree, exp.Query):
        raise refuse(rules.ONLY_SELECT, first)
    return tree


def _error_position(error: SqlglotError, tokens: tuple[Token, ...]) -> Position:
    """Return the start of the token in which the place of the error lies."""
    found = [*getattr(error, "errors", []), {}][0]
    line, column = found.get("line"), found.get("col")
    if not isinstance(line, int) or not isinstance(column, int):
        return tokens[0].position
    reached = [t.position for t in tokens if t.position <= Position(line, column)]
    return max(reached, default=tokens[0].position)


class _Reader(ExpressionReader):
    """Reads the clauses of a SELECT."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        super().__init__(Places(tokens))
        self._first = tokens[0].position

    def select(self, tree: exp.Expr) -> Select:
        """Read the whole query; brackets around it are transparent."""
        while isinstance(tree, exp.Subquery) and arguments(tree) == {"this"}:
            tree = tree.this
        if isinstance(tree, exp.SetOperation):
            raise self.refusal(tree)
        if not isinstance(tree, exp.Select):
            raise refuse(rules.ONLY_SELECT, self._first)
        self._refuse_clauses(tree)
        items = tuple(self._item(item) for item in tree.expressions)
        source = self._table(tree.args["from_"].this)
        where, group = tree.args.get("where"), tree.args.get("group")
        return Select(
            items=items,
            source=source,
            where=None if where is None else self.read(where.this),
            group_by=() if group is None else self._keys(group),
            position=self._first,
        )

    def _refuse_clauses(self, tree: exp.Select) -> None:
        unknown = sorted(arguments(tree) - _CLAUSES)
        refusals = [self._clause_refusal(name, tree.args[name]) for name in unknown]
        if refusals:
            raise min(refusals, key=lambda found: (found.line, found.column))
        if not tree.expressions or tree.args.get("from_") is None:
            raise refuse(rules.CLAUSE, self._first)

    def _clause_refusal(self, argument: str, value: object) -> SqlNotAllowedError:
        rule, words = rule_of(argument)
        parts = [n for n in flatten([value]) if isinstance(n, exp.Expr)]
        within = (node for part in parts for node in part.walk())
        return refuse(
            rule, self._places.first_word(words) or self._places.position(within)
        )

    def _item(self, node: exp.Expr) -> SelectItem:
        position = self.position(node)
        if not isinstance(node, exp.Alias):
            return SelectItem(self.read(node), None, position)
        self.only(node, "this", "alias")
        expression = self.read(node.this)
        return SelectItem(expression, self.identifier(node.args["alias"]), position)

    def _table(self, table: exp.Expr) -> TableName:
        position = self.position(table)
        if isinstance(table, exp.Subquery):
            raise refuse(rules.SUBQUERY, position)
        if not isinstance(table, exp.Table) or not isinstance(
            table.this, exp.Identifier
        ):
            raise refuse(rules.FROM_CLAUSE, position)
        if arguments(table) & {"db", "catalog"}:
            raise refuse(rules.QUALIFIED_TABLE, position)
        self.only(table, "this", "alias")
        name, alias = self.identifier(table.this), table.args.get("alias")
        return TableName(name, None if alias is None else self._alias(alias), position)

    def _alias(self, alias: exp.Expr) -> str:
        self.only(alias, "this")
        return self.identifier(alias.this)

    def _keys(self, group: exp.Expr) -> tuple[Expression, ...]:
        if arguments(group) != {"expressions"}:
            words = {"ROLLUP", "CUBE", "SETS"}, {"GROUP"}
            places = [p for p in map(self._places.first_word, words) if p is not None]
            raise refuse(rules.GROUPING_SETS, places[0])
        return tuple(self.read(key) for key in group.expressions)
