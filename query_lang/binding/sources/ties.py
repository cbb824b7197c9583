"""Which unit keys a join equates: by ON, by USING, by a declared key."""

from collections.abc import Sequence
from dataclasses import replace

from privacy.errors import SqlNotAllowedError
from query_lang.binding.environment import Environment
from query_lang.binding.scalars.ids import add_unit, named_in
from query_lang.binding.scope import Relation, Scope, UnitColumn, ValueColumn
from query_lang.rewriting.trees import called, conjuncts, names_in, new_name
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    Comparison,
    DerivedTable,
    Join,
    Name,
    Select,
    SelectItem,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse

Tie = tuple[UnitColumn, UnitColumn]  # a unit key of the left side, and of the right


def _equated_columns(
    tree: Tree, scope: Scope, relation: Relation
) -> tuple[tuple[Relation, str], str] | None:
    """Return which column of a table before, and of this one, a condition equates."""
    if not isinstance(tree, Comparison) or tree.operator != "=":
        return None
    found: list[tuple[Relation, str]] = []
    for side in (tree.left, tree.right):
        named = [
            one
            for one in (*scope.relations, relation)
            if isinstance(side, Name)
            and side.qualifier in {None, one.name}
            and side.name in one.columns
        ]
        if len(named) != 1 or not isinstance(side, Name):
            return None
        found.append((named[0], side.name))
    before = [each for each in found if each[0] is not relation]
    own = [name for one, name in found if one is relation]
    return (before[0], own[0]) if before and own else None


def unit_tie(
    scope: Scope, relation: Relation, join: Join
) -> tuple[Tie | None, list[Tree]]:
    """Find ``left.unit = right.unit`` among the conjuncts of ON; return the rest."""
    rest: list[Tree] = []
    tie: Tie | None = None
    for part in conjuncts(join.condition):
        found = _tied(part, scope, relation)
        if found is not None and tie is None:
            tie = found
        else:
            rest.append(part)
    return tie, rest


def _written(name: Name) -> str:
    return name.name if name.qualifier is None else f"{name.qualifier}.{name.name}"


def _with_unit(conditions: Sequence[Tree], scope: Scope, relation: Relation) -> str:
    """Return how a join is written with the unit key beside what ON says already."""
    unit = _unit_name(relation)
    beside = [
        f"{_written(part.left)} = {_written(part.right)}"
        for part in conditions
        if isinstance(part, Comparison)
        and part.operator == "="
        and isinstance(part.left, Name)
        and isinstance(part.right, Name)
    ]
    there = scope.unit_name()
    if "." not in there:
        if not beside:
            return f"USING ({unit})"
        there = f"{scope.relations[0].name}.{there}"
    return " AND ".join([f"ON {relation.name}.{unit} = {there}", *beside])


def _unit_name(relation: Relation) -> str:
    return next((name for name, _ in relation.unit_columns()), relation.unit)


def _tied(tree: Tree, scope: Scope, relation: Relation) -> Tie | None:
    """Return the left and right unit keys that a conjunct equates."""
    if not isinstance(tree, Comparison) or tree.operator != "=":
        return None
    both = Scope([*scope.relations, relation], gone=scope.gone)
    sides = (tree.left, tree.right)
    named = [side for side in sides if isinstance(side, Name)]
    columns = [both.find(side) for side in named]
    units = [column for column in columns if isinstance(column, UnitColumn)]
    if len(units) != len(sides):
        return None
    own = {column.slot for _, column in relation.unit_columns()}
    outside = [unit for unit in units if unit.slot not in own]
    inside = [unit for unit in units if unit.slot in own]
    if len(outside) != 1 or len(inside) != 1:
        return None
    return outside[0], inside[0]


def using_all(scope: Scope, relation: Relation, join: Join) -> Join:
    """Return NATURAL JOIN as USING all names that both sides have, as SQL means it.

    Raises:
        SqlNotAllowedError: Rule ``natural_join``: they have none, and SQL would pair
            all rows.
    """
    before = [name for one in scope.relations for name in one.columns]
    names = tuple(name for name in dict.fromkeys(before) if name in relation.columns)
    if not names:
        detail = f"{relation.name} has no name in common with what stands before it"
        raise refuse(rules.NATURAL_JOIN, join.position, detail=detail)
    return replace(join, using=names, is_natural=False)


def using_tie(
    scope: Scope, relation: Relation, join: Join
) -> tuple[Tie | None, list[Tree]]:
    """Return the unit keys that USING equates, and that its other names equal."""
    ties: list[Tie] = []
    others: list[str] = []
    for name in join.using:
        right = relation.columns.get(name)
        left = scope.find_here(Name(name, None, join.position))  # never outside
        if isinstance(left, UnitColumn) and isinstance(right, UnitColumn):
            ties.append((left, right))
        else:
            others.append(name)
    if len(ties) > 1:
        raise refuse(rules.USING, join.position)
    equal = equal_names(others, scope, relation, join)
    return (ties[0] if ties else None), equal


