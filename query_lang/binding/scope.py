"""Which columns a name can mean."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache

from privacy.errors import SqlNotAllowedError, UnknownColumnError
from privacy.schema import (
    Column,
    ColumnType,
    Dataset,
    Table,
)
from query_lang.plans.expressions import AverageRef, Facts, FieldRef
from query_lang.rewriting.trees import conjuncts, parts
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    DerivedTable,
    IsNull,
    Name,
    Select,
    SelectItem,
    Star,
)
from query_lang.syntax.refusals import refuse, unknown_column


@dataclass(frozen=True, slots=True)
class UnitColumn:
    """A unit key; nullable where it comes from a LEFT join's nullable side.

    ``row`` is TRUE where there is a row of that side, and else NULL; it is known where
    the query asks for it.
    """

    slot: int
    nullable: bool = False
    row: FieldRef | None = None


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """An ordinary column.

    Attributes:
        numbering: Of a ROW_NUMBER: the most partitions that one unit's rows are in.
        is_id: Whether it holds values of a key that a table declares alone.
    """

    slot: int
    facts: Facts
    numbering: int | None = None
    is_id: bool = False


@dataclass(frozen=True, slots=True)
class AverageColumn:
    """The exact average of a roll-up or window."""

    average: AverageRef


RelationColumn = UnitColumn | ValueColumn | AverageColumn


@dataclass(frozen=True, slots=True)
class Relation:
    """What FROM calls by one name: its columns by their names.

    Attributes:
        merged: Names that are found without a qualifier in an earlier relation (USING).
        key: Of a table: its declared key beside the unit key.
        owner: The unit key of each row, whether it is among the columns or not; NULL
            only where a LEFT join found no row. None of public rows.
        unit: What hints call it.
    """

    name: str
    columns: Mapping[str, RelationColumn]
    merged: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    owner: UnitColumn | None = None
    unit: str = "unit key"

    def unit_columns(self) -> list[tuple[str, UnitColumn]]:
        """Return the unit keys among the columns."""
        found = self.columns.items()
        return [(name, c) for name, c in found if isinstance(c, UnitColumn)]

    def with_row(self, row: FieldRef) -> "Relation":
        """Return the relation with what tells whether there is a row of it."""
        columns = {
            name: UnitColumn(column.slot, row=row)
            if isinstance(column, UnitColumn) and not column.nullable
            else column
            for name, column in self.columns.items()
        }
        return replace(self, columns=columns)

    def extended_with_null(self, *, constant: bool) -> "Relation":
        """Return the relation as a LEFT join's nullable side.

        Proof: docs/proofs/constancy.md.
        """
        columns = {
            name: _null_extended(column, constant=constant)
            for name, column in self.columns.items()
        }
        owner = None if self.owner is None else replace(self.owner, nullable=True)
        return replace(self, columns=columns, owner=owner)


def _null_extended(column: RelationColumn, *, constant: bool) -> RelationColumn:
    match column:
        case UnitColumn(slot, _, row):
            if row is not None:
                kept = constant and row.facts.constant
                facts = replace(row.facts, nullable=True, constant=kept)
                row = replace(row, facts=facts)
            return UnitColumn(slot, nullable=True, row=row)
        case ValueColumn(_, facts):
            kept = constant and facts.constant
            facts = replace(facts, nullable=True, constant=kept)
            return replace(column, facts=facts, numbering=None)
        case AverageColumn(average):
            kept = constant and average.facts.constant
            facts = replace(average.facts, nullable=True, constant=kept)
            return AverageColumn(replace(average, facts=facts))


def with_constancy(relation: Relation, *, constant: bool) -> Relation:
    """Return a relation whose columns are all constant within the unit, or all not.

    Proof: docs/proofs/constancy.md.
    """
    columns = {
        name: _with_constancy(column, constant=constant)
        for name, column in relation.columns.items()
    }
    return replace(relation, columns=columns)


def _with_constancy(column: RelationColumn, *, constant: bool) -> RelationColumn:
    match column:
        case ValueColumn(_, facts):
            return replace(column, facts=replace(facts, constant=constant))
        case AverageColumn(average):
            facts = replace(average.facts, constant=constant)
            return AverageColumn(replace(average, facts=facts))
        case UnitColumn(row=row):
            if row is None:
                return column
            facts = replace(row.facts, constant=constant)
            return replace(column, row=replace(row, facts=facts))


@lru_cache(16_384)
def column_facts(column: Column) -> Facts:
    """Return what a declaration says of a column."""
    return Facts(
        column.type,
        column.scale,
        nullable=column.nullable,
        constant=column.constant_in_unit,
        domain=column.domain,
        longest=column.max_length if column.type is ColumnType.TEXT else None,
    )


@lru_cache(4_096)
def _public_facts(table: Table, number: int) -> Facts:
    """Return what is known of a column of a public table.

    It is of a row that the conditions of its join determine. The rows of a listed table
    are the list of its values (ADR 72), unless another one was declared.
    """
    column = table.columns[number]
    facts = replace(column_facts(column), constant=True)
    if not table.rows:
        return facts
    is_nullable = any(row[number] is None for row in table.rows)
    return replace(facts, nullable=is_nullable, domain=table.domain_of(number))


Ids = frozenset[tuple[str, ColumnType]]


def declared_ids(dataset: Dataset) -> Ids:
    """Return name and type of each column that is a private table's key alone.

    A column of another table that is called so, and has no domain either, refers to it.
    What has a domain counts within the unit, as a visit's number does.
    """
    keys = (
        table.column(table.key[0])
        for table in dataset.tables.values()
        if not table.is_public and len(table.key) == 1
    )
    return frozenset((c.name, c.type) for c in keys if c and c.domain is None)


def table_columns(
    table: Table,
    *,
    unit_slot: int | None,
    first_slot: int,
    public: bool = False,
    ids: Ids = frozenset(),
) -> dict[str, RelationColumn]:
    """Return a table's columns by name, over consecutive slots."""
    columns: dict[str, RelationColumn] = {}
    for number, column in enumerate(table.columns):
        facts = _public_facts(table, number) if public else column_facts(column)
        is_id = column.domain is None and (column.name, column.type) in ids
        slot = first_slot + number
        columns[column.name] = ValueColumn(slot, facts, is_id=is_id)
    if unit_slot is not None and table.unit_column is not None:
        columns[table.unit_column] = UnitColumn(unit_slot)
    return columns


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """Which unit keys a SELECT looks at to see whether a LEFT join found a row.

    Attributes:
        named: Under IS NULL or COUNT, or handed on to the query around.
        absent: Those that WHERE says are NULL.
    """

    named: frozenset[tuple[str | None, str]]
    absent: frozenset[tuple[str | None, str]]

    @classmethod
    def by(cls, tree: Select) -> "RowsAsked":
        """Return what a SELECT asks in its own clauses."""
        if all(join.kind != "left" for join in tree.joins):
            return cls(frozenset(), frozenset())
        found = {_named(item.expression) for item in tree.items}
        joined = tuple(join.condition for join in tree.joins)
        clauses = (tree.items, joined, tree.where, tree.group_by, tree.having)
        for part in parts((*clauses, tree.order_by), (DerivedTable,)):
            if isinstance(part, IsNull):
                found.add(_named(part.value))
            elif isinstance(part, AggregateCall) and not part.distinct:
                found |= {_named(each) for each in part.arguments}
        absent = {
            _named(part.value)
            for part in conjuncts(tree.where)
            if isinstance(part, IsNull) and not part.negated
        }
        named, without = (frozenset(n for n in s if n) for s in (found, absent))
        return cls(named, without)

    def is_about(self, relation: Relation, using: Sequence[str]) -> bool:
        """Whether a SELECT asks if there is a row of a relation that it joins."""
        keys = _called(relation, using, _unit_keys_of_each_row(relation))
        return bool(self.named & keys) or self.is_without(relation, using)

    def is_without(self, relation: Relation, using: Sequence[str]) -> bool:
        """Whether WHERE keeps rows that meet none of a relation, and no others."""
        never_null = [
            name
            for name, column in relation.columns.items()
            if isinstance(column, ValueColumn) and not column.facts.nullable
        ]
        keys = _unit_keys_of_each_row(relation)
        return bool(self.absent & _called(relation, using, [*keys, *never_null]))


