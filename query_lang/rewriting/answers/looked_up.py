"""Groups joined with public tables: ``FROM (... GROUP BY region) AS n JOIN regions``.

A row of the groups meets one row of such a table at most, so the table may as well be
joined below, to the rows that are grouped: what it has beside a key makes no groups.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Protocol, TypeGuard

from query_lang.rewriting.trees import (
    aggregates,
    all_of,
    called,
    conjuncts,
    is_aggregate,
    outermost,
    output_of,
    parts,
    selected,
    wording,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    Arithmetic,
    Cast,
    Comparison,
    CountRows,
    DerivedTable,
    Expression,
    FunctionCall,
    Join,
    Name,
    NumberLiteral,
    Query,
    Select,
    TableName,
)

Columns = Mapping[str, AbstractSet[str]]
"""Public tables, and what their columns are called."""


class Ties(Protocol):
    """Says what joins with public tables tie."""

    def meet_one(self, join: Join) -> bool:
        """Whether a row meets one row of the table at most."""

    def keep_all(self, join: Join) -> bool:
        """Whether all rows of the table are groups, by what ties it."""

    def columns_of(self, source: TableName) -> AbstractSet[str] | None:
        """Return the columns of a table of the dataset; None of others."""


def grouped_below(tree: Query, public: Columns, ties: Ties) -> Query | None:
    """Return a query that joins its groups with public tables as one of their rows.

    None where it is no such query, or a name in it would be ambiguous.

    Args:
        tree: The query.
        public: Of the dataset.
        ties: Says what joins with public tables tie.
    """
    above = tree.select
    if not above.joins or above.group_by or above.having or above.distinct:
        return None
    if above.sets or above.kept or aggregates(above):
        return None
    named = {table.name: table.query for table in tree.common_tables}
    tables = {name: c for name, c in public.items() if name not in named}
    found = _Groups.of(above, named, tables, ties)
    below = None if found is None else found.select()
    return None if below is None else replace(tree, select=below)


@dataclass(frozen=True, slots=True)
class _Groups:
    """A SELECT over groups and public tables.

    Attributes:
        above: The SELECT.
        below: The groups.
        name: What they are called.
        joins: The public tables, with what ties each.
        tables: Their columns, by what they are called.
        is_kept: Whether each row of the first of them stays without a group.
        columns: Of the one table whose rows are grouped; None where they are not known.
    """

    above: Select
    below: Select
    name: str
    joins: tuple[Join, ...]
    tables: Columns
    is_kept: bool
    columns: AbstractSet[str] | None

    @classmethod
    def of(
        cls,
        above: Select,
        named: Mapping[str, object],
        public: Columns,
        ties: Ties,
    ) -> "_Groups | None":
        first, second = above.source, above.joins[0]
        turned = _is_public(first, public)
        groups, joins = (second.source if turned else first), above.joins
        if turned:
            joins = (replace(second, kind="inner", source=first), *joins[1:])
        tables = {called(j.source): _columns(j, public) for j in joins}
        known = {name: each for name, each in tables.items() if each is not None}
        is_kept = turned and second.kind == "left"
        below, is_tied = _query_of(groups, named), all(map(ties.meet_one, joins))
        if below is None or len(known) < len(joins) or not is_tied:
            return None
        if is_kept and (below.having or above.where or not ties.keep_all(joins[0])):
            return None  # a row that stays would be lost with its group
        source, columns = below.source, None
        if (
            isinstance(source, TableName)
            and not below.joins
            and source.name not in named
        ):
            columns = ties.columns_of(source)
        found = cls(above, below, called(groups), joins, known, is_kept, columns)
        is_sure = found.has_names_apart() and (not is_kept or found.shows_numbers())
        return found if is_sure else None

    def shows_numbers(self) -> bool:
        """Whether counts and sums of groups are all that is shown of them.

        Where there is no group they are 0, which is what is left of them here.
        """
        if len(self.below.group_by) > 1 or len(self.joins) > 1:
            return False
        numbers = {
            output_of(item)
            for item in self.below.items
            if isinstance(item.expression, CountRows)
            or (isinstance(item.expression, AggregateCall) and _adds(item.expression))
        }
        shown = [item.expression for item in self.above.items]
        shown += [item.expression for item in self.above.order_by]
        return all(self._is_scaled(tree, numbers) for tree in shown)

    def _is_scaled(  # noqa: PLR0911 - an arm a form
        self, tree: Expression, numbers: AbstractSet[str | None]
    ) -> bool:
        """Whether a value is 0 where a number of the groups is, if it reads one."""
        names = [part for part in parts(tree) if isinstance(part, Name)]
        if all(map(self._is_looked_up, names)):
            return True
        match tree:
            case Name(name):
                return name in numbers
            case Arithmetic("*", left, right):
                return self._is_scaled(left, numbers) and self._is_scaled(
                    right, numbers
                )
            case Arithmetic("/", left, right):
                divisors = [part for part in parts(right) if isinstance(part, Name)]
                is_public = all(map(self._is_looked_up, divisors))
                return is_public and self._is_scaled(left, numbers)
            case Cast(value):
                return self._is_scaled(value, numbers)
            case FunctionCall("round", (value, *_)):
                return self._is_scaled(value, numbers)
            case FunctionCall("coalesce", (value, NumberLiteral("0"))):
                return self._is_scaled(value, numbers)
            case _:
                return False

    def has_names_apart(self) -> bool:
        """Whether no name may mean a column of the groups and a public one."""
        sources = (self.below.source, *(join.source for join in self.below.joins))
        names = {*map(called, sources), self.name}
        if names & self.tables.keys() or len(self.tables) < len(self.joins):
            return False
        merged = {name for join in self.joins for name in join.using}
        shown = [output_of(item) for item in self.below.items]
        if len(set(shown)) < len(shown) or not self._knows_names_above(shown, merged):
            return False
        if self._speaks_of_tables(self.below):
            return False
        return len(sources) == 1 or not any(map(self._is_unsure, parts(self.below)))

    def _knows_names_above(
        self, shown: Sequence[str | None], merged: AbstractSet[str]
    ) -> bool:
        """Whether each name above is the groups' alone or public, none in a subquery.

        Another one would be read from the rows below, which SQL hides.
        """
        aliases = {item.alias for item in self.above.items}
        sorted_by = {id(order.expression) for order in self.above.order_by}
        said = (self.above.items, self.above.where, self.above.order_by, self.joins)
        for part in parts(said):
            if isinstance(part, Select):
                return False
            if not isinstance(part, Name):
                continue
            is_own = part.qualifier in {None, self.name} and part.name in shown
            if is_own and self._is_unsure(part) and part.name not in merged:
                return False
            is_alias = id(part) in sorted_by and part.name in aliases
            is_alias = is_alias and part.qualifier is None
            if not (is_own or is_alias or self._is_looked_up(part)):
                return False
        return True

    def _speaks_of_tables(self, below: Select) -> bool:
        """Whether a name of the groups would be a public table's that joins them."""
        names = [part for part in parts(below) if isinstance(part, Name)]
        if any(name.qualifier in self.tables for name in names):
            return True
        fields = (below.items, below.where, below.group_by, below.having)
        nested = [p for p in parts(fields, (Select,)) if isinstance(p, Select)]
        return any(map(self._is_unsure, parts(tuple(nested))))

    def _is_unsure(self, part: object) -> TypeGuard[Name]:
        if not isinstance(part, Name) or part.qualifier is not None:
            return False
        return any(part.name in columns for columns in self.tables.values())

    def select(self) -> Select | None:
        """Return the groups with the public tables among their rows."""
        above, below = self.above, self.below
        made = {output_of(i): self._own(i.expression) for i in below.items}
        keys = tuple(self._key(key, made) for key in below.group_by)
        known = {wording(key, "") for key in keys}
        others = (i for i in below.items if not is_aggregate(i.expression))
        if None in keys or any(
            wording(made[output_of(i)], "") not in known for i in others
        ):
            return None  # what is no key has no one value in a group
        using = {name for join in self.joins for name in join.using}
        merged = frozenset[str]() if self.is_kept else frozenset(using)
        read = _Read(self.name, made, self.tables, merged)
        items = tuple(
            replace(i, expression=read.of(i.expression), alias=output_of(i))
            for i in above.items
        )
        shown = {name: i.expression for i in above.items if (name := output_of(i))}
        order_by = tuple(
            replace(
                o, expression=read.of(selected(o.expression, shown) or o.expression)
            )
            for o in above.order_by
        )
        said = [read.of(each) for each in conjuncts(above.where)]
        rows = [each for each in said if not is_aggregate(each)]
        groups = [each for each in said if is_aggregate(each)]
        every = parts((items, order_by, groups), (Select,))
        named = (part for part in every if isinstance(part, Name))
        looked_up = {(n.qualifier, n.name): n for n in named if self._is_looked_up(n)}
        own = [self._own(each) for each in conjuncts(below.where)]
        having = [self._own(each) for each in conjuncts(below.having)]
        ties = tuple(self._tied(join, read) for join in self.joins)
        if not known >= {wording(tied, "") for tied, _ in self._equal(ties)}:
            return None  # several groups meet one row of the table
        joins = tuple(
            replace(j, condition=j.condition and self._own(j.condition))
            for j in below.joins
        )
        own_keys = (key for key in keys if key is not None)
        groups_by = [*self._of_table(own_keys, ties), *looked_up.values()]
        kept = tuple(looked_up.values()) if self.is_kept else ()
        return replace(
            below,
            items=items,
            joins=(*joins, *ties),
            where=all_of([*own, *rows]),
            group_by=tuple({wording(each, ""): each for each in groups_by}.values()),
            having=all_of([*having, *groups]),
            order_by=order_by,
            limit=above.limit,
            aliases=(*below.aliases, *above.aliases),
            hides_keys=True,
            unmatched=(*below.unmatched, *kept),
            is_thinned=below.is_thinned or above.where is not None,
        )

    def _own(self, tree: Expression) -> Expression:
        """Return an expression of the groups, whose names are of their table alone."""
        if self.below.joins:
            return tree

        def qualified(node: Expression | Select) -> Expression | Select:
            if not isinstance(node, Name) or node.qualifier is not None:
                return node
            return replace(node, qualifier=called(self.below.source))

        return outermost(tree, (Name, Select), qualified)

    def _key(
        self, key: Expression, made: Mapping[str | None, Expression]
    ) -> Expression | None:
        """Return what a key of the groups is, whatever GROUP BY calls it."""
        if isinstance(key, NumberLiteral):
            place = int(key.text) - 1 if key.text.isdecimal() else -1
            listed = self.below.items
            is_there = 0 <= place < len(listed)
            return self._own(listed[place].expression) if is_there else None
        if isinstance(key, Name) and key.qualifier is None:
            aliased = [i for i in self.below.items if i.alias == key.name]
            if aliased and (self.columns is None or len(aliased) > 1):
                return None  # a column goes before an alias
            if aliased and self.columns and key.name not in self.columns:
                return made[key.name]
        return self._own(key)

    def _tied(self, join: Join, read: "_Read") -> Join:
        """Return a join with a public table whose ON speaks of the groups' rows."""
        name = called(join.source)
        equal = [
            Comparison(
                "=",
                read.of(Name(column, self.name, join.position)),
                Name(column, name, join.position),
                join.position,
            )
            for column in join.using
        ]
        said = [read.of(each) for each in conjuncts(join.condition)]
        return replace(join, condition=all_of([*equal, *said]), using=())

    def _of_table(
        self, keys: Iterator[Expression], ties: Sequence[Join]
    ) -> Iterator[Expression]:
        """Yield keys, or what an INNER join says that they equal of a public table.

        Of which each value is a row of it: others have no rows. A table that has a
        key with another one says nothing of its own: what they have follows from it.
        """
        equal: dict[Hashable, list[tuple[Join, Name]]] = {}
        for join in ties:
            for tied, name in self._equal([join]):
                equal.setdefault(wording(tied, ""), []).append((join, name))
        shared = [join for each in equal.values() if len(each) > 1 for join, _ in each]
        for key in keys:
            found = equal.get(wording(key, ""))
            if found and found[0][0].kind == "inner" and found[0][0] not in shared:
                yield found[0][1]
            else:
                yield key

    def _equal(self, ties: Sequence[Join]) -> Iterator[tuple[Expression, Name]]:
        """Yield what ON equates with columns of public tables, and these."""
        for part in (part for join in ties for part in conjuncts(join.condition)):
            if not isinstance(part, Comparison) or part.operator != "=":
                continue
            for one, two in ((part.left, part.right), (part.right, part.left)):
                is_column = isinstance(one, Name) and self._is_looked_up(one)
                if isinstance(one, Name) and is_column and not self._reads_public(two):
                    yield two, one

    def _reads_public(self, tree: Expression) -> bool:
        names = (part for part in parts(tree) if isinstance(part, Name))
        return any(map(self._is_looked_up, names))

    def _is_looked_up(self, part: Name) -> bool:
        if part.qualifier is not None:
            return part.qualifier in self.tables
        return any(part.name in columns for columns in self.tables.values())


