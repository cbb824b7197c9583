"""Everything below the top SELECT: derived tables, UNION ALL, IN and EXISTS."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from privacy.errors import QueryError, UnknownColumnError
from privacy.schema import ColumnType, Domain
from query_lang.binding.aggregates import (
    GroupedBinder,
    Rollups,
    WindowBinder,
    holds_aggregate,
)
from query_lang.binding.comparisons import check_comparable
from query_lang.binding.environment import Environment
from query_lang.binding.expressions import UNNAMED, ExpressionBinder, describe
from query_lang.binding.names import output_names
from query_lang.binding.scalars.ids import add_unit, named_in, never_null
from query_lang.binding.scalars.narrowing import Conditions, named_by
from query_lang.binding.scalars.row_numbers import numberings, rows_held
from query_lang.binding.scope import (
    AverageColumn,
    Relation,
    RelationColumn,
    Scope,
    UnitColumn,
    ValueColumn,
    with_constancy,
    written_out,
)
from query_lang.binding.sources.from_clause import Columns, Source, SourceBinder
from query_lang.binding.sources.ties import by_unit_too, tie_around
from query_lang.plans.domains import longest_of
from query_lang.plans.expressions import (
    AverageRef,
    Constant,
    ExistsInQuery,
    Expression,
    Facts,
    FieldRef,
    HalfRange,
    UnitInQuery,
    ValueInQuery,
    conjunction,
    holds_subquery,
    is_constant_truth,
    restricting,
)
from query_lang.plans.literals import LITERALS
from query_lang.plans.nodes import (
    Compute,
    Filter,
    Identity,
    Item,
    Node,
    PublicFilter,
    PublicScan,
    Rollup,
    Union,
    UnionPart,
    Windowed,
    WindowItem,
)
from query_lang.plans.sensitivity import groups_within
from query_lang.plans.stability import check_rows
from query_lang.rewriting.correlated import as_exists
from query_lang.rewriting.trees import conjuncts, output_of, parts
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    Comparison,
    CountRows,
    DerivedTable,
    Exists,
    InQuery,
    Name,
    NumberLiteral,
    Position,
    Select,
    SelectItem,
    Star,
    TableName,
    UnionAll,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse, unknown_column


class QueryBinder:
    """Binds SELECTs below the top; holds nothing, so that one serves a whole query."""

    # -- derived tables -------------------------------------------------------

    def derived(
        self, tree: Select | UnionAll, environment: Environment
    ) -> tuple[Node, Columns]:
        """Return the plan and the columns of a derived table.

        Raises:
            QueryError: A name or type is wrong, or the SELECT breaks PRIVACY 1.
        """
        if isinstance(tree, UnionAll):
            return self._union(tree, environment)
        node, columns = self._select(tree, environment)
        check_rows(node.rows_per_unit, tree.position)
        if node.rows_per_unit == 1:
            return node, with_constancy(Relation("", columns), constant=True).columns
        return node, columns

    def _select(
        self, tree: Select, environment: Environment
    ) -> tuple[Node, dict[str, RelationColumn]]:
        if tree.order_by or tree.limit is not None:
            rule = rules.ORDER_BY if tree.order_by else rules.LIMIT
            raise refuse(rule, tree.position)
        node, scope = self.filtered(tree, environment)
        tree = replace(tree, items=written_out(tree.items, scope))
        rows = ExpressionBinder(scope, environment, self)
        if tree.group_by or tree.distinct:
            return self._grouped(tree, node, rows)
        if tree.having is not None:
            raise refuse(rules.HAVING, tree.having.position)
        return self._projected(tree, node, rows)

    def columns(
        self, items: Sequence[SelectItem], scope: Scope, environment: Environment
    ) -> tuple[Columns, tuple[Item, ...]]:
        """Return the columns of a list over a scope, and what has to be computed."""
        rows = ExpressionBinder(scope, environment, self)
        return _columns(written_out(items, scope), rows, Conditions())

    def filtered(self, tree: Select, environment: Environment) -> tuple[Node, Scope]:
        """Bind FROM and WHERE over private tables.

        Raises:
            QueryError: A name or type is wrong, or a join breaks a rule.
        """
        source = self._bound_from(tree, environment, None)
        if isinstance(source.node, PublicScan):
            raise refuse(rules.PRIVATE_TABLE_NEEDED, tree.source.position)
        node: Node = source.node
        if tree.where is not None:
            binder = ExpressionBinder(source.scope, environment, self)
            try:
                condition = binder.condition(tree.where)
            except UnknownColumnError as error:
                raise _as_having(tree, error) from None
            if not is_constant_truth(condition, truth=True):
                first = rows_held(condition, _numberings(tree, source.scope))
                node = Filter(node, condition, first)
            if node.rows_per_unit == 1:
                source.scope.settle()
        return node, source.scope

    def _bound_from(
        self, tree: Select, environment: Environment, outer: Scope | None
    ) -> Source:
        """Bind FROM; names that were read before tables were known are held to it."""
        source = SourceBinder(environment, self, self).bind(tree, outer)
        _check_names(tree, source.scope)
        return source

    def _projected(
        self, tree: Select, node: Node, rows: ExpressionBinder
    ) -> tuple[Node, dict[str, RelationColumn]]:
        binder = WindowBinder(rows, node)
        columns, made = _columns(tree.items, binder, _where(tree, node, rows))
        if binder.items:
            node, items = _without_subqueries(node, binder.items.values(), rows)
            node = Windowed(node, items)
        copied = {
            slot: value.slot for slot, value in made if isinstance(value, FieldRef)
        }
        numbered = binder.numberings | _numberings(tree, rows.scope)
        for name, column in columns.items():
            if isinstance(column, ValueColumn):
                own = copied.get(column.slot, column.slot)  # a copy numbers rows too
                columns[name] = replace(column, numbering=numbered.get(own))
        return (Compute(node, made) if made else node), columns

    # -- GROUP BY -------------------------------------------------------------

    def _grouped(
        self, tree: Select, node: Node, rows: ExpressionBinder
    ) -> tuple[Node, dict[str, RelationColumn]]:
        if tree.is_of_rows:
            tree = by_unit_too(tree, rows.scope)
        keys, has_unit = _group_keys(tree, rows, never_null(node))
        if not has_unit:
            rule = rules.DISTINCT_BELOW if tree.distinct else rules.GROUP_BY_UNIT
            _, more, said = rule.hint.partition("; ")
            unit = rows.scope.unit_name()
            hint = f"GROUP BY {unit}, ...{more}{said}"
            word = "SELECT DISTINCT" if tree.distinct else "GROUP BY"
            by, place = f"{word} {unit}, ...", (rows.scope, rows.environment)
            hint = add_unit(_keys(tree, rows), *place, by, each=None) or hint
            raise refuse(rule, tree.position, hint=hint)
        rollups = Rollups(rows, node.rows_per_unit)
        where = _where(tree, node, rows)
        listed = [replace(key, facts=named_by(where, key)) for key in keys]
        slots = zip(keys.values(), listed, strict=True)
        shown = [FieldRef(slot, key.facts) for slot, key in slots]
        binder = GroupedBinder(rows, rollups, dict(zip(keys, shown, strict=True)))
        columns, made = _columns(tree.items, binder, where)
        having = None if tree.having is None else binder.condition(tree.having)
        own = node.identity
        environment = rows.environment
        least = Identity(
            *(
                tuple(environment.new_slot() for _ in slots)
                for slots in (own.hashes, own.parts, own.public_rows)
            )
        )
        grouped: Node = Rollup(
            node,
            tuple((slot, key) for key, slot in keys.items()),
            rollups.items(),
            least,
            groups_within(node, listed),
        )
        for item, (name, column) in zip(tree.items, columns.items(), strict=True):
            if isinstance(column, UnitColumn):
                if column.nullable:
                    raise refuse(rules.NULLABLE_UNIT_KEY, item.position)
                columns[name] = UnitColumn(node.owner)
        if having is not None:
            grouped = Filter(grouped, having)
        return (Compute(grouped, made) if made else grouped), columns

    # -- UNION ALL ------------------------------------------------------------

    def _union(self, tree: UnionAll, environment: Environment) -> tuple[Node, Columns]:
        bound = [self.derived(part, environment) for part in tree.parts]
        parts = [(node, list(columns.values())) for node, columns in bound]
        _check_union(tree, [columns for _, columns in parts])
        names = list(bound[0][1])
        first = parts[0][1]
        owner = environment.new_slot()
        columns: dict[str, RelationColumn] = {}
        made: list[int] = []
        items: list[list[Expression]] = [[] for _ in parts]
        for place, (name, column) in enumerate(zip(names, first, strict=True)):
            if isinstance(column, UnitColumn):
                columns[name] = UnitColumn(owner)
                continue
            values = [c[place] for _, c in parts]
            refs = [
                FieldRef(v.slot, v.facts) for v in values if isinstance(v, ValueColumn)
            ]
            slot = environment.new_slot()
            made.append(slot)
            for chosen, ref in zip(items, refs, strict=True):
                chosen.append(ref)
            known = [ref.facts for ref in refs]
            domain = environment.sizes.combined(known, tree.position)
            is_id = all(isinstance(v, ValueColumn) and v.is_id for v in values)
            columns[name] = ValueColumn(slot, _union_facts(known, domain), is_id=is_id)
        node = Union(
            tuple(
                UnionPart(part, tuple(chosen))
                for (part, _), chosen in zip(parts, items, strict=True)
            ),
            tuple(made),
            owner,
            _longest_identity([part for part, _ in parts], environment),
            environment.new_slot(),
        )
        check_rows(node.rows_per_unit, tree.position)
        return node, columns

    # -- IN (SELECT ...) ------------------------------------------------------

    def in_query(self, tree: InQuery, binder: ExpressionBinder) -> Expression:
        """Bind ``value IN (SELECT ...)`` over private or public tables.

        Raises:
            QueryError: It is not tied to the unit, or a name or type is wrong.
        """
        environment = binder.environment
        if _is_public(tree.query, environment):
            return self._in_public(tree, tree.query, binder)
        value = tree.value
        column = binder.scope.find(value) if isinstance(value, Name) else None
        if isinstance(column, ValueColumn) and column.is_id:
            return self._in_by_id(tree, column, binder)
        if not isinstance(column, UnitColumn):
            hint = _beside_unit(tree, binder.scope, environment)
            raise refuse(rules.IN_QUERY_UNIT, tree.position, hint=hint)
        if column.nullable:
            raise refuse(rules.NULLABLE_UNIT_KEY, tree.position)
        exists = as_exists(tree, binder.scope)
        if exists is not None:
            return self.exists(exists, binder)
        node, columns = self.derived(tree.query, environment)
        found = list(columns.values())
        if len(found) != 1 or not isinstance(found[0], UnitColumn):
            raise refuse(rules.IN_QUERY_UNIT, tree.query.position)
        if found[0].nullable:
            raise refuse(rules.NULLABLE_UNIT_KEY, tree.query.position)
        unit = FieldRef(column.slot, Facts(ColumnType.INTEGER, constant=True))
        facts = Facts(ColumnType.BOOLEAN, nullable=False, constant=True)
        return UnitInQuery(unit, node, facts)

    def _in_by_id(
        self, tree: InQuery, column: ValueColumn, binder: ExpressionBinder
    ) -> Expression:
        """Bind IN of a column that refers to a declared key: EXISTS of a unit's row.

        Both are the same where no value is NULL, and where unknown counts as false.
        """
        environment, query = binder.environment, tree.query
        around = column.facts.nullable
        exists = as_exists(tree, binder.scope)
        if exists is not None:
            missing = self._may_be_null(tree, binder)
            _check_known(tree, binder, nullable=around or missing)
            return self.exists(exists, binder)
        environment.count_exists(tree.position)
        node, columns = self.derived(query, environment)
        if len(columns) != 1:
            raise refuse(rules.IN_QUERY_ONE, query.position)
        (found,) = columns.values()
        if not isinstance(found, ValueColumn):
            raise refuse(rules.IN_QUERY_UNIT, query.position)
        missing = found.facts.nullable and found.slot not in never_null(node)
        _check_known(tree, binder, nullable=around or missing)
        owner = UnitColumn(node.owner)
        unit = binder.scope.unit_name()
        listed = Relation(_LISTED, {_LISTED: found}, owner=owner, unit=unit)
        inner = Scope([listed], binder.scope)
        named = Name(_LISTED, _LISTED, tree.position)
        equal = Comparison("=", named, tree.value, tree.position)
        tie = tie_around(inner, [equal], environment)
        if tie is None:
            raise refuse(rules.IN_QUERY_UNIT, tree.position)
        condition = ExpressionBinder(inner, environment, self).condition(equal)
        return _exists(node, ((tie[1].slot, tie[0].slot),), condition, inner)

    def _may_be_null(self, tree: InQuery, binder: ExpressionBinder) -> bool:
        """Whether what a subquery selects may be NULL, which reads the rows around.

        FROM is bound twice for it: so of tables alone, or each level would double.
        """
        query, apart = tree.query, binder.environment.apart()
        if isinstance(query, UnionAll):
            return True
        known = binder.environment.common_tables
        if any(
            isinstance(part, DerivedTable | Select)
            or (isinstance(part, TableName) and part.name in known)
            for part in parts((query.source, query.joins, query.items))
        ):
            return True
        scope = self._bound_from(query, apart, binder.scope).scope
        value = query.items[0].expression
        return ExpressionBinder(scope, apart, self).value(value).facts.nullable

    def _in_public(
        self, tree: InQuery, query: Select | UnionAll, binder: ExpressionBinder
    ) -> Expression:
        if isinstance(query, UnionAll):
            raise refuse(rules.PUBLIC_QUERY, query.position)
        if isinstance(tree.value, LITERALS):
            raise refuse(rules.OPERAND, tree.value.position)
        value = binder.value(tree.value)
        source, rows = self._public(query, binder.environment, None)
        if len(query.items) != 1:
            raise refuse(rules.IN_QUERY_ONE, query.position)
        (item,) = query.items
        found = rows.value(item.expression)
        shown = describe(tree.value), describe(item.expression)
        check_comparable(value, found, shown, item.expression)
        node: PublicScan | PublicFilter = source
        if query.where is not None:
            node = PublicFilter(source, rows.condition(query.where))
        facts = Facts(
            ColumnType.BOOLEAN,
            nullable=value.facts.nullable or found.facts.nullable,
            constant=value.facts.constant,
        )
        return ValueInQuery(value, node, found, facts)

    def _public(
        self, query: Select, environment: Environment, outer: Scope | None
    ) -> tuple[PublicScan, ExpressionBinder]:
        """Bind FROM of a subquery over one public table."""
        if query.group_by or query.having is not None or query.joins:
            raise refuse(rules.PUBLIC_QUERY, query.position)
        source = self._bound_from(query, environment, outer)
        if not isinstance(source.node, PublicScan):
            raise refuse(rules.PUBLIC_QUERY, query.position)
        return source.node, ExpressionBinder(source.scope, environment, self)

    # -- EXISTS ---------------------------------------------------------------

    def exists(self, tree: Exists, binder: ExpressionBinder) -> Expression:
        """Bind ``EXISTS (SELECT ... WHERE inner.unit = outer.unit AND ...)``.

        Raises:
            QueryError: It is not tied to the outer row by the unit key, it aggregates,
                or a name or type is wrong.
        """
        binder.environment.count_exists(tree.position)
        query = tree.query
        if isinstance(query, UnionAll) or query.group_by or query.having is not None:
            raise refuse(rules.EXISTS_FORM, tree.position)
        if query.distinct:
            raise refuse(rules.EXISTS_FORM, tree.position)
        environment = binder.environment
        if _is_public(query, environment):
            scan, rows = self._public(query, environment, binder.scope)
            _check_exists_items(query, rows)
            wheres = [] if query.where is None else [rows.condition(query.where)]
            kept = restricting(wheres)
            condition = conjunction(kept) if kept else None
            return _exists(scan, (), condition, rows.scope)
        source = self._bound_from(query, environment, binder.scope)
        if isinstance(source.node, PublicScan):
            raise refuse(rules.PUBLIC_QUERY, query.position)
        rows = ExpressionBinder(source.scope, environment, self)
        _check_exists_items(query, rows)
        ties, rest = _ties(query, source.scope)
        tie = None if ties else tie_around(source.scope, rest, environment)
        if tie is not None:
            ties = ((tie[1].slot, tie[0].slot),)
        if not ties:
            hint = add_unit(
                named_in(rest), source.scope, environment, _tied(source.scope)
            )
            raise refuse(rules.SUBQUERY_TIE, query.position, hint=hint)
        conditions = restricting(rows.condition(part) for part in rest)
        condition = conjunction(conditions) if conditions else None
        return _exists(source.node, ties, condition, source.scope)


def _exists(
    node: Node | PublicScan,
    ties: tuple[tuple[int, int], ...],
    condition: Expression | None,
    scope: Scope,
) -> ExistsInQuery:
    facts = Facts(ColumnType.BOOLEAN, nullable=False, constant=scope.outer_constant)
    return ExistsInQuery(node, ties, condition, tuple(sorted(scope.outer_slots)), facts)


def _check_exists_items(query: Select, rows: ExpressionBinder) -> None:
    for item in query.items:
        tree = item.expression
        if isinstance(tree, AggregateCall | CountRows):
            raise refuse(rules.EXISTS_FORM, item.position)
        if isinstance(tree, Star):
            list(rows.scope.starred(tree))  # what it names is there
        elif isinstance(tree, Name):
            rows.scope.find(tree)
        elif not isinstance(tree, LITERALS):
            rows.value(tree)


def _ties(
    query: Select, scope: Scope
) -> tuple[tuple[tuple[int, int], ...], list[Tree]]:
    """Part WHERE into ``inner.unit = outer.unit`` and the rest."""
    ties: list[tuple[int, int]] = []
    rest: list[Tree] = []
    for part in conjuncts(query.where):
        tie = _tie(part, scope)
        if tie is None:
            rest.append(part)
        else:
            ties.append(tie)
    return tuple(ties), rest


def _tie(tree: Tree, scope: Scope) -> tuple[int, int] | None:  # noqa: PLR0911 - an arm a form
    if not isinstance(tree, Comparison) or tree.operator != "=":
        return None
    sides = (tree.left, tree.right)
    inner: list[UnitColumn] = []
    outer: list[UnitColumn] = []
    for side in sides:
        if not isinstance(side, Name):
            return None
        here = scope.find_here(side)
        column = here or scope.find(side)
        if not isinstance(column, UnitColumn):
            return None
        (outer if here is None else inner).append(column)
    if len(inner) != 1 or len(outer) != 1:
        return None
    if inner[0].nullable or outer[0].nullable:
        raise refuse(rules.NULLABLE_UNIT_KEY, tree.position)
    return inner[0].slot, outer[0].slot


def _without_subqueries(
    node: Node, items: Iterable[WindowItem], rows: ExpressionBinder
) -> tuple[Node, tuple[WindowItem, ...]]:
    """Compute the keys of windows that hold subqueries before the windows.

    A subquery may have windows of its own, which engines refuse within windows' keys.
    """
    made: dict[Expression, int] = {}

    def key(expression: Expression) -> Expression:
        if not holds_subquery(expression):
            return expression
        if expression not in made:
            made[expression] = rows.environment.new_slot()
        return FieldRef(made[expression], expression.facts)

    changed = tuple(
        replace(
            item,
            partition=tuple(map(key, item.partition)),
            order=tuple(replace(one, value=key(one.value)) for one in item.order),
        )
        for item in items
    )
    if made:
        node = Compute(node, tuple((slot, of) for of, slot in made.items()))
    return node, changed


def _is_public(query: Select | UnionAll, environment: Environment) -> bool:
    """Whether all tables of a subquery's FROM are public."""
    if isinstance(query, UnionAll):
        return all(_is_public(part, environment) for part in query.parts)
    items = [query.source, *(join.source for join in query.joins)]
    for item in items:
        name = getattr(item, "name", None)
        if name is None or name in environment.common_tables:
            return False
        table = environment.dataset.tables.get(name)
        if table is None or not table.is_public:
            return False
    return True