def _named(tree: object) -> tuple[str | None, str] | None:
    return (tree.qualifier, tree.name) if isinstance(tree, Name) else None


def _unit_keys_of_each_row(relation: Relation) -> list[str]:
    """Return the unit keys of a relation that no row of it lacks."""
    return [name for name, column in relation.unit_columns() if not column.nullable]


def _called(
    relation: Relation, using: Sequence[str], names: Sequence[str]
) -> set[tuple[str | None, str]]:
    """Return how a SELECT may call some columns of a relation that it joins."""
    bare: set[tuple[str | None, str]] = {(None, n) for n in names if n not in using}
    return bare | {(relation.name, n) for n in names}


@dataclass(slots=True)
class Scope:
    """The relations of one FROM clause, and the scope of the query around it."""

    relations: list[Relation] = field(default_factory=list)
    outer: "Scope | None" = None
    outer_slots: set[int] = field(default_factory=set)
    outer_constant: bool = True  # whether all that was read outside is constant
    gone: frozenset[str] = frozenset()  # columns of tables written out, ``Select.gone``

    def find(self, name: Name) -> RelationColumn:
        """Return the column that a name means.

        Raises:
            UnknownColumnError: It means none.
            SqlNotAllowedError: It could mean two.
        """
        found = self.find_here(name)
        if found is not None:
            return found
        if self.outer is None:
            raise self._unknown(name)
        self.outer.check_named_inside(name)
        outside = self.outer.find(name)
        self.note_outside(outside)
        return outside

    def check_named_inside(self, *names: Name) -> None:
        """Refuse a name of brackets that may be of rows which the text computes.

        Raises:
            SqlNotAllowedError: Rule ``ambiguous_name``.
        """
        unclear = (n for n in names if n.qualifier is None and n.name in self.gone)
        for name in unclear:
            detail = f"{name.name} could be a column of rows that the text computes"
            hint = "write its table in front of it"
            raise refuse(rules.AMBIGUOUS_NAME, name.position, detail=detail, hint=hint)

    def find_here(self, name: Name) -> RelationColumn | None:
        """Return the column of this FROM clause that a name means, if any."""
        matches = [
            (relation, relation.columns[name.name])
            for relation in self.relations
            if name.name in relation.columns and _is_meant(relation, name)
        ]
        if len(matches) > 1:
            known = " or ".join(f"{r.name}.{name.name}" for r, _ in matches)
            raise refuse(
                rules.AMBIGUOUS_NAME,
                name.position,
                detail=f"{name.name} could mean {known}",
                hint=f"write {matches[0][0].name}.{name.name}",
            )
        return matches[0][1] if matches else None

    def qualified(self, name: Name) -> Name:
        """Return a name with its table in front, where this FROM clause has it."""
        if name.qualifier is not None:
            return name
        tables = [r.name for r in self.relations if name.name in r.columns]
        return replace(name, qualifier=tables[0]) if tables else name

    def has_column(self, name: Name) -> bool:
        """Whether a column of this FROM clause has the name, or it is qualified."""
        if name.qualifier is not None:
            return True
        return any(name.name in relation.columns for relation in self.relations)

    def is_unit_key(self, name: Name) -> bool:
        """Whether a name means a unit key."""
        return isinstance(self.find(name), UnitColumn)

    def unit_by_key(
        self, trees: Iterable[object], known: AbstractSet[int]
    ) -> str | None:
        """Return the unit key of a table whose declared key is among names, if any.

        Or of one with a column that refers to such a key, and is never NULL: rows
        without a value would be of all units together.

        Args:
            trees: That rows are grouped by.
            known: Slots that are not NULL in these rows, whatever is declared.
        """
        named = [tree for tree in trees if isinstance(tree, Name)]
        for relation in self.relations:
            if relation.owner is None:
                continue
            own = {
                name.name
                for name in named
                if name.qualifier in {None, relation.name}
                and name.name in relation.columns
                and self.find_here(name) is relation.columns[name.name]
            }
            found = [relation.columns[name] for name in own]
            if any(_refers(column, known) for column in found):
                return relation.unit
            is_whole = relation.key and own.issuperset(relation.key)
            if is_whole and not relation.owner.nullable:
                return relation.unit
        return None

    def unit_name(self) -> str:
        """Return a name of the unit key, for hints."""
        for relation in self.relations:
            for name, _ in relation.unit_columns():
                return name if len(self.relations) == 1 else f"{relation.name}.{name}"
        return self.relations[0].unit if self.relations else "unit key"

    def value(self, name: Name) -> FieldRef | AverageRef:
        """Return the value that a name means.

        Raises:
            UnknownColumnError: It means none.
            SqlNotAllowedError: It means a unit key, or could mean two columns.
        """
        column = self.find(name)
        match column:
            case UnitColumn():
                raise self.unit_key_refusal(name)
            case ValueColumn(slot, facts):
                return FieldRef(slot, facts)
            case AverageColumn(average):
                return average

    def unit_key_refusal(self, name: Name) -> SqlNotAllowedError:
        """Return the refusal of a use of the unit key that is not allowed."""
        return refuse(
            rules.UNIT_KEY_OPAQUE,
            name.position,
            hint=f"count it: COUNT(DISTINCT {self.unit_name()})",
        )

    def settle(self) -> None:
        """Note that one row a unit is left: all columns are constant within it."""
        self.relations[:] = [with_constancy(r, constant=True) for r in self.relations]

    def note_outside(self, column: RelationColumn) -> None:
        """Note a column of the query around that is read here."""
        match column:
            case UnitColumn(slot, nullable, row):
                self.outer_slots |= {slot} if row is None else {slot, row.slot}
                self.outer_constant &= not nullable
            case ValueColumn(slot, facts):
                self.outer_slots.add(slot)
                self.outer_constant &= facts.constant
            case AverageColumn(average):
                self.outer_slots |= {average.sum_slot, average.count_slot}
                self.outer_constant &= average.facts.constant

    def starred(self, star: Star) -> Iterator[tuple[str, str, RelationColumn]]:
        """Yield the columns that a ``*`` stands for: name, table, and what it is.

        Raises:
            UnknownColumnError: No table of FROM is called so, or no column that is
                left out.
        """
        meant = [r for r in self.relations if star.qualifier in {None, r.name}]
        if not meant:
            raise self._unknown(Name("*", star.qualifier, star.position))
        found: list[tuple[str, str, RelationColumn]] = []
        for relation in meant:
            own = [(n, relation.name, c) for n, c in relation.columns.items()]
            if star.qualifier is not None:
                found = own
                break
            joined = relation.merged  # which PostgreSQL shows first, in this order
            first = [each for name in joined for each in found if each[0] == name]
            rest = [each for each in found if each[0] not in joined]
            found = [*first, *rest, *(each for each in own if each[0] not in joined)]
        known = {name for name, _, _ in found}
        for name in star.without:
            if name not in known:
                raise self._unknown(Name(name, star.qualifier, star.position))
        yield from (each for each in found if each[0] not in star.without)

    def _unknown(self, name: Name) -> UnknownColumnError:
        called = [relation.name for relation in self.relations]
        if name.qualifier is not None and name.qualifier not in called:
            return unknown_column(
                name.position,
                detail=f"nothing in FROM is called {name.qualifier}",
                hint=f"in FROM: {', '.join(called)}",
            )
        columns = [
            column
            for relation in self.relations
            if name.qualifier in {None, relation.name}
            for column in relation.columns
        ]
        near = get_close_matches(name.name, columns, n=1)
        if name.qualifier is None and name.name in _TODAY:
            near = ["current_date"]
        meant = f"did you mean {near[0]}? " if near else ""
        where = name.qualifier or " and ".join(called)
        return unknown_column(
            name.position,
            detail=f"{where} has no column {name.name}",
            hint=f"{meant}its columns: {', '.join(columns)}",
        )


