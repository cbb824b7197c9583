"""Queries: SELECT and its clauses, joins, derived tables, UNION ALL and WITH."""

from sqlglot import exp

from privacy.errors import SqlNotAllowedError
from query_lang.reading.expressions import arguments
from query_lang.reading.functions import FunctionReader
from query_lang.reading.node_rules import rule_of
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    CommonTable,
    DerivedTable,
    Expression,
    Join,
    OrderItem,
    Position,
    Query,
    Select,
    SelectItem,
    TableName,
    UnionAll,
)
from query_lang.syntax.refusals import refuse
from query_lang.syntax.rules import Rule

_CLAUSES = frozenset({"expressions", "from_", "joins", "where", "group", "having"})
_TOP_CLAUSES = _CLAUSES | {"with_", "order", "limit"}
_LOWER_CLAUSES = _CLAUSES | {"distinct"}
_SET_WORDS = frozenset({"UNION", "INTERSECT", "EXCEPT"})
_JOINS: dict[str, Rule] = {
    ",": rules.COMMA_JOIN,
    "RIGHT": rules.RIGHT_JOIN,
    "FULL": rules.FULL_JOIN,
    "CROSS": rules.CROSS_JOIN,
    "NATURAL": rules.NATURAL_JOIN,
    "SEMI": rules.SEMI_JOIN,
    "ANTI": rules.SEMI_JOIN,
    "ASOF": rules.ASOF_JOIN,
    "POSITIONAL": rules.POSITIONAL_JOIN,
    "LATERAL": rules.LATERAL_JOIN,
}
_SPELLINGS = {  # of a join, as sqlglot has it: the words that may be written
    ("", ""): (("JOIN",),),
    ("", "INNER"): (("INNER", "JOIN"),),
    ("LEFT", ""): (("LEFT", "JOIN"),),
    ("LEFT", "OUTER"): (("LEFT", "OUTER", "JOIN"),),
}