def _numberings(tree: Select, scope: Scope) -> dict[int, int]:
    """Return the row numbers of the one item of FROM."""
    return {} if tree.joins else numberings(scope.relations[0])


def _where(tree: Select, node: Node, rows: ExpressionBinder) -> Conditions:
    """Return the WHERE of a SELECT, which is true of each of its rows."""
    if tree.where is None or not isinstance(node, Filter):
        return Conditions()
    return Conditions((node.condition,), rows.environment.tries)


def _columns(
    items: Sequence[SelectItem], binder: ExpressionBinder, where: Conditions
) -> tuple[dict[str, RelationColumn], tuple[Item, ...]]:
    """Bind a SELECT list below the top: its columns, and what has to be computed.

    A text without a list keeps the one that WHERE names.
    """
    columns: dict[str, RelationColumn] = {}
    made: list[Item] = []
    shown: set[int] = set()
    for name, item in zip(output_names(items), items, strict=True):
        column = _column(item, binder, made, where)
        if isinstance(column, ValueColumn):
            if column.slot in shown:  # two columns stay two, whatever they hold
                again = FieldRef(column.slot, column.facts)
                column = replace(column, slot=binder.environment.new_slot())
                made.append((column.slot, again))
            shown.add(column.slot)
        columns[name] = column
    return columns, tuple(made)


