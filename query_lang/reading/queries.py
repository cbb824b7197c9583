"""Queries: SELECT and its clauses, joins, derived tables, UNION ALL and WITH."""

from dataclasses import fields, replace

from sqlglot import exp

from privacy.errors import SqlNotAllowedError
from query_lang.reading.expressions import arguments
from query_lang.reading.node_rules import rule_of
from query_lang.reading.places import Places
from query_lang.reading.windows import WindowReader
from query_lang.syntax import rules
from query_lang.syntax.hints.words import TIES, UNDER_EACH_OTHER
from query_lang.syntax.idioms import (
    ConstantRows,
    FirstRowJoin,
    GroupedKeys,
    GroupingWord,
    JoinWord,
    ListedSource,
    ListedTable,
    NoTable,
    Series,
    SetOperation,
    SetWord,
    UnionAnswer,
    WrittenJoin,
    WrittenSelect,
    WrittenUnion,
)
from query_lang.syntax.nodes import (
    CommonTable,
    DerivedTable,
    Expression,
    Join,
    JoinKind,
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
_TOP_CLAUSES = _CLAUSES | {"with_", "windows", "qualify", "order", "limit"}
_FIRST_ROW_CLAUSES = frozenset({"order", "limit"})
_FIRST_ROW_WORDS = frozenset(
    {"CROSS", "LEFT", "OUTER", "INNER", "JOIN", "LATERAL", "APPLY"}
)
_LOWER_CLAUSES = _CLAUSES | {"with_", "distinct", "windows", "qualify"}
_SET_WORDS = frozenset({"UNION", "INTERSECT", "EXCEPT", "MINUS"})
_JOINS: dict[str, Rule] = {
    "FULL": rules.FULL_JOIN,
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
    ("RIGHT", ""): (("RIGHT", "JOIN"),),
    ("RIGHT", "OUTER"): (("RIGHT", "OUTER", "JOIN"),),
}
_SET_OPERATIONS: dict[type[exp.Expr], SetWord] = {
    exp.Union: "UNION",
    exp.Intersect: "INTERSECT",
    exp.Except: "EXCEPT",
}


_GROUPINGS: dict[type[exp.Expr], GroupingWord] = {
    exp.Rollup: "ROLLUP",
    exp.Cube: "CUBE",
    exp.GroupingSets: "GROUPING SETS",
}
_BEHIND_KEYS: dict[str, GroupingWord] = {"rollup": "WITH ROLLUP", "cube": "WITH CUBE"}


class QueryReader(WindowReader):
    """Reads a whole text."""

    def __init__(self, places: Places, *, sequences: bool = False) -> None:
        super().__init__(places, sequences=sequences)
        self._of_schemas: list[TableName] = []
        self._named: set[str] = set()
        self._top_set: exp.Expr | None = None

    def whole(self, tree: exp.Expr) -> Query:
        """Read the query at the top; brackets around it are transparent."""
        if isinstance(tree, exp.Subquery) and arguments(tree) == {"this"}:
            self._places.take_sign("(")
            query = self.whole(tree.this)
            self._places.take_sign(")")
            return query
        if isinstance(tree, exp.SetOperation):
            return self._answers(tree)
        if not isinstance(tree, exp.Select):
            raise self._whole_refusal(tree)
        tables = self._common_tables(tree.args.get("with_"))
        select = self._select(tree, top=True)
        for source in self._of_schemas:  # which tables of WITH have none of
            if source.name in self._named:
                raise refuse(rules.QUALIFIED_TABLE, source.position)
        return Query(tables, replace(select, aliases=tuple(self.titles)))

    def _answers(self, tree: exp.SetOperation) -> Query:
        """Read UNION at the top, whose ORDER BY and LIMIT are of all its rows."""
        place, position = self._set_place(), self._places.position
        self._top_set = tree
        source = DerivedTable(self.query(tree), "", position)
        order = self._order_by(tree.args.get("order"))
        limit, limited_by = self._limit(tree.args.get("limit"))
        if limited_by is not None and (limit is None or limited_by is exp.Fetch):
            raise refuse(rules.LIMIT, place)
        return Query(
            (),
            UnionAnswer(
                distinct=False,
                items=(),
                source=source,
                joins=(),
                where=None,
                group_by=(),
                having=None,
                order_by=order,
                limit=limit,
                position=position,
                place=place,
            ),
        )

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
        columns = self._columns(alias)
        self._places.take("AS")
        if not self._places.is_sign("("):
            raise refuse(rules.MATERIALIZED, self._places.position)
        self.only(node, "this", "alias")
        self._named.add(name)
        query = self._values_or_query(node.this)
        if columns:
            return ListedTable(name, query, position, columns=columns)
        return CommonTable(name, query, position)

    def _columns(self, alias: exp.Expr | None) -> tuple[str, ...]:
        """Read the names of a table's columns in brackets behind its own, if any."""
        nodes = [] if alias is None else alias.args.get("columns") or []
        if not nodes:
            return ()
        self._places.take_sign("(")
        names = tuple(self._using(name, index) for index, name in enumerate(nodes))
        self._places.take_sign(")")
        return names

    def _values_or_query(self, node: exp.Expr) -> Select | UnionAll:
        """Read a query in brackets, or VALUES, which sqlglot has as a query of it."""
        source = node.args.get("from_")
        values = None if source is None else source.this
        is_values = self._places.is_sign("(") and self._places.word(1) == "VALUES"
        if is_values and isinstance(values, exp.Values):
            self._places.take_sign("(")
            rows = self._values(values)
            self._places.take_sign(")")
            return rows
        return self.bracketed(node)

    def _values(self, node: exp.Values) -> ConstantRows:
        """Read ``VALUES (...), (...)``."""
        position = self._places.take("VALUES")
        rows: list[tuple[Expression, ...]] = []
        for row in node.expressions:
            if rows:
                self._places.take_sign(",")
            rows.append(self._row(row))
        return ConstantRows((), position, tuple(rows))

    def query(self, node: exp.Expr) -> Select | UnionAll:
        """Read a query below the top."""
        if isinstance(node, exp.Select):
            return self._select(node)
        if not isinstance(node, exp.SetOperation):
            raise refuse(rules.ONLY_SELECT, self._places.position)
        tables = self._common_tables(node.args.get("with_"))
        if not _is_union_all(node):
            return self._set_operation(node, tables)
        parts: list[exp.Expr] = [node]
        while _is_union_all(parts[0]):
            self._check_set(parts[0])
            parts[:1] = [parts[0].this, parts[0].expression]
        return self._union(parts, tables)

    def first_row(self, node: exp.Expr) -> Select:
        """Read a query of one first row."""
        if not isinstance(node, exp.Select):
            raise refuse(rules.ONLY_SELECT, self._places.position)
        return self._select(node, first=True)

    def _check_set(self, node: exp.Expr) -> None:
        known = {"this", "expression", "distinct", "with_"}
        if node is self._top_set:
            known |= {"order", "limit"}
        unknown = sorted(arguments(node) - known)
        if unknown:
            raise self._clause_refusal(unknown[0], node.args[unknown[0]], below=True)

    def _union(
        self, nodes: list[exp.Expr], tables: tuple[CommonTable, ...]
    ) -> UnionAll:
        parts: list[Select] = []
        for node in nodes:
            if parts:
                self._places.take("UNION", "ALL")
            part = self._side(node)
            if isinstance(part, SetOperation | WrittenUnion):
                raise refuse(rules.SET_OPERATION, part.position, hint=_BRACKETS)
            parts.extend((part,) if isinstance(part, Select) else part.parts)
        if tables:
            return WrittenUnion(tuple(parts), parts[0].position, tables)
        return UnionAll(tuple(parts), parts[0].position)

    def _side(self, node: exp.Expr) -> Select | UnionAll:
        if not isinstance(node, exp.Subquery):
            return self.query(node)
        if self._places.is_sign("("):
            return self.unwrapped(node)
        self.only(node, "this")  # INTERSECT binds tighter: brackets of the parser's own
        return self.query(node.this)

    def _set_operation(
        self, node: exp.SetOperation, tables: tuple[CommonTable, ...]
    ) -> SetOperation:
        """Read UNION, INTERSECT or EXCEPT of different rows, left before right."""
        self._check_set(node)
        word = _SET_OPERATIONS.get(type(node))
        if word is None:
            raise refuse(rules.SET_OPERATION, self._set_place(), hint=_BRACKETS)
        left = self._side(node.this)
        position = self._places.position
        if not (word == "EXCEPT" and self._places.accept("MINUS")):
            self._places.take(word)
        self._places.accept("DISTINCT")
        if not node.args.get("distinct"):
            raise refuse(rules.SET_OPERATION, position, hint=_NO_ALL)
        right = self._side(node.expression)
        return SetOperation((), left.position, (left, right), word, tables)

    def _select(
        self, tree: exp.Select, *, top: bool = False, first: bool = False
    ) -> Select:
        self._refuse_clauses(tree, top=top, first=first)
        tables = () if top else self._common_tables(tree.args.get("with_"))
        if self._places.word() != "SELECT":
            raise refuse(rules.ONLY_SELECT, self._places.position)
        position = self._places.take("SELECT")
        distinct, distinct_on = self._distinct(tree.args.get("distinct"))
        most = self._top()
        items = self._items(tree.expressions, top=top)
        source = self._from(tree.args.get("from_"))
        joins = tuple(self._join(join) for join in tree.args.get("joins") or ())
        where = self._condition("WHERE", tree.args.get("where"))
        keys, by_all = self._keys(tree.args.get("group"))
        having = self._condition("HAVING", tree.args.get("having"))
        windows = self.windows(tree.args.get("windows"))
        qualify = self._condition("QUALIFY", tree.args.get("qualify"))
        windows = windows or self.windows(tree.args.get("windows"))
        order = self._order_by(tree.args.get("order"))
        if most is not None and tree.args.get("limit") is not None:
            raise refuse(rules.LIMIT, self._places.position)
        limit, limited_by = self._limit(tree.args.get("limit"))
        plain = Select(
            distinct=distinct,
            items=items,
            source=source,
            joins=joins,
            where=where,
            group_by=keys,
            having=having,
            order_by=order,
            limit=limit if most is None else most,
            position=position,
        )
        written = WrittenSelect(
            **{field.name: getattr(plain, field.name) for field in fields(Select)},
            common_tables=tables,
            distinct_on=distinct_on,
            qualify=qualify,
            windows=windows,
            groups_by_all=by_all,
            fetches=limited_by is exp.Fetch,
            limits_nothing=limited_by is not None and limit is None,
            has_top=most is not None,
        )
        return written if written.says_more() else plain

    def _from(self, node: exp.Expr | None) -> TableName | DerivedTable:
        if node is None:
            return NoTable("", None, self._places.position)
        self._places.take("FROM")
        return self._source(node.this)

    def _top(self) -> int | None:
        """Read ``TOP n`` or ``TOP (n)``, SQL Server's LIMIT."""
        if not self._places.is_at_top():
            return None
        self._places.take("TOP")
        bracketed = self._places.is_sign("(")
        if bracketed:
            self._places.take_sign("(")
        rows = self.rows()
        if bracketed:
            self._places.take_sign(")")
        if self._places.word() in {"PERCENT", "WITH"}:
            raise refuse(rules.LIMIT, self._places.position)
        return rows

    def _refuse_clauses(
        self, tree: exp.Select, *, top: bool, first: bool = False
    ) -> None:
        known = _TOP_CLAUSES if top else _LOWER_CLAUSES
        known |= _FIRST_ROW_CLAUSES if first else frozenset()
        windows = any(item.find(exp.Window) for item in tree.expressions)
        if top and (windows or "group" in arguments(tree)):  # groups differ as it is
            known |= {"distinct"}
        if _is_distinct_on(tree) and not top:
            known |= {"order"}
        unknown = sorted(arguments(tree) - known)
        refusals = [
            self._clause_refusal(name, tree.args[name], below=not top)
            for name in unknown
        ]
        if refusals:
            raise min(refusals, key=lambda found: (found.line, found.column))
        if not tree.expressions:
            raise refuse(rules.CLAUSE, self._places.position)

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

    def _distinct(self, node: exp.Expr | None) -> tuple[bool, tuple[Expression, ...]]:
        """Read DISTINCT, and the keys of DISTINCT ON."""
        if node is None:
            return False, ()
        self._places.take("DISTINCT")
        self.only(node, "on")
        keys = node.args.get("on")
        if keys is None:
            return True, ()
        self._places.take("ON")
        if isinstance(keys, exp.Tuple):
            return False, self._row(keys)
        self._places.take_sign("(")
        key = self.read(keys.this if isinstance(keys, exp.Paren) else keys)
        self._places.take_sign(")")
        return False, (key,)

    def _items(self, nodes: list[exp.Expr], *, top: bool) -> tuple[SelectItem, ...]:
        items: list[SelectItem] = []
        for node in nodes:
            if items:
                self._places.take_sign(",")
            items.append(self._item(node, top=top))
        return tuple(items)

    def _item(self, node: exp.Expr, *, top: bool) -> SelectItem:
        starred = node.this if isinstance(node, exp.Column) else node
        if isinstance(starred, exp.Star):
            found = self.star(node)
            return SelectItem(found, None, found.position)
        if not isinstance(node, exp.Alias):
            expression = self.read(node)
            return SelectItem(expression, None, expression.position)
        self.only(node, "this", "alias")
        expression = self.read(node.this)
        self._places.accept("AS")
        written = node.args["alias"]
        alias = self.title(written, expression) if top else self.identifier(written)
        return SelectItem(expression, alias, expression.position)

    def _source(self, node: exp.Expr) -> TableName | DerivedTable:
        if isinstance(node, exp.Subquery) and isinstance(
            node.this, exp.Query | exp.Subquery
        ):
            return self._derived(node)
        position = self._places.position
        if isinstance(node, exp.Values):
            self.only(node, "expressions", "alias")
            self._places.take_sign("(")
            rows = self._values(node)
            self._places.take_sign(")")
            return self._named_source(node, rows, position)
        if (call := _series_call(node)) is not None:
            return self._named_source(node, self._series(node, call), position)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise _no_source(node, self._places.word(), position)
        if "catalog" in arguments(node):
            raise refuse(rules.QUALIFIED_TABLE, position)
        self.only(node, "this", "alias", "db")
        schema = None
        if node.args.get("db") is not None:
            schema = self.identifier(node.args["db"])
            self._places.take_sign(".")
        name = self.identifier(node.this)
        table = TableName(name, self._alias(node.args.get("alias")), position, schema)
        if schema is not None:
            self._of_schemas.append(table)
        return table

    def _alias(self, node: exp.Expr | None, *, lists: bool = False) -> str | None:
        if node is None:
            return None
        self._places.accept("AS")
        alias = self.identifier(node.this)
        if node.args.get("columns") and not lists:
            raise refuse(rules.COLUMN_LIST, self._places.position)
        self.only(node, "this", "columns")
        return alias

    def _derived(self, node: exp.Subquery) -> DerivedTable:
        position = self._places.position
        unknown = sorted(arguments(node) - {"this", "alias"})
        if unknown:
            raise self._clause_refusal(unknown[0], node.args[unknown[0]], below=True)
        return self._named_source(node, self.bracketed(node.this), position)

    def _named_source(
        self, node: exp.Expr, query: Select | UnionAll, position: Position
    ) -> DerivedTable:
        """Read what a table of FROM is called, and perhaps its columns."""
        alias = node.args.get("alias")
        name = self._alias(alias, lists=True) or ""  # rewriting names it
        columns = self._columns(alias)
        if columns:
            return ListedSource(query, name, position, columns=columns)
        return DerivedTable(query, name, position)

    def _series(self, node: exp.Expr, call: exp.Expr) -> Series:
        """Read ``generate_series(...)``, or UNNEST around BigQuery's words for it."""
        position, is_array = self._places.position, isinstance(node, exp.Unnest)
        if is_array:
            self.only(node, "expressions", "alias")
            self._places.take("UNNEST")
            self._places.take_sign("(")
        else:
            self.only(node, "this", "alias")
        self.only(call, "this", "expressions")
        name = call.name.upper()
        self._places.take(name)
        found = self._in_brackets(call.expressions)
        if is_array:
            self._places.take_sign(")")
        return Series((), position, name, found, is_array)

    def _join(self, node: exp.Expr) -> Join:
        position = self._places.position
        word = "," if self._places.is_sign(",") else self._places.word()
        if isinstance(node.this, exp.Lateral):
            return self._first_row_join(node, node.this)
        if word in {",", "CROSS", "NATURAL"}:
            return self._by_no_condition(node, word)
        rule = _JOINS.get(word)
        if rule is not None:
            raise refuse(rule, position)
        self.only(node, "this", "side", "kind", "on", "using")
        side, kind = node.args.get("side") or "", node.args.get("kind") or ""
        for words in _SPELLINGS.get((side, kind), ()):
            self._places.take(*words)
            source = self._source(node.this)
            condition, using = self._tie(node)
            if side == "RIGHT":
                return WrittenJoin(
                    "left", source, condition, using, position, word="RIGHT"
                )
            return Join("left" if side else "inner", source, condition, using, position)
        raise refuse(_JOINS.get(kind, rules.JOIN), position)

    def _by_no_condition(self, node: exp.Expr, word: str) -> Join:
        if word == "NATURAL":
            return self._natural_join(node)
        return self._untied(node, "," if word == "," else "CROSS")

    def _natural_join(self, node: exp.Expr) -> Join:
        """Read ``NATURAL [INNER | LEFT] JOIN b``."""
        position = self._places.take("NATURAL")
        self.only(node, "this", "method", "side", "kind")
        side, kind = node.args.get("side") or "", node.args.get("kind") or ""
        if side not in {"", "LEFT"} or (side, kind) not in _SPELLINGS:
            raise refuse(rules.NATURAL_JOIN, position)
        for words in _SPELLINGS[side, kind]:
            self._places.take(*words)
        source = self._source(node.this)
        joined: JoinKind = "left" if side else "inner"
        return Join(joined, source, None, (), position, is_natural=True)

    def _first_row_join(self, node: exp.Expr, lateral: exp.Lateral) -> FirstRowJoin:
        """Read ``JOIN LATERAL (... LIMIT 1) x ON TRUE``, or APPLY."""
        position = self._places.position
        words: list[str] = []
        if self._places.is_sign(","):
            words.append(self._places.take_sign(",").text)
        while self._places.word() in _FIRST_ROW_WORDS:
            words.append(self._places.word())
            self._places.take(words[-1])
        found = lateral.this
        if not isinstance(found, exp.Subquery) or not isinstance(
            found.this, exp.Select
        ):
            raise _no_first_row(found, position)
        self.only(lateral, "this", "alias", "cross_apply")
        self.only(found, "this")
        at = self._places.position
        self._places.take_sign("(")
        self._deepen()
        query = self.first_row(found.this)
        self._depth -= 1
        self._places.take_sign(")")
        alias = self._alias(lateral.args.get("alias"))
        self.only(node, "this", "side", "kind", "on")
        on = None
        if node.args.get("on") is not None:
            self._places.take("ON")
            on = self.read(node.args["on"])
        source = DerivedTable(query, alias or "", at)
        outer = "LEFT" in words or "OUTER" in words
        kind: JoinKind = "left" if outer else "inner"
        if on is None and "LATERAL" in words and words[0] not in {",", "CROSS"}:
            raise refuse(rules.JOIN, position, hint="... AS x ON TRUE")
        return FirstRowJoin(kind, source, on, (), position, words=tuple(words))

    def _untied(self, node: exp.Expr, word: JoinWord) -> Join:
        """Read ``, b`` or ``CROSS JOIN b``."""
        position = self._places.position
        self.only(node, "this", "kind")
        if word == ",":
            self._places.take_sign(",")
        else:
            self._places.take("CROSS", "JOIN")
        source = self._source(node.this)
        return WrittenJoin("inner", source, None, (), position, word=word)

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

    def _keys(self, group: exp.Expr | None) -> tuple[tuple[Expression, ...], bool]:
        """Read GROUP BY: its keys, and whether it says ALL."""
        if group is None:
            return (), False
        if self._places.word() == "QUALIFY":
            hint = (
                "QUALIFY stands behind GROUP BY and chooses groups; to choose rows "
                "first: "
                "FROM (SELECT * FROM labs QUALIFY ROW_NUMBER() OVER (PARTITION BY "
                "patient_id ORDER BY taken DESC) = 1) AS last GROUP BY ..."
            )
            raise refuse(rules.QUALIFY, self._places.position, hint=hint)
        if arguments(group) == {"all"}:
            self._places.take("GROUP", "BY", "ALL")
            return (), True
        behind = sorted(arguments(group) - {"expressions"})
        if len(behind) == len(arguments(group)) or len(behind) > 1:
            place = self._places.ahead(frozenset({"ROLLUP", "CUBE", "GROUPING"}))
            raise refuse(rules.GROUPING_SETS, place or self._places.position)
        position = self._places.take("GROUP", "BY")
        keys = self._grouped_items(group.expressions)
        word = _BEHIND_KEYS.get("".join(behind))
        if word is None and behind:
            raise refuse(rules.GROUPING_SETS, self._places.position)
        if word is None:
            return keys, False
        self._places.take(*word.split())
        return (GroupedKeys(position, word, keys),), False

    def _grouped_items(self, nodes: list[exp.Expr]) -> tuple[Expression, ...]:
        """Read keys, ROLLUP and the like among them, with commas between them."""
        items: list[Expression] = []
        for node in nodes:
            if items:
                self._places.take_sign(",")
            items.append(self._grouped_item(node))
        return tuple(items)

    def _grouped_item(self, node: exp.Expr, *, within: bool = False) -> Expression:
        """Read a key, several in brackets within ROLLUP and the like, or one of these.

        Raises:
            SqlNotAllowedError: A key is outside the allow-list.
        """
        position, word = self._places.position, _GROUPINGS.get(type(node))
        if word is None and not (within and isinstance(node, exp.Tuple)):
            return self.read(node)
        self.only(node, "expressions")
        self._places.take(*(word or "").split())
        self._places.take_sign("(")
        self._deepen()
        items: list[Expression] = []
        for each in node.expressions:
            if items:
                self._places.take_sign(",")
            items.append(self._grouped_item(each, within=word is not None))
        self._depth -= 1
        self._places.take_sign(")")
        return GroupedKeys(position, word or "", tuple(items))

    def _order_by(self, node: exp.Expr | None) -> tuple[OrderItem, ...]:
        if node is None:
            return ()
        self.only(node, "expressions")
        return self.order(node)

    def _limit(self, node: exp.Expr | None) -> tuple[int | None, type[exp.Expr] | None]:
        """Read LIMIT or FETCH: the number of rows, and which of the two it is."""
        if node is None:
            return None, None
        if isinstance(node, exp.Fetch):
            return self._fetch(node), exp.Fetch
        position = self._places.position
        if self._places.word() != "LIMIT" or not isinstance(node, exp.Limit):
            raise refuse(rules.LIMIT, position)
        self._places.take("LIMIT")
        if self._places.word() == "ALL" and arguments(node) == {"expression"}:
            self._places.take("ALL")
            return None, exp.Limit
        plain = isinstance(node.expression, exp.Literal)
        if not plain or arguments(node) != {"expression"}:
            raise refuse(rules.LIMIT, self._places.position)
        return self.rows(), exp.Limit

    def _fetch(self, node: exp.Expr) -> int:
        """Read ``FETCH FIRST n ROWS ONLY``."""
        position = self._places.take("FETCH")
        if not self._places.accept("NEXT"):
            self._places.take("FIRST")
        if not isinstance(node.args.get("count"), exp.Literal):
            raise refuse(rules.LIMIT, position)
        rows = self.rows()
        if not self._places.accept("ROW") and not self._places.accept("ROWS"):
            raise refuse(rules.LIMIT, position)
        if not self._places.accept("ONLY"):
            raise refuse(rules.LIMIT, position, hint=TIES)
        return rows


_ROWS_OF_LISTS = frozenset(
    {
        *("UNNEST", "EXPLODE", "FLATTEN", "OPENJSON", "STRING_SPLIT"),
        *("OPENROWSET", "READ_CSV", "READ_CSV_AUTO", "READ_PARQUET"),
    }
)
_TABLE_OF_LISTS = (
    "no column holds a list, and no file is read: join the declared table that has a "
    "row for each value, JOIN diagnoses AS d ON d.patient_id = e.patient_id"
)


def _no_source(node: exp.Expr, word: str, position: Position) -> SqlNotAllowedError:
    hint = _TABLE_OF_LISTS if word in _ROWS_OF_LISTS else _NO_LIST_OF_DAYS
    if isinstance(node, exp.Subquery) and node.this.args.get("joins"):
        hint = _JOIN_IN_BRACKETS
    return refuse(rules.FROM_CLAUSE, position, hint=hint)


def _no_first_row(node: exp.Expr, position: Position) -> SqlNotAllowedError:
    is_of_rows = isinstance(node.this, exp.Values)
    hint = UNDER_EACH_OTHER if is_of_rows else None
    return refuse(rules.LATERAL_JOIN, position, hint=hint)


_JOIN_IN_BRACKETS = (
    "a join in brackets is a derived table: LEFT JOIN (SELECT e.patient_id AS id FROM "
    "encounters AS e JOIN labs AS l ON l.patient_id = e.patient_id) AS x ON x.id = "
    "p.patient_id"
)
_NO_LIST_OF_DAYS = (
    "FROM encounters AS e; no list of days is needed: every period of the domain comes "
    "back, zeros too, GROUP BY DATE_TRUNC('month', admitted); of who was there on a "
    "day: COUNT(DISTINCT CASE WHEN DATE '2024-01-01' BETWEEN started AND stopped THEN "
    "patient_id END)"
)
_BRACKETS = (
    "put brackets round what belongs together: (SELECT ...) INTERSECT (SELECT ...)"
)
_SERIES = frozenset({"GENERATE_SERIES", "RANGE"})
_ARRAYS = frozenset({"GENERATE_ARRAY", "GENERATE_DATE_ARRAY"})
_NO_ALL = "write INTERSECT or EXCEPT without ALL: a unit key is in a set or is not"


def _is_union_all(node: exp.Expr) -> bool:
    return type(node) is exp.Union and not node.args.get("distinct")


def _is_distinct_on(tree: exp.Select) -> bool:
    distinct = tree.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is not None


def _series_call(node: exp.Expr) -> exp.Expr | None:
    """Return the call that makes a series, where FROM names one."""
    known = _SERIES
    call = node.this
    if isinstance(node, exp.Unnest):
        known = _ARRAYS | _SERIES
        call = node.expressions[0] if len(node.expressions) == 1 else None
    elif not isinstance(node, exp.Table):
        return None
    is_known = isinstance(call, exp.Anonymous) and call.name.upper() in known
    return call if is_known else None
