"""FROM: tables, derived tables and joins, held to PRIVACY 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Protocol

from privacy.errors import SqlNotAllowedError
from privacy.schema import Table
from query_lang.binding.aggregates import orders
from query_lang.binding.environment import Environment
from query_lang.binding.expressions import ExpressionBinder, SubqueryBinder
from query_lang.binding.scalars.row_numbers import numberings, rows_held
from query_lang.binding.scope import (
    Relation,
    RelationColumn,
    RowsAsked,
    Scope,
    UnitColumn,
    ValueColumn,
    declared_ids,
    table_columns,
    with_constancy,
)
from query_lang.binding.sources.equalities import (
    covers_key,
    equalities,
    fan_out,
    refuse_subqueries,
)
from query_lang.binding.sources.equated_lists import list_equated, with_equated_lists
from query_lang.binding.sources.first_rows import (
    NUMBER,
    first_row_of,
    is_first,
    numbering,
    or_null,
    terms_of,
    tied_inside,
)
from query_lang.binding.sources.rows_met import check_met, rows_met
from query_lang.binding.sources.ties import (
    equal_names,
    tie_by_key,
    unit_tie,
    untied,
    using_all,
    using_tie,
)
from query_lang.plans.expressions import (
    Call,
    Expression,
    FieldRef,
    Function,
    conjunction,
    restricting,
    truth_constant,
)
from query_lang.plans.nodes import (
    Compute,
    Filter,
    Item,
    Node,
    PublicJoin,
    PublicScan,
    Scan,
    UnitJoin,
    Windowed,
)
from query_lang.plans.stability import check_rows
from query_lang.rewriting.trees import conjuncts, parts
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    And,
    Between,
    Comparison,
    DerivedTable,
    InList,
    Join,
    Name,
    Not,
    NumberLiteral,
    Or,
    Position,
    Select,
    SelectItem,
    TableName,
    UnionAll,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse

Columns = Mapping[str, RelationColumn]


_SCHEMAS = frozenset({"public", "dbo"})  # that databases have where none was made
_CATALOGUES = frozenset({"information_schema", "pg_catalog", "sys"})


class JoinBinder(ExpressionBinder):
    """Binds the conditions of ON, where unit keys may be NULL-extended."""

    joins = True


class TableBinder(Protocol):
    """Binds the SELECT of a derived table or common table expression."""

    def derived(
        self, tree: Select | UnionAll, environment: Environment
    ) -> tuple[Node, Columns]:
        """Return its plan and its columns by name."""
        ...

    def columns(
        self, items: Sequence[SelectItem], scope: Scope, environment: Environment
    ) -> tuple[Columns, tuple[Item, ...]]:
        """Return the columns of a list over a scope, and what has to be computed."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """What FROM gives: a private node, or one public table, and its names."""

    node: Node | PublicScan
    scope: Scope


@dataclass(slots=True)
class SourceBinder:
    """Binds FROM clauses."""

    environment: Environment
    tables: TableBinder
    subqueries: SubqueryBinder

    def bind(self, tree: Select, outer: Scope | None = None) -> Source:
        """Bind FROM and its joins.

        Args:
            tree: The SELECT whose FROM it is.
            outer: The scope around it, for EXISTS; ON cannot read it.

        Raises:
            QueryError: A name or type is wrong, or a join breaks a rule.
        """
        first, joins = self._private_first(tree)
        node, relation = self._item(first)
        wheres = _wheres(tree, joins)
        if not isinstance(node, PublicScan):
            node = self._numbered(node, relation, wheres)
        scope = Scope([relation], outer, gone=frozenset(tree.gone))
        asked = RowsAsked.by(tree)
        for join in joins:
            if isinstance(node, PublicScan):
                raise refuse(rules.PUBLIC_FIRST, first.position)
            joined = self._join(node, scope, join, asked, wheres)
            if join.is_of_one and joined.rows_per_unit != node.rows_per_unit:
                raise refuse(rules.SCALAR_SUBQUERY, join.position, hint=_SEVERAL_ROWS)
            node = joined
            check_rows(node.rows_per_unit, join.position)
        return Source(node, scope)

    def _private_first(
        self, tree: Select
    ) -> tuple[TableName | DerivedTable, Sequence[Join]]:
        """Turn ``public JOIN private`` round: an INNER join has no order."""
        if not tree.joins or not self._is_public(tree.source):
            return tree.source, tree.joins
        join = tree.joins[0]
        if join.kind != "inner" or self._is_public(join.source):
            raise refuse(rules.PUBLIC_FIRST, tree.source.position)
        turned = replace(join, source=tree.source)
        return join.source, (turned, *tree.joins[1:])

    def _is_public(self, source: TableName | DerivedTable) -> bool:
        if isinstance(source, DerivedTable):
            return False
        if source.name in self.environment.common_tables:
            return False
        table = self.environment.dataset.tables.get(source.name)
        return table is not None and table.is_public

    # -- one item -------------------------------------------------------------

    def _item(
        self, source: TableName | DerivedTable
    ) -> tuple[Node | PublicScan, Relation]:
        self.environment.count_relation(source.position)
        if isinstance(source, DerivedTable):
            node, columns = self.tables.derived(source.query, self.environment)
            return node, self._made(source.alias, node, columns)
        common = self.environment.common_tables.get(source.name)
        if common is None:
            return self._table(source)
        known = dict(self.environment.common_tables)
        names = list(known)
        before = {name: known[name] for name in names[: names.index(source.name)]}
        node, columns = self.tables.derived(
            common.query, self.environment.within(before)
        )
        return node, self._made(source.alias or source.name, node, columns)

    def _made(self, name: str, node: Node, columns: Columns) -> Relation:
        """Return what a derived table is called by, and whose its rows are."""
        tables = self.environment.dataset.tables.values()
        units = {t.unit_column for t in tables if t.unit_column is not None}
        unit = units.pop() if len(units) == 1 else "unit key"
        return Relation(name, columns, owner=UnitColumn(node.owner), unit=unit)

    def _table(self, source: TableName) -> tuple[Node | PublicScan, Relation]:
        dataset = self.environment.dataset
        if source.schema not in {None, *_SCHEMAS, dataset.name}:
            detail = f"this dataset is called {dataset.name}, not {source.schema}"
            hint = f"write the table's declared name alone: FROM {source.name}"
            if source.schema in _CATALOGUES:
                hint = "tables and columns stand on the dataset's page"
            raise refuse(
                rules.QUALIFIED_TABLE, source.position, detail=detail, hint=hint
            )
        table = dataset.tables.get(source.name)
        if table is None:
            raise self._unknown_table(source)
        name = source.alias or source.name
        if table.is_public:
            scan = public_scan(table, self.environment)
            columns = table_columns(
                table, unit_slot=None, first_slot=scan.first_slot, public=True
            )
            return scan, Relation(name, columns)
        private = self._scan(table, source.position)
        columns = table_columns(
            table,
            unit_slot=private.owner,
            first_slot=private.first_slot,
            ids=declared_ids(dataset),
        )
        key = tuple(each for each in table.key if each != table.unit_column)
        owner, unit = UnitColumn(private.owner), table.unit_column or ""
        relation = Relation(name, columns, key=key, owner=owner, unit=unit)
        if private.rows_per_unit == 1:
            relation = with_constancy(relation, constant=True)
        return private, relation

    def _scan(self, table: Table, position: Position) -> Scan:
        declared = table.max_rows_per_unit
        if declared is None or declared < 1:
            raise refuse(rules.ROW_BOUND_NEEDED, position)
        asked = self.environment.table_bounds.get(table.name)
        lower = asked if asked is not None and asked < declared else None
        if lower is not None:
            self.environment.bounded_tables[table.name] = lower
        return Scan(
            table=table,
            owner=self.environment.new_slot(),
            hash_slot=self.environment.new_slot(),
            first_slot=self.environment.new_slots(max(1, len(table.columns))),
            declared_rows_per_unit=declared,
            max_rows=lower,
        )

    def _unknown_table(self, source: TableName) -> SqlNotAllowedError:
        names = [*self.environment.common_tables, *self.environment.dataset.tables]
        near = get_close_matches(source.name, names, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        return refuse(
            rules.UNKNOWN_TABLE,
            source.position,
            detail=f"no table is called {source.name}",
            hint=f"{meant}tables: {', '.join(names)}",
        )

    # -- joins ----------------------------------------------------------------

    def _join(  # noqa: PLR0911 - an arm a kind
        self,
        left: Node,
        scope: Scope,
        join: Join,
        asked: RowsAsked,
        wheres: Sequence[Tree],
    ) -> Node:
        query = join.source.query if isinstance(join.source, DerivedTable) else None
        if join.is_of_first and isinstance(query, Select) and query.limit is None:
            return self._rows_met_join(left, scope, join, query)
        if join.is_of_first:
            return self._first_row_join(left, scope, join)
        right, relation = self._item(join.source)
        self._refuse_twice(
            relation.name, [r.name for r in scope.relations], join.source
        )
        if join.is_natural:
            join = using_all(scope, relation, join)
        if isinstance(right, PublicScan):
            return self._public_join(left, right, (scope, relation), join)
        own, later = conjuncts(join.condition), wheres
        if join.kind == "left":  # where there is no row, WHERE reads NULL
            later = [tree for tree in wheres if _is_never_true_of_null(tree)]
        right = self._numbered(right, relation, [*later, *own])
        alone = join.kind != "left" or join.is_of_one
        if alone or not asked.is_about(relation, join.using):
            return self._unit_join(left, right, (scope, relation), join)
        there = truth_constant(truth=True)
        row = FieldRef(self.environment.new_slot(), there.facts)
        right = Compute(right, ((row.slot, there),))
        node = self._unit_join(left, right, (scope, relation.with_row(row)), join)
        if not asked.is_without(relation, join.using):
            return node
        row = replace(row, facts=replace(row.facts, nullable=True, constant=False))
        missing = Call(Function.IS_NULL, (row,), replace(there.facts, constant=False))
        return _settled(Filter(node, missing, left.rows_per_unit), scope)

    def _numbered(
        self, node: Node, relation: Relation, conditions: Sequence[Tree]
    ) -> Node:
        """Hold the row numbers of an item of FROM to what WHERE or its ON says of them.

        So that joins do not multiply rows that are left out. Rows that a LEFT join then
        finds none for have NULL there: only what WHERE says of no NULL is held before
        it.
        """
        numbers = numberings(relation)
        own = [tree for tree in conditions if numbers and _is_of(tree, relation)]
        if not own:
            return node
        rows = ExpressionBinder(Scope([relation]), self.environment, self.subqueries)
        held = restricting(rows.condition(tree) for tree in own)
        condition = conjunction(held) if held else None
        most = None if condition is None else rows_held(condition, numbers)
        if condition is None or most is None:
            return node
        return Filter(node, condition, most)

    def _first_row_join(self, left: Node, scope: Scope, join: Join) -> Node:
        """Join each row so far with the first of those that it meets.

        What is selected and ordered by is of the inner table alone, and computed
        before the join, so that it is NULL where there is no row.

        Proof: docs/proofs/numbering.md.
        """
        query = first_row_of(join)
        right, relation, tie = self._met(query, scope, join)
        own = Scope([relation])
        columns, made = self.tables.columns(query.items, own, self.environment)
        terms = orders(
            terms_of(query, columns),
            ExpressionBinder(own, self.environment, self.subqueries),
        )
        keys = [(self.environment.new_slot(), term.value) for term in terms]
        right = Compute(right, (*made, *keys))
        rid = FieldRef(self.environment.new_slot(), NUMBER)
        node = self._pairs(left, right, (scope, relation), tie, rid)
        number = FieldRef(self.environment.new_slot(), NUMBER)
        order = tuple(
            replace(term, value=or_null(slot, term.value.facts))
            for term, (slot, _) in zip(terms, keys, strict=True)
        )
        node = Windowed(node, (numbering(number.slot, (rid,), order),))
        node = Filter(node, is_first(number), left.rows_per_unit)
        shown = Relation(join.source.alias or "", columns)
        if join.kind == "left":
            shown = shown.extended_with_null(constant=False)
        scope.relations.append(with_constancy(shown, constant=False))
        return _settled(node, scope)

    def _rows_met_join(
        self, left: Node, scope: Scope, join: Join, query: Select
    ) -> Node:
        """Join each row so far with aggregates of the rows that it meets.

        There is one row of them for each: where it meets none, COUNT is 0.

        Proof: docs/proofs/numbering.md.
        """
        check_met(query, join)
        join = replace(join, kind="left")
        right, relation, tie = self._met(query, scope, join)
        rows = ExpressionBinder(Scope([relation]), self.environment, self.subqueries)
        rid = FieldRef(self.environment.new_slot(), NUMBER)
        found = rows_met(query, rows, rid, right.rows_per_unit)
        right = Compute(right, tuple(found.made))
        node = self._pairs(left, right, (scope, relation), tie, rid)
        number = FieldRef(self.environment.new_slot(), NUMBER)
        node = Windowed(node, (numbering(number.slot, (rid,), ()), *found.items))
        node = Filter(node, is_first(number), left.rows_per_unit)
        shown = Relation(join.source.alias or "", found.columns)
        scope.relations.append(with_constancy(shown, constant=False))
        return _settled(node, scope)

    def _met(
        self, query: Select, scope: Scope, join: Join
    ) -> tuple[Node, Relation, Join]:
        """Return the one table that LATERAL reads, and how its rows are met."""
        right, relation = self._item(query.source)
        if isinstance(right, PublicScan) or query.where is None:
            raise refuse(rules.LATERAL_JOIN, join.position)
        names = [known.name for known in scope.relations]
        self._refuse_twice(relation.name, names, query.source)
        self._refuse_twice(join.source.alias or "", names, join.source)
        where = tied_inside(query.where, relation, scope)
        tie = Join(join.kind, query.source, where, (), join.position)
        return right, relation, tie

    def _pairs(
        self,
        left: Node,
        right: Node,
        names: tuple[Scope, Relation],
        tie: Join,
        number: FieldRef,
    ) -> Node:
        """Number the rows so far, and join each with those of LATERAL that it meets."""
        scope, relation = names
        left = Windowed(left, (numbering(number.slot, (), ()),))
        inner = Scope([*scope.relations], gone=scope.gone)
        return self._unit_join(left, right, (inner, relation), tie)

    def _refuse_twice(
        self, name: str, names: Sequence[str], source: TableName | DerivedTable
    ) -> None:
        if name in names:
            raise refuse(
                rules.AMBIGUOUS_NAME,
                source.position,
                detail=f"two items of FROM are called {name}",
                hint=f"give one an alias: {name} AS {name}_b",
            )

    def _unit_join(
        self, left: Node, right: Node, names: tuple[Scope, Relation], join: Join
    ) -> Node:
        scope, relation = names
        if join.using:
            found, trees = using_tie(scope, relation, join)
        else:
            found, trees = unit_tie(scope, relation, join)
        tie = found or tie_by_key(scope, relation, trees, self.environment)
        if tie is None:
            raise untied(scope, relation, join, trees, self.environment)
        inner = Scope([*scope.relations, relation], gone=scope.gone)
        binder = JoinBinder(inner, self.environment, self.subqueries)
        conditions = restricting(binder.condition(tree) for tree in trees)
        node = UnitJoin(
            left,
            right,
            tie[0].slot,
            tie[1].slot,
            outer=join.kind == "left",
            condition=_condition(conditions) if join.kind == "left" else None,
            left_by_key=join.kind == "inner" and covers_key(left, right, conditions),
            right_by_key=covers_key(right, left, conditions),
        )
        merged = replace(relation, merged=join.using)
        if join.kind == "left":
            refuse_subqueries(conditions, join.position)
            tied = not any(unit.nullable for unit in tie)
            constant = tied and all(c.facts.constant for c in conditions)
            merged = merged.extended_with_null(constant=constant)
        scope.relations.append(merged)
        if join.kind == "inner" and conditions:
            return _settled(Filter(node, conjunction(conditions)), scope)
        return _settled(node, scope)

    def _public_join(
        self,
        left: Node,
        right: PublicScan,
        names: tuple[Scope, Relation],
        join: Join,
    ) -> Node:
        scope, relation = names
        inner = Scope([*scope.relations, relation], gone=scope.gone)
        binder = JoinBinder(inner, self.environment, self.subqueries)
        if join.condition is None:
            trees = equal_names(join.using, scope, relation, join)
        else:
            trees = conjuncts(join.condition)
        conditions = restricting(binder.condition(tree) for tree in trees)
        most, lookup_constant = fan_out(left, right, conditions)
        if most is None:
            raise _without_key(right.table, join.position)
        relation = with_equated_lists(relation, conditions)
        constant = lookup_constant and most == 1
        if join.kind == "left":
            constant = constant and all(c.facts.constant for c in conditions)
            relation = relation.extended_with_null(constant=True)
        merged = replace(relation, merged=join.using)
        scope.relations.append(with_constancy(merged, constant=constant))
        if join.kind == "left":
            refuse_subqueries(conditions, join.position)
            met: tuple[Expression, ...] = tuple(conditions)
            rest: tuple[Expression, ...] = ()
        else:
            list_equated(scope.relations, conditions)
            met, rest = equalities(conditions)
        node: Node = PublicJoin(
            left, right, join.kind == "left", conjunction(met), most
        )
        if rest:
            node = Filter(node, conjunction(rest))
        return _settled(node, scope)


def _without_key(table: Table, position: Position) -> SqlNotAllowedError:
    known = ", ".join(table.key)
    undeclared = "none is declared: ask the custodian to declare key"
    detail = (
        f"a join with {table.name} must equate its whole key ({known or undeclared}), "
        "or columns of a declared fan-out"
    )
    return refuse(rules.PUBLIC_JOIN_KEY, position, detail=detail)


_SEVERAL_ROWS = (
    "several rows may belong to one: take the first, with ORDER BY taken DESC LIMIT 1 "
    "in the brackets, or an aggregate, MAX(value)"
)


def _wheres(tree: Select, joins: Sequence[Join]) -> list[Tree]:
    """Return what WHERE says of joined rows; ON of an INNER join says the same."""
    if not joins:
        return []
    inner = [join.condition for join in joins if join.kind == "inner"]
    said = [tree.where, *inner]
    return [part for each in said for part in conjuncts(each)]


_OF_NO_NULL = (And, Or, Not, Comparison, InList, Between, Name, NumberLiteral)


def _is_never_true_of_null(tree: Tree) -> bool:
    """Whether a condition on a row number is unknown where that is NULL."""
    return all(isinstance(part, _OF_NO_NULL) for part in parts(tree))


def _is_of(tree: Tree, relation: Relation) -> bool:
    """Whether a condition compares a row number of a relation with literals."""
    found = [*parts(tree)]
    names = [part for part in found if isinstance(part, Name)]
    if not names or any(isinstance(part, Select) for part in found):
        return False
    columns = [relation.columns.get(name.name) for name in names]
    return all(name.qualifier == relation.name for name in names) and all(
        isinstance(column, ValueColumn) and column.numbering for column in columns
    )


def public_scan(table: Table, environment: Environment) -> PublicScan:
    """Return a scan of a public table over new slots."""
    row_slot = environment.new_slot()
    first = environment.new_slots(max(1, len(table.columns)))
    return PublicScan(table, row_slot, first)


def _settled(node: Node, scope: Scope) -> Node:
    """Note where one row a unit is left: all its columns are constant then."""
    if node.rows_per_unit == 1:
        scope.settle()
    return node


def _condition(conditions: Sequence[Expression]) -> Expression | None:
    return conjunction(tuple(conditions)) if conditions else None