def tie_by_key(
    scope: Scope,
    relation: Relation,
    trees: Sequence[Tree],
    environment: Environment,
) -> Tie | None:
    """Return the unit keys of two tables that a declared key of one joins; say so.

    A key tells rows of one unit apart: what it joins was meant to be of one.
    """
    equated = [_equated_columns(tree, scope, relation) for tree in trees]
    pairs = [pair for pair in equated if pair is not None]
    lefts = {left.name: left for (left, _), _ in pairs}
    for left in lefts.values():
        same = [(mine, theirs) for (one, mine), theirs in pairs if one is left]
        mine, theirs = {mine for mine, _ in same}, {theirs for _, theirs in same}
        if left.owner is None or relation.owner is None:
            continue
        if _is_by_key(left, mine) or _is_by_key(relation, theirs):
            environment.warn(
                "unit_key_added",
                f"{relation.name} is joined on {relation.unit} too: rows of different "
                f"{environment.dataset.unit}s never meet",
            )
            return left.owner, relation.owner
    return None


def _is_by_key(relation: Relation, names: set[str]) -> bool:
    """Whether columns are the key of a table, or one refers to a key of its own."""
    if relation.key and names.issuperset(relation.key):
        return True
    found = (relation.columns[name] for name in names)
    return any(isinstance(column, ValueColumn) and column.is_id for column in found)


def tie_around(
    inner: Scope, trees: Sequence[Tree], environment: Environment
) -> Tie | None:
    """Return the unit keys that a declared key ties in EXISTS; say so.

    Args:
        inner: Of the subquery; what is tied around it is noted there.
        trees: Conjuncts of its WHERE.
        environment: Told of the tie.

    Returns:
        The unit key of the query around, and that of the subquery. None where no key
        of a table in either is equated, or a row of one may lack its unit.
    """
    if inner.outer is None:
        return None
    across = [pair for pair in (_across(tree, inner) for tree in trees) if pair]
    around = Scope(list(filter(_has_units, inner.outer.relations)))
    for relation in filter(_has_units, inner.relations):
        tie = tie_by_key(around, relation, across, environment)
        if tie is not None:
            inner.note_outside(tie[0])
            return tie
    return None


def _has_units(relation: Relation) -> bool:
    """Whether each row of a relation has its unit key."""
    return relation.owner is not None and not relation.owner.nullable


def _across(tree: Tree, inner: Scope) -> Tree | None:
    """Return ``inner.x = outer.y`` with tables in front of both; None of all else."""
    if not isinstance(tree, Comparison) or tree.operator != "=" or inner.outer is None:
        return None
    named = [side for side in (tree.left, tree.right) if isinstance(side, Name)]
    own = [side for side in named if inner.find_here(side) is not None]
    around = [side for side in named if side not in own]
    if len(own) != 1 or len(around) != 1:
        return None
    here, there = inner.qualified(own[0]), inner.outer.qualified(around[0])
    return Comparison("=", there, here, tree.position)


def by_unit_too(tree: Select, scope: Scope) -> Select:
    """Return a roll-up that has the unit key among its keys, and selects it."""
    named = [key for key in tree.group_by if isinstance(key, Name)]
    if any(isinstance(scope.find(key), UnitColumn) for key in named):
        return tree
    units = [(r.name, name) for r in scope.relations for name, _ in r.unit_columns()]
    if not units:
        return tree
    (relation, name), position = units[0], tree.position
    unit = Name(name, relation, position)
    item = SelectItem(unit, new_name("unit", set(names_in(tree))), position)
    return replace(tree, items=(item, *tree.items), group_by=(unit, *tree.group_by))


def untied(
    scope: Scope,
    relation: Relation,
    join: Join,
    trees: Sequence[Tree],
    environment: Environment,
) -> SqlNotAllowedError:
    """Return the refusal of a join that equates no unit keys, with how to write it."""
    both = Scope([*scope.relations, relation], gone=scope.gone)
    names = named_in(trees)
    if join.using:
        hint = f"USING ({', '.join([_unit_name(relation), *join.using])})"
        hint = add_unit(names, both, environment, hint) or hint
        return refuse(rules.USING, join.position, hint=hint)
    query = join.source.query if isinstance(join.source, DerivedTable) else None
    if join.is_of_one or (isinstance(query, Select) and query.is_of_rows):
        around, _, unit = scope.unit_name().rpartition(".")
        around = around or scope.relations[0].name
        hint = f"tie both by the unit key in the brackets: x.{unit} = {around}.{unit}"
        if isinstance(query, Select):
            tie = f"WHERE {called(query.source)}.{unit} = {around}.{unit} AND ..."
            hint = add_unit(names, both, environment, tie) or hint
        return refuse(rules.SCALAR_SUBQUERY, join.position, hint=hint)
    hint = _with_unit(trees, scope, relation)
    hint = add_unit(names, both, environment, hint) or hint
    has_unit = bool(relation.unit_columns())
    place = join.position if has_unit else join.source.position
    if not has_unit:
        hint = f"select {relation.unit} in {relation.name}, too: {hint}"
    return refuse(rules.JOIN_NEEDS_UNIT_KEY, place, hint=hint)


def equal_names(
    names: Sequence[str], scope: Scope, relation: Relation, join: Join
) -> list[Tree]:
    """Return what USING says of columns: that those of one name are equal."""
    found: list[Tree] = []
    for name in names:
        here = Name(name, None, join.position)
        if name not in relation.columns or scope.find_here(here) is None:
            raise refuse(rules.USING, join.position)
        there = Name(name, relation.name, join.position)
        found.append(Comparison("=", scope.qualified(here), there, join.position))
    return found