@dataclass(frozen=True, slots=True)
class _Read:
    """Names of the SELECT above as what they are of the rows below.

    Attributes:
        name: What the groups are called.
        made: Their columns.
        tables: The public tables, by what they are called.
        merged: Their columns that USING makes one with the groups'.
    """

    name: str
    made: Mapping[str | None, Expression]
    tables: Columns
    merged: AbstractSet[str]

    def of(self, tree: Expression) -> Expression:
        """Return an expression with the groups' columns written out."""
        return outermost(tree, (Name, Select), self._named)

    def _named(self, node: Expression | Select) -> Expression | Select:
        if not isinstance(node, Name) or node.name not in self.made:
            return node
        is_public = node.name not in self.merged and any(
            node.name in columns for columns in self.tables.values()
        )
        is_own = node.qualifier == self.name or not (node.qualifier or is_public)
        return self.made[node.name] if is_own else node


def _query_of(
    source: TableName | DerivedTable, named: Mapping[str, object]
) -> Select | None:
    """Return the groups that a table of FROM is, if all of them are rows of it."""
    query = source.query if isinstance(source, DerivedTable) else named.get(source.name)
    if not isinstance(query, Select) or not query.group_by or query.sets:
        return None
    is_whole = query.limit is None and query.kept is None and not query.distinct
    return query if is_whole else None


def _columns(join: Join, public: Columns) -> AbstractSet[str] | None:
    """Return the columns of a public table that ON or USING ties; None of others."""
    source = join.source
    if not isinstance(source, TableName) or join.is_natural:
        return None
    return public.get(source.name)


def _is_public(source: TableName | DerivedTable, public: Columns) -> bool:
    return isinstance(source, TableName) and source.name in public


def _adds(tree: AggregateCall) -> bool:
    return tree.name in {"count", "sum"}
