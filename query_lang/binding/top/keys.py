"""The keys of GROUP BY: their values, and which follow from which."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from privacy.errors import QueryError
from privacy.schema import ColumnType, Scalar
from query_lang.binding.aggregates import holds_aggregate
from query_lang.binding.expressions import UNNAMED, ExpressionBinder, describe
from query_lang.binding.queries import key_tree
from query_lang.binding.results.dependent_keys import (
    MOST_KEYS,
    Beside,
    Pairs,
    Trying,
    chained,
    following,
    in_order,
)
from query_lang.binding.results.reachable_cells import Reach, listed_where
from query_lang.binding.scalars.narrowing import Conditions, listed_by
from query_lang.binding.scalars.numbers import rescaled
from query_lang.binding.top.listings import MAY_FOLLOW, how_listed, when_listed
from query_lang.binding.top.slots import Slots
from query_lang.plans.compiled import (
    DependentShown,
    KeyShown,
    NamedTotal,
    NoisyTruth,
    Shown,
)
from query_lang.plans.domains import check_key, key_values, value_count
from query_lang.plans.expressions import Constant, Expression, Facts
from query_lang.plans.literals import NUMBERS
from query_lang.plans.nodes import Key, PlanColumn
from query_lang.rewriting.trees import parts, wording
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    CountRows,
    Name,
    Position,
    Select,
)
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse


@dataclass(slots=True)
class KeyBinder:
    """Binds the keys of a SELECT at the top.

    Attributes:
        rows: Binds what keys are computed of.
        tree: The SELECT.
        slots: Of the values that keys are.
        facts: Of what is shown; keys add their own.
        conditions: That hold for every row.
        beside: What is known of the rows.
        trying: Counts what is computed to find a key's values.
        keys: In the order of GROUP BY.
        meant: What each key is in the text.
        places: Where GROUP BY names each.
        sets: The keys of each grouping set.
        dependent: What follows from a key.
        unknown: What follows from no key, as far as was tried.
        staying: Which keys are of rows in the text that stay without a match.
    """

    rows: ExpressionBinder
    tree: Select
    slots: Slots
    facts: dict[Shown, Facts]
    conditions: Conditions
    beside: Beside
    trying: Trying
    keys: dict[Expression, Key] = field(default_factory=dict)
    meant: list[Tree] = field(default_factory=list)
    places: list[Position] = field(default_factory=list)
    sets: tuple[tuple[int, ...], ...] = ()
    dependent: dict[Expression, DependentShown] = field(default_factory=dict)
    staying: set[int] = field(default_factory=set)
    unknown: set[Expression] = field(default_factory=set)

    def bind(self) -> None:
        """Bind GROUP BY.

        Raises:
            QueryError: A key has no list of values, or breaks a rule of the language.
        """
        found, numbers = self._found()
        is_plain = not self.tree.sets and len(found) <= MOST_KEYS
        follow = self._following(found) if is_plain else {}
        for value, (meant, name, facts, place) in found.items():
            if value in follow:
                continue
            values = key_values(facts)
            self.rows.environment.sizes.add_values(len(values))
            self.keys[value] = Key(self.slots.of(value), name, facts, values)
            self.meant.append(meant)
            self.places.append(place)
        for value, (one, pairs) in follow.items():
            self._add_dependent(value, one, pairs, found[value][2])
        reach = Reach(self.conditions, self.rows, self.beside.lookups, self.trying)
        left = reach.values(self.keys, self.meant)
        for value, values in left.items():
            self.keys[value] = replace(self.keys[value], left=values)
        self._keep(found.keys() & set(self._of_literals()))
        self.sets = tuple(
            tuple(sorted({numbers[place] for place in each})) for each in self.tree.sets
        )

    def _found(
        self,
    ) -> tuple[dict[Expression, tuple[Tree, str, Facts, Position]], list[int]]:
        """Return the keys, each once, and which of them each of GROUP BY is."""
        numbers: list[int] = []
        found: dict[Expression, tuple[Tree, str, Facts, Position]] = {}
        for written in self.tree.group_by:
            meant = key_tree(written, self.tree, self.rows.scope)
            if isinstance(meant, AggregateCall | CountRows):
                raise refuse(
                    rules.GROUP_BY_FORM,
                    written.position,
                    detail="GROUP BY points at an aggregate",
                )
            value = self.rows.value(meant)
            if isinstance(value, Constant):
                raise refuse(rules.GROUP_BY_FORM, written.position)
            if value in found:
                number = list(found).index(value)
                other = found[value][0]
                are_apart = self._are_apart(len(numbers), numbers.index(number))
                if are_apart and not _is_alike(meant, other):
                    raise _twice(meant, other, written.position)
                numbers.append(number)
                continue
            numbers.append(len(found))
            name = self._key_name(meant)
            facts = listed_by(self.conditions, value)
            facts = listed_where(meant, facts, value, self.conditions, self.rows)
            listing = how_listed(meant, value, self.tree, self.rows)
            check_key(facts, name, written.position, listing)
            found[value] = meant, name, facts, written.position
        return found, numbers

    def _are_apart(self, one: int, other: int) -> bool:
        """Whether a set holds one of two places in GROUP BY without the other."""
        return any((one in each) != (other in each) for each in self.tree.sets)

    def _of_literals(self) -> Iterator[Expression]:
        """Yield what rows in the text are, where they stay without a match."""
        for tree in self.tree.unmatched:
            try:
                yield self.rows.value(tree)
            except QueryError:  # an aggregate, or a name of another SELECT
                continue

    def _keep(self, values: AbstractSet[Expression]) -> None:
        """Note of which keys every value stays: those of rows in the text."""
        names = list(self.keys)
        for value in values:
            follows = self.dependent.get(value)
            self.staying.add(names.index(value) if follows is None else follows.index)

    def _following(
        self, found: Mapping[Expression, tuple[Tree, str, Facts, Position]]
    ) -> dict[Expression, tuple[Expression, Pairs]]:
        """Return the keys that follow from another one, the later of two alike.

        None of them follows from one that follows itself: a year from its month, and
        the era of the year from the month, too.
        """
        follow: dict[Expression, tuple[Expression, Pairs]] = {}
        keys = list(found)
        for value in reversed(keys):
            others = [key for key in keys if key != value and key not in follow]
            for one in others:
                values = key_values(found[one][2])
                pairs = following(one, values, value, self.beside, self.trying)
                if pairs is not None:
                    self._follow_from(one, values, value, pairs, follow)
                    break
        return follow

    def _follow_from(
        self,
        one: Expression,
        values: Sequence[Scalar | None],
        value: Expression,
        pairs: Pairs,
        follow: dict[Expression, tuple[Expression, Pairs]],
    ) -> None:
        """Note that a value follows from a key, and so what follows from the value."""
        for later, (key, known) in list(follow.items()):
            if key == value:
                own = following(one, values, later, self.beside, self.trying)
                follow[later] = one, own or chained(pairs, known)
        follow[value] = one, pairs

    def _add_dependent(
        self, value: Expression, one: Expression, pairs: Pairs, facts: Facts
    ) -> DependentShown:
        listed = tuple(dict.fromkeys(other for _, other in pairs))
        if facts.type is not ColumnType.TEXT:  # which goes by its list alone
            listed = in_order(listed)
        elif value_count(facts) is not None:
            listed = key_values(facts)
        shown = DependentShown(list(self.keys).index(one), pairs, listed)
        self.dependent[value] = shown
        self.facts[shown] = facts
        return shown

    def _key_name(self, tree: Tree) -> str:
        aliased = (i.alias for i in self.tree.items if i.expression == tree and i.alias)
        return next(aliased, describe(tree))

    def named(self, columns: Sequence[PlanColumn]) -> Iterator[Key]:
        """Yield the keys under the names that the answer shows them by.

        However GROUP BY points at a key, it is the same question.
        """
        names = {
            column.shown.index: column.name
            for column in reversed(columns)
            if isinstance(column.shown, KeyShown | NamedTotal | DependentShown)
        }
        for index, key in enumerate(self.keys.values()):
            yield replace(key, name=names.get(index, key.name))

    def check_all_selected(self, columns: Sequence[PlanColumn]) -> None:
        """Refuse a key that no column shows."""
        shown = {
            KeyShown(column.shown.index)
            if isinstance(column.shown, NamedTotal | DependentShown)
            else column.shown
            for column in columns
        }
        for index, (key, place) in enumerate(
            zip(self.keys.values(), self.places, strict=True)
        ):
            if KeyShown(index) not in shown:
                if key.name == UNNAMED:
                    raise refuse(
                        rules.KEY_NOT_SELECTED,
                        place,
                        detail="this key of GROUP BY is not selected",
                        hint="add the same expression to the SELECT list, with a "
                        "name: EXTRACT(ISODOW FROM arrived) AS day",
                    )
                raise refuse(
                    rules.KEY_NOT_SELECTED,
                    place,
                    detail=f"the key {key.name} is not selected",
                    hint=f"add {key.name} to the SELECT list",
                )

    def is_key(self, tree: Tree) -> bool:
        """Whether an expression is a key as it stands."""
        apart = self.rows.environment.apart()
        rows = ExpressionBinder(self.rows.scope, apart, self.rows.subqueries)
        try:
            return rows.value(tree) in self.keys
        except QueryError:  # GROUPING is no value of a row
            return False

    def key(self, tree: Tree, alias: str | None = None) -> Shown:
        """Return the key that an expression is; its alias may stand in GROUP BY.

        Raises:
            SqlNotAllowedError: It is none.
        """
        value = self.rows.value(tree)
        if value in self.dependent:
            return self.dependent[value]
        if value not in self.keys:
            shown = describe(tree)
            named = alias or (shown if isinstance(tree, Name) else UNNAMED)
            hint = _grouping_hint([key.name for key in self.keys.values()], named)
            if named == UNNAMED and value.facts.type in NUMBERS:
                hint += "; or take an aggregate of it, as in AVG(discharged - admitted)"
            if value_count(value.facts) is None:
                hint += when_listed(tree, self.tree, self.rows, MAY_FOLLOW)
            raise refuse(
                rules.NOT_GROUPED if isinstance(tree, Name) else rules.SELECT_ITEM,
                tree.position,
                detail=f"{shown} is not a key of GROUP BY",
                hint=hint,
            )
        found = KeyShown(list(self.keys).index(value))
        self.facts[found] = self.keys[value].facts
        return found

    def boolean_key(self, tree: Tree) -> NoisyTruth | None:
        """Return the condition that a key is: GROUP BY age >= 60 AS senior."""
        if isinstance(tree, Name) or holds_aggregate(tree):
            return None
        try:
            value = self.rows.value(tree)
        except QueryError:  # it speaks of aliases, or is refused below
            return None
        if value not in self.keys:
            return None
        return NoisyTruth(KeyShown(list(self.keys).index(value)))

    def looked_up(
        self, tree: Tree, *, is_average: bool = False
    ) -> DependentShown | None:
        """Return what a listed table has of one key, as the name of a code.

        Args:
            tree: What is asked for.
            is_average: Whether its average is, which is a decimal of integers, too.
        """
        if not self.beside.lookups:
            return None
        value = self.rows.value(tree)
        if is_average:
            if value.facts.type not in NUMBERS:
                return None
            value = rescaled(value, max(1, value.facts.scale))
        if value in self.keys or value in self.dependent or value in self.unknown:
            return self.dependent.get(value)
        found = self.follows(value)
        if found is None:
            self.unknown.add(value)
        return found

    def follows(self, value: Expression) -> DependentShown | None:
        """Return what is computed of one key, as a weight of a stratum."""
        for one, key in self.keys.items():
            pairs = following(one, key.values, value, self.beside, self.trying)
            if pairs is not None and not self.sets:
                return self._add_dependent(value, one, pairs, value.facts)
        return None


def _grouping_hint(known: list[str], shown: str) -> str:  # noqa: PLR0911 - an arm a case
    """Say how what is shown becomes a key; what has no name cannot be written out."""
    if shown == UNNAMED and known:
        return "add the same expression to GROUP BY, or select one that stands there"
    if shown == UNNAMED:
        return "add GROUP BY with the same expression, or with its name after AS"
    if shown in known:
        return f"{shown} is a column, which goes before the alias: name the alias anew"
    if UNNAMED in known:
        return f"add {shown} to GROUP BY"
    return f"add GROUP BY {', '.join([*known, shown])}"


def _is_alike(one: Tree, other: Tree) -> bool:
    """Whether two keys of one value are one in SQL, too; names may have their table."""
    named = (part for part in parts((one, other)) if isinstance(part, Name))
    tables = {"", *(name.qualifier or "" for name in named)}
    return any(wording(one, table) == wording(other, table) for table in tables)


def _twice(meant: Tree, other: Tree, position: Position) -> QueryError:
    """Return why two keys of one value are refused: SQL has totals of each."""
    detail = (
        f"{describe(other)} and {describe(meant)} always agree: the totals of one "
        "would be those of the other once more"
    )
    hint = "write it once, or in one way, in ROLLUP, CUBE and GROUPING SETS"
    return refuse(rules.GROUP_BY_FORM, position, detail=detail, hint=hint)