def _column(
    item: SelectItem,
    binder: ExpressionBinder,
    made: list[Item],
    where: Conditions,
) -> RelationColumn:
    tree = item.expression
    is_id = False
    if isinstance(tree, Name):
        column = binder.scope.find(tree)
        if isinstance(column, UnitColumn):
            return column
        is_id = isinstance(column, ValueColumn) and column.is_id
    value = binder.operand(tree)
    if isinstance(value, AverageRef):
        return AverageColumn(value)
    if isinstance(value, FieldRef):
        return ValueColumn(value.slot, named_by(where, value), is_id=is_id)
    if isinstance(value, Constant) and value.value is None:
        raise refuse(rules.NULL_LITERAL, item.position)
    slot = binder.environment.new_slot()
    made.append((slot, value))
    return ValueColumn(slot, named_by(where, value))


def _check_known(tree: InQuery, binder: ExpressionBinder, *, nullable: bool) -> None:
    """Refuse IN that EXISTS is not: unknown where a value is NULL, which counts there.

    Raises:
        SqlNotAllowedError: Rule ``in_query_unit``.
    """
    if not nullable or tree.unknown_is_false:
        return
    detail = "where a value may be NULL, [NOT] IN may be unknown, as EXISTS is not"
    hint = _beside_unit(tree, binder.scope, binder.environment, nullable=True)
    raise refuse(rules.IN_QUERY_UNIT, tree.position, detail=detail, hint=hint)