class QueryReader(FunctionReader):
    """Reads a whole text."""

    def whole(self, tree: exp.Expr) -> Query:
        """Read the query at the top; brackets around it are transparent."""
        if isinstance(tree, exp.Subquery) and arguments(tree) == {"this"}:
            self._places.take_sign("(")
            query = self.whole(tree.this)
            self._places.take_sign(")")
            return query
        if isinstance(tree, exp.SetOperation):
            raise refuse(rules.SET_OPERATION, self._set_place())
        if not isinstance(tree, exp.Select):
            raise self._whole_refusal(tree)
        tables = self._common_tables(tree.args.get("with_"))
        return Query(tables, self._select(tree, top=True))

    def _set_place(self) -> Position:
        return self._places.ahead(_SET_WORDS) or self._places.position

    def _whole_refusal(self, tree: exp.Expr) -> SqlNotAllowedError:
        if isinstance(tree, exp.Subquery):
            unknown = sorted(arguments(tree) - {"this"})
            return self._clause_refusal(unknown[0], tree.args[unknown[0]])
        return refuse(rules.ONLY_SELECT, self._places.position)

    def _common_tables(self, node: exp.Expr | None) -> tuple[CommonTable, ...]:
        if node is None:
            return ()
        self._places.take("WITH")
        if node.args.get("recursive"):
            raise refuse(rules.RECURSIVE, self._places.position)
        self.only(node, "expressions")
        tables: list[CommonTable] = []
        for table in node.expressions:
            if tables:
                self._places.take_sign(",")
            tables.append(self._common_table(table))
        return tuple(tables)

    def _common_table(self, node: exp.Expr) -> CommonTable:
        position, alias = self._places.position, node.args.get("alias")
        name = self.identifier(None if alias is None else alias.this)
        if self._places.is_sign("("):
            raise refuse(rules.COLUMN_LIST, self._places.position)
        self._places.take("AS")
        if not self._places.is_sign("("):
            raise refuse(rules.MATERIALIZED, self._places.position)
        self.only(node, "this", "alias")
        return CommonTable(name, self.bracketed(node.this), position)

    def query(self, node: exp.Expr, *, star: bool = False) -> Select | UnionAll:
        """Read a query below the top."""
        if isinstance(node, exp.Select):
            return self._select(node, star=star)
        if not isinstance(node, exp.SetOperation):
            raise refuse(rules.ONLY_SELECT, self._places.position)
        parts: list[exp.Expr] = [node]
        while isinstance(parts[0], exp.SetOperation):
            self._check_union(parts[0])
            parts[:1] = [parts[0].this, parts[0].expression]
        return self._union(parts)

    def _check_union(self, node: exp.Expr) -> None:
        if type(node) is not exp.Union or node.args.get("distinct"):
            raise refuse(rules.SET_OPERATION, self._set_place())
        unknown = sorted(arguments(node) - {"this", "expression"})
        if unknown:
            raise self._clause_refusal(unknown[0], node.args[unknown[0]], below=True)

    def _union(self, nodes: list[exp.Expr]) -> UnionAll:
        parts: list[Select] = []
        for node in nodes:
            if parts:
                self._places.take("UNION", "ALL")
            bracketed = isinstance(node, exp.Subquery)
            part = self.unwrapped(node) if bracketed else self.query(node)
            parts.extend((part,) if isinstance(part, Select) else part.parts)
        return UnionAll(tuple(parts), parts[0].position)

    def _select(
        self, tree: exp.Select, *, top: bool = False, star: bool = False
    ) -> Select:
        self._refuse_clauses(tree, top=top)
        if self._places.word() != "SELECT":
            raise refuse(rules.ONLY_SELECT, self._places.position)
        position = self._places.take("SELECT")
        distinct = self._distinct(tree.args.get("distinct"))
        items = self._items(tree.expressions, star=star)
        self._places.take("FROM")
        source = self._source(tree.args["from_"].this)
        joins = tuple(self._join(join) for join in tree.args.get("joins") or ())
        return Select(
            distinct=distinct,
            items=items,
            source=source,
            joins=joins,
            where=self._condition("WHERE", tree.args.get("where")),
            group_by=self._keys(tree.args.get("group")),
            having=self._condition("HAVING", tree.args.get("having")),
            order_by=self._order_by(tree.args.get("order")),
            limit=self._limit(tree.args.get("limit")),
            position=position,
        )

    def _refuse_clauses(self, tree: exp.Select, *, top: bool) -> None:
        if self._places.word() != "SELECT" and tree.args.get("with_") and not top:
            raise refuse(rules.WITH_PLACE, self._places.position)
        unknown = sorted(arguments(tree) - (_TOP_CLAUSES if top else _LOWER_CLAUSES))
        refusals = [
            self._clause_refusal(name, tree.args[name], below=not top)
            for name in unknown
        ]
        if refusals:
            raise min(refusals, key=lambda found: (found.line, found.column))
        if not tree.expressions:
            raise refuse(rules.CLAUSE, self._places.position)
        if tree.args.get("from_") is None:
            raise refuse(rules.FROM_CLAUSE, self._places.position)

    def _clause_refusal(
        self, argument: str, value: object, *, below: bool = False
    ) -> SqlNotAllowedError:
        rule, words = rule_of(argument)
        if below and rule in {rules.ORDER_BY, rules.LIMIT}:
            detail: str | None = f"{rule.detail}, not below the top"
        else:
            detail = None
        if isinstance(value, exp.Expr) and rule is rules.CLAUSE:
            words |= {value.key.upper()}
        place = self._places.ahead(words)
        if place is None and rule is rules.OFFSET:  # LIMIT 2, 5
            place = self._places.ahead(frozenset({"LIMIT"}))
        return refuse(rule, place or self._places.position, detail=detail)

    def _distinct(self, node: exp.Expr | None) -> bool:
        if node is None:
            return False
        self._places.take("DISTINCT")
        if node.args.get("on") is not None:
            raise refuse(rules.DISTINCT_ON, self._places.position)
        self.only(node)
        return True

    def _items(self, nodes: list[exp.Expr], *, star: bool) -> tuple[SelectItem, ...]:
        if star and len(nodes) == 1 and isinstance(nodes[0], exp.Star):
            found = self.star(nodes[0])
            return (SelectItem(found, None, found.position),)
        items: list[SelectItem] = []
        for node in nodes:
            if items:
                self._places.take_sign(",")
            items.append(self._item(node))
        return tuple(items)

    def _item(self, node: exp.Expr) -> SelectItem:
        if not isinstance(node, exp.Alias):
            expression = self.read(node)
            return SelectItem(expression, None, expression.position)
        self.only(node, "this", "alias")
        expression = self.read(node.this)
        self._places.accept("AS")
        alias = self.identifier(node.args["alias"])
        return SelectItem(expression, alias, expression.position)

    def _source(self, node: exp.Expr) -> TableName | DerivedTable:
        if isinstance(node, exp.Subquery) and isinstance(
            node.this, exp.Query | exp.Subquery
        ):
            return self._derived(node)
        position = self._places.position
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise refuse(rules.FROM_CLAUSE, position)
        if arguments(node) & {"db", "catalog"}:
            raise refuse(rules.QUALIFIED_TABLE, position)
        self.only(node, "this", "alias")
        name = self.identifier(node.this)
        return TableName(name, self._alias(node.args.get("alias")), position)

    def _alias(self, node: exp.Expr | None) -> str | None:
        if node is None:
            return None
        self._places.accept("AS")
        alias = self.identifier(node.this)
        if node.args.get("columns"):
            raise refuse(rules.COLUMN_LIST, self._places.position)
        self.only(node, "this")
        return alias

    def _derived(self, node: exp.Subquery) -> DerivedTable:
        position, alias = self._places.position, node.args.get("alias")
        if alias is None:
            raise refuse(rules.DERIVED_TABLE_NAME, position)
        unknown = sorted(arguments(node) - {"this", "alias"})
        if unknown:
            raise self._clause_refusal(unknown[0], node.args[unknown[0]], below=True)
        query = self.bracketed(node.this)
        name = self._alias(alias) or ""
        return DerivedTable(query, name, position)

    def _join(self, node: exp.Expr) -> Join:
        position = self._places.position
        word = "," if self._places.is_sign(",") else self._places.word()
        lateral = isinstance(node.this, exp.Lateral)
        rule = rules.LATERAL_JOIN if lateral else _JOINS.get(word)
        if rule is not None:
            raise refuse(rule, position)
        self.only(node, "this", "side", "kind", "on", "using")
        side, kind = node.args.get("side") or "", node.args.get("kind") or ""
        for words in _SPELLINGS.get((side, kind), ()):
            self._places.take(*words)
            source = self._source(node.this)
            condition, using = self._tie(node)
            return Join("left" if side else "inner", source, condition, using, position)
        raise refuse(_JOINS.get(kind, rules.JOIN), position)

    def _tie(self, node: exp.Expr) -> tuple[Expression | None, tuple[str, ...]]:
        """Read ON or USING."""
        on, using = node.args.get("on"), node.args.get("using")
        if on is not None and not using:
            self._places.take("ON")
            return self.read(on), ()
        if not using:
            raise refuse(rules.JOIN, self._places.position)
        self._places.take("USING")
        self._places.take_sign("(")
        names = tuple(self._using(name, index) for index, name in enumerate(using))
        self._places.take_sign(")")
        return None, names

    def _using(self, node: exp.Expr, index: int) -> str:
        if index:
            self._places.take_sign(",")
        return self.identifier(node.this if isinstance(node, exp.Column) else node)

    def _condition(self, word: str, node: exp.Expr | None) -> Expression | None:
        if node is None:
            return None
        self._places.take(word)
        return self.read(node.this)

    def _keys(self, group: exp.Expr | None) -> tuple[Expression, ...]:
        if group is None:
            return ()
        if arguments(group) != {"expressions"}:
            place = self._places.ahead(frozenset({"ROLLUP", "CUBE", "GROUPING"}))
            raise refuse(rules.GROUPING_SETS, place or self._places.position)
        self._places.take("GROUP", "BY")
        return self.listed(group.expressions)

    def _order_by(self, node: exp.Expr | None) -> tuple[OrderItem, ...]:
        if node is None:
            return ()
        self.only(node, "expressions")
        return self.order(node)

    def _limit(self, node: exp.Expr | None) -> int | None:
        if node is None:
            return None
        position = self._places.position
        if self._places.word() != "LIMIT" or not isinstance(node, exp.Limit):
            raise refuse(rules.LIMIT, position)
        self._places.take("LIMIT")
        plain = isinstance(node.expression, exp.Literal)
        if not plain or arguments(node) != {"expression"}:
            raise refuse(rules.LIMIT, self._places.position)
        return self.rows()