_TODAY = frozenset({"sysdate", "systimestamp", "today"})


def _refers(column: RelationColumn, known: AbstractSet[int]) -> bool:
    """Whether a column is the key of a table, and never NULL."""
    if not isinstance(column, ValueColumn) or not column.is_id:
        return False
    return not column.facts.nullable or column.slot in known


def _is_meant(relation: Relation, name: Name) -> bool:
    if name.qualifier is not None:
        return relation.name == name.qualifier
    return name.name not in relation.merged


def written_out(items: Sequence[SelectItem], scope: Scope) -> tuple[SelectItem, ...]:
    """Return a SELECT list with the columns that each ``*`` stands for.

    A column that USING joins is one; of unit keys of one name the first, if it is
    never missing.

    Raises:
        UnknownColumnError: No table of FROM is called so.
        SqlNotAllowedError: Two tables have a column of one name.
    """
    found: list[SelectItem] = []
    shown: dict[str, str] = {}  # the table of each column that a * stands for
    sure: set[str] = set()  # unit keys that are never missing
    for item in items:
        if not isinstance(item.expression, Star):
            found.append(item)
            continue
        for name, table, column in scope.starred(item.expression):
            if isinstance(column, UnitColumn):
                if name in sure:
                    continue
                sure |= set() if column.nullable else {name}
            if name in shown:
                raise refuse(
                    rules.DUPLICATE_NAME,
                    item.position,
                    detail=f"{shown[name]} and {table} both have a column {name}",
                    hint=f"write {shown[name]}.* and list what is read of {table}: "
                    f"{shown[name]}.*, {table}.{name} AS {name}_b",
                )
            shown[name] = table
            meant = Name(name, table or None, item.position)
            found.append(SelectItem(meant, None, item.position))
    return tuple(found)


def type_words(facts: Facts, shown: str) -> str:
    """Return an expression and its type in words."""
    return f"{shown} ({facts.type.value})"