_LISTED = "IN (SELECT ...)"  # no name of a text


def _beside_unit(
    tree: InQuery, scope: Scope, environment: Environment, *, nullable: bool = False
) -> str | None:
    """Return how a column is looked for among the rows of the same unit.

    NOT IN is true of a row that no listed row equals, where neither may be unknown; of
    what may be NULL the hint says so.
    """
    if not isinstance(tree.value, Name):
        return None
    unit, name = scope.unit_name(), describe(tree.value)
    inner, own = _listed_name(tree.query, name), unit.rpartition(".")[2]
    hint = f"({unit}, {name}) IN (SELECT {own}, {inner} FROM ...)"  # noqa: S608 - a hint
    plain, each = hint, tree.negated or nullable
    if each:
        word = "NOT EXISTS" if tree.negated else "EXISTS"
        around = unit.rpartition(".")[0] or scope.relations[0].name
        value = scope.qualified(tree.value)
        one, other = f"listed.{inner}", f"{value.qualifier}.{value.name}"
        missing = f" OR {one} IS NULL" * tree.negated
        column = scope.find(tree.value)
        if tree.negated and isinstance(column, ValueColumn) and column.facts.nullable:
            missing += f" OR {other} IS NULL"
        equal = f"{one} = {other}"
        plain, hint = (
            f"{word} (SELECT * FROM (SELECT {own}, {inner} FROM ...) AS listed "  # noqa: S608 - a hint
            f"WHERE listed.{own} = {around}.{own} AND {condition})"
            for condition in (equal, f"({equal}{missing})" if missing else equal)
        )
    if nullable and tree.negated:
        plain += "; where one of the list is NULL, SQL leaves no row"
    told = add_unit([tree.value], scope, environment, plain, each=each)
    return told or f"among the rows of the same {environment.dataset.unit}: {hint}"


