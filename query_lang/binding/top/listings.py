"""How a key that has no list of values gets one, in the reader's own names."""

from collections.abc import Sequence
from typing import Final

from privacy.errors import QueryError
from privacy.schema import ColumnType, HierarchyDomain
from query_lang import hierarchies
from query_lang.binding.expressions import ExpressionBinder
from query_lang.binding.names import call_of_texts
from query_lang.binding.scope import Scope, ValueColumn
from query_lang.plans.domains import MAX_CELLS, value_count
from query_lang.plans.expressions import Expression
from query_lang.plans.literals import NUMBERS
from query_lang.rewriting.trees import conjuncts, parts
from query_lang.syntax.nodes import Comparison, FunctionCall, Name, Select, TableName
from query_lang.syntax.nodes import Expression as Tree


def how_listed(
    key: Tree, value: Expression, tree: Select, rows: ExpressionBinder
) -> str:
    """Return what to write instead of a key without a list of values.

    Args:
        key: As written.
        value: What it is bound to.
        tree: The SELECT whose key it is.
        rows: Binds what keys are computed of.
    """
    own = rows.environment.dataset.hierarchies
    domain = value.facts.domain
    name = _written(key) if isinstance(key, Name) else call_of_texts(key)
    code, values, whose = key, _CODES, "its"
    if name is not None and isinstance(key, FunctionCall):  # a part of a code
        code, values, whose = key.arguments[0], _TEXTS, "the"
        domain = rows.value(code).facts.domain
    if name and isinstance(domain, HierarchyDomain):
        whole = _written(code) if isinstance(code, Name) else name
        calls = _either(_levels(whole, domain, own))
        return f"group by a level of {whose} codes, {calls}; or {_named(name, values)}"
    coarser = _coarser(value.facts.type, name or "x")
    table = _public_table(key, tree, rows)
    if coarser is not None:
        return coarser + when_listed(key, tree, rows)
    if name is None or table is None:
        values = _TEXTS if name and name != "code" else _CODES
        return (
            f"{_named(name or 'code', values)}; or group by a column that has a list. "
            "Which values there are is not shown: for the most frequent of all, a "
            f"custodian declares their list{when_listed(key, tree, rows)}"
        )
    called, column = table
    equated = _equated(called, tree, rows)
    calls = _either(_levels_in_reach(rows.scope, own))
    first = f"group by a level of the codes, {calls}; or " if calls else ""
    if equated is not None:
        first = f"group by {equated}, which ON equates and which has a list; or "
    return (
        f"{first}{_named(name, _TEXTS)}; for all of them your custodian declares a "
        f"domain for {column}{when_listed(key, tree, rows)}"
    )


MAY_BE_KEY: Final = "may be grouped by"
MAY_FOLLOW: Final = "may stand beside GROUP BY of the table's key"
HAS_BOUNDS: Final = "has bounds"


def when_listed(
    written: Tree, tree: Select, rows: ExpressionBinder, then: str = MAY_BE_KEY
) -> str:
    """Return the end of a hint: that the rows of a small public table can be known.

    Nothing where what is written has no column of a public table whose rows are not
    (docs/adr/0072-rows-of-public-tables.md).

    Args:
        written: What is refused.
        tree: The SELECT that it stands in.
        rows: Binds its values.
        then: What such a column may do.
    """
    named = (part for part in parts((written,)) if isinstance(part, Name))
    for name in named:
        found = _public_table(name, tree, rows)
        table = None if found is None else found[1].partition(".")[0]
        if table and not rows.environment.dataset.tables[table].listed:
            return (
                f"; or your custodian declares the table {table} listed: true, if it "
                f"is small: then {name.name} {then}"
            )
    return ""


def _coarser(kind: ColumnType, name: str) -> str | None:
    """Return coarser keys of days, times and numbers; None of texts."""
    if kind in {ColumnType.DATE, ColumnType.TIMESTAMP}:
        return (
            f"group by its periods: DATE_TRUNC('month', {name}), EXTRACT(YEAR FROM "
            f"{name}); those that WHERE leaves few of are a list"
        )
    if kind in NUMBERS:
        return (
            f"group by bands: WIDTH_BUCKET({name}, 0, 100, 10), CASE WHEN {name} < 100 "
            "THEN 'low' ELSE 'high' END; of whole numbers those that WHERE leaves are "
            f"a list: {name} BETWEEN 1 AND 20"
        )
    return None


_CODES = "'E11.9', 'I10'"
_TEXTS = "'a', 'b'"


def _named(name: str, values: str) -> str:
    return (
        f"name the values in WHERE, {name} IN ({values}), or in CASE, CASE WHEN {name} "
        f"IN ({values}) THEN {name} ELSE 'rest' END"
    )


def _either(calls: Sequence[str]) -> str:
    return " or ".join([", ".join(calls[:-1]), calls[-1]] if calls[1:] else calls)


def _written(name: Name) -> str:
    return f"{name.qualifier}.{name.name}" if name.qualifier else name.name


def _levels(
    name: str, domain: HierarchyDomain, own: hierarchies.OwnHierarchies
) -> Sequence[str]:
    """Return the calls that give the levels of a column's codes."""
    levels = hierarchies.levels_of(domain, own)
    if domain.name in own:
        return [f"level({name}, '{level}')" for level in levels]
    return [f"icd_{level}({name})" for level in levels]


def _levels_in_reach(scope: Scope, own: hierarchies.OwnHierarchies) -> Sequence[str]:
    """Return the calls of the first column of FROM that has a hierarchy, if any."""
    for relation in scope.relations:
        for name, column in relation.columns.items():
            if not isinstance(column, ValueColumn):
                continue
            if isinstance(column.facts.domain, HierarchyDomain):
                is_alone = len(scope.relations) == 1
                called = name if is_alone else f"{relation.name}.{name}"
                return _levels(called, column.facts.domain, own)
    return ()


def _equated(table: str, tree: Select, rows: ExpressionBinder) -> str | None:
    """Return what has a list and what ON equates with a column of a table of FROM."""
    for part in (part for join in tree.joins for part in conjuncts(join.condition)):
        if not isinstance(part, Comparison) or part.operator != "=":
            continue
        for column, other in ((part.left, part.right), (part.right, part.left)):
            if not isinstance(column, Name) or column.qualifier != table:
                continue
            said = _written(other) if isinstance(other, Name) else call_of_texts(other)
            if said is not None and _has_list(other, rows):
                return said
    return None


def _has_list(tree: Tree, rows: ExpressionBinder) -> bool:
    apart = ExpressionBinder(rows.scope, rows.environment.apart(), rows.subqueries)
    try:
        count = value_count(apart.value(tree).facts)
    except QueryError:
        return False
    return count is not None and count <= MAX_CELLS


def _public_table(
    key: Tree, tree: Select, rows: ExpressionBinder
) -> tuple[str, str] | None:
    """Return what FROM calls the public table that a key is of, and its column."""
    known = rows.environment.dataset.tables
    for source in (tree.source, *(join.source for join in tree.joins)):
        if not isinstance(source, TableName) or not isinstance(key, Name):
            continue
        table = known.get(source.name)
        is_meant = key.qualifier in {None, source.alias or source.name}
        if table is None or not table.is_public or not is_meant:
            continue
        if any(column.name == key.name for column in table.columns):
            return source.alias or source.name, f"{table.name}.{key.name}"
    return None