def _listed_name(query: Select | UnionAll, otherwise: str) -> str:
    """Return what a subquery calls its one column, if it has a name."""
    selects = query.parts[:1] if isinstance(query, UnionAll) else (query,)
    items = [item for select in selects for item in select.items]
    named = output_of(items[0]) if len(items) == 1 else None
    return named or otherwise


def _tied(scope: Scope) -> str:
    """Return how WHERE ties a subquery to the rows around it."""
    around = scope.outer.unit_name() if scope.outer else ""
    name, unit = scope.relations[0].name, around.rpartition(".")[2]
    if "." not in around and scope.outer:
        around = f"{scope.outer.relations[0].name}.{around}"
    return f"WHERE {name}.{unit} = {around} AND ..."


def _group_keys(  # noqa: C901 - an arm a form
    tree: Select, rows: ExpressionBinder, known: AbstractSet[int]
) -> tuple[dict[Expression, int], bool]:
    """Bind GROUP BY (or DISTINCT): a slot for each key, and if the unit is one.

    A declared key stands for it, and is told of.
    """
    if tree.distinct and tree.group_by:
        raise refuse(rules.DISTINCT_BELOW, tree.position)
    keys: dict[Expression, int] = {}
    has_unit = False
    named, written = _keys(tree, rows), tree.group_by or tree.items
    for meant, key in zip(named, written, strict=True):
        column = rows.scope.find(meant) if isinstance(meant, Name) else None
        if isinstance(column, UnitColumn):
            if column.nullable:
                raise refuse(rules.NULLABLE_UNIT_KEY, key.position)
            has_unit = True
            continue
        value = rows.value(meant)
        if isinstance(value, Constant) and not tree.group_by:
            continue  # DISTINCT over it and others is over the others
        if isinstance(value, Constant):
            raise refuse(rules.GROUP_BY_FORM, key.position)
        rows.environment.warn_of_other(meant, value)
        if value not in keys:
            keys[value] = rows.environment.new_slot()
    unit = None if has_unit else rows.scope.unit_by_key(named, known)
    if unit is not None:
        rows.environment.warn_of_unit(unit, "rows are grouped")
    return keys, has_unit or unit is not None


def _keys(tree: Select, rows: ExpressionBinder) -> list[Tree]:
    """Return what GROUP BY means, or DISTINCT."""
    if not tree.group_by:
        return [item.expression for item in tree.items]
    return [key_tree(key, tree, rows.scope) for key in tree.group_by]


def key_tree(key: Tree, tree: Select, scope: Scope) -> Tree:
    """Return what GROUP BY means: a position, an alias, or the expression itself.

    Raises:
        SqlNotAllowedError: No such position.
    """
    if isinstance(key, NumberLiteral):
        return item_at(key, tree).expression
    if isinstance(key, Name) and not scope.has_column(key):
        aliased = (item for item in tree.items if item.alias == key.name)
        item = next(aliased, None)
        return key if item is None else item.expression
    return key


def item_at(key: NumberLiteral, tree: Select, clause: str = "GROUP BY") -> SelectItem:
    """Return the item of the SELECT list that a position of a clause means.

    Raises:
        SqlNotAllowedError: There is none.
    """
    in_digits = key.text.isdigit() and len(key.text) <= len(str(len(tree.items)))
    index = int(key.text) if in_digits else 0
    if not 1 <= index <= len(tree.items):
        raise refuse(
            rules.GROUP_BY_FORM,
            key.position,
            detail=f"positions go from 1 to {len(tree.items)}",
            hint=_places(tree, clause),
        )
    return tree.items[index - 1]


def _places(tree: Select, clause: str) -> str:
    """Return how a clause names the last of the SELECT list, or its place."""
    last = tree.items[-1]
    name = last.alias or describe(last.expression)
    place = f"{clause} {len(tree.items)}"
    return place if name == UNNAMED else f"{clause} {name}, or {place}"


def _as_having(tree: Select, error: UnknownColumnError) -> QueryError:
    """Return why WHERE has no such column, where an aggregate is called so."""
    for item in tree.items:
        name = item.alias
        if name is None or not error.detail.endswith(f"has no column {name}"):
            continue
        if holds_aggregate(item.expression):
            return unknown_column(
                Position(error.line, error.column),
                detail=f"{name} is an aggregate, which is computed after WHERE",
                hint=f"write HAVING behind GROUP BY: HAVING {name} > 5",
            )
    return error


def _check_names(tree: Select, scope: Scope) -> None:
    """Refuse names that were read as something else, where tables have them, too."""
    for name in tree.aliases:
        if scope.has_column(name):
            hint = f"call what is selected AS {name.name} otherwise"
            detail = f"{name.name} is a column and an alias"
            place = name.position
            raise refuse(rules.AMBIGUOUS_NAME, place, detail=detail, hint=hint)
    for name in tree.alone:
        if scope.has_column(name):
            detail = f"{name.name} is a column of two tables of FROM"
            raise refuse(rules.AMBIGUOUS_NAME, name.position, detail=detail)


def _check_union(tree: UnionAll, parts: Sequence[Sequence[RelationColumn]]) -> None:  # noqa: C901 - an arm a form
    first = parts[0]
    for select, columns in zip(tree.parts, parts, strict=True):
        if len(columns) != len(first):
            raise refuse(rules.UNION_COLUMNS, select.position)
        units = [isinstance(column, UnitColumn) for column in columns]
        if units.count(True) > 1 or units != [isinstance(c, UnitColumn) for c in first]:
            raise refuse(rules.UNION_UNIT_KEY, select.position)
        for column, model in zip(columns, first, strict=True):
            if isinstance(column, AverageColumn) or isinstance(model, AverageColumn):
                raise refuse(rules.AVERAGE_OPAQUE, select.position)
            if isinstance(column, UnitColumn):
                if column.nullable:
                    raise refuse(rules.NULLABLE_UNIT_KEY, select.position)
            elif isinstance(model, ValueColumn) and (
                column.facts.type,
                column.facts.scale,
            ) != (model.facts.type, model.facts.scale):
                raise refuse(rules.UNION_COLUMNS, select.position)


def _union_facts(known: Sequence[Facts], domain: Domain | HalfRange | None) -> Facts:
    return replace(
        known[0],
        nullable=any(facts.nullable for facts in known),
        constant=False,
        domain=domain,
        longest=longest_of(known),
    )


def _longest_identity(nodes: Sequence[Node], environment: Environment) -> Identity:
    """Return new slots, as many as the longest identity of the parts has."""
    own = [node.identity for node in nodes]
    lengths = (
        max(len(identity.hashes) for identity in own),
        max(len(identity.parts) for identity in own),
        max(len(identity.public_rows) for identity in own),
    )
    return Identity(
        *(tuple(environment.new_slot() for _ in range(many)) for many in lengths)
    )
