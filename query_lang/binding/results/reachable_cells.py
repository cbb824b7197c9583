"""Which cells WHERE can leave rows in, by the text and the public schema alone.

A key is bound once more over columns that hold what WHERE leaves of them. A unit's rows
lie in those cells only, which bounds how many groups it can touch; and LIMIT, QUALIFY
and the windows beside them are of those cells. Every declared cell comes back, with
noise where WHERE leaves nothing. Proof: docs/proofs/count_distinct.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from privacy.errors import QueryError
from privacy.schema import ListedRow, RangeDomain, Scalar
from query_lang.binding.expressions import ExpressionBinder
from query_lang.binding.results.dependent_keys import Trying
from query_lang.binding.results.lookups import Lookup
from query_lang.binding.results.values_tried import tried_values, values_left
from query_lang.binding.scalars.narrowing import Conditions, left_by
from query_lang.binding.scope import RelationColumn, Scope, ValueColumn
from query_lang.plans.compiled import (
    GroupingShown,
    KeyShown,
    NoisyComparison,
    NoisyCondition,
    NoisyIn,
    NoisyIsNull,
)
from query_lang.plans.domains import MAX_CELLS, key_values, value_count
from query_lang.plans.expressions import (
    Call,
    Expression,
    Facts,
    FieldRef,
    is_same_value,
)
from query_lang.plans.nodes import Key
from query_lang.syntax.logic import All, AnyOf, Negation
from query_lang.syntax.nodes import Expression as Tree


@dataclass(frozen=True, slots=True)
class Reach:
    """What WHERE leaves of the rows that are grouped.

    Attributes:
        conditions: That hold for every row.
        rows: Binds expressions over them.
        lookups: Listed tables that the rows were joined to.
        trying: Is told what is tried, and may end it.
    """

    conditions: Conditions
    rows: ExpressionBinder
    lookups: Sequence[Lookup]
    trying: Trying

    def values(
        self, keys: Mapping[Expression, Key], trees: Sequence[Tree]
    ) -> dict[Expression, tuple[Scalar | None, ...]]:
        """Return of each key the values that are known to be all wherever WHERE holds.

        In declared order; all that are declared where it excludes each of them.

        Args:
            keys: Of GROUP BY, by what they are.
            trees: What each is in the text.
        """
        if not self.conditions.all:
            return {}
        scope = _narrowed(self.rows.scope, self.conditions)
        environment = self.rows.environment.apart()
        narrow = ExpressionBinder(scope, environment, self.rows.subqueries)
        own = self.rows.environment.dataset.hierarchies
        lookups = [self._spelled(lookup) for lookup in self.lookups]
        found, met = {}, dict[int, Sequence[ListedRow]]()
        for (value, key), tree in zip(keys.items(), trees, strict=True):
            left = {*key.values}
            for facts in (left_by(self.conditions, value), _facts(tree, value, narrow)):
                count = None if facts is None else value_count(facts)
                if facts is not None and count is not None and count <= MAX_CELLS:
                    left &= {*key_values(facts)}
            tried = tried_values(value, key.values, self.conditions, own, self.trying)
            left = left if tried is None else left & tried
            spelled = self.conditions.spelled_out(value)
            for lookup in lookups:
                number = lookup.number_of(spelled)
                if number is None:
                    continue
                if lookup.first not in met:
                    met[lookup.first] = self._met(lookup)
                left &= lookup.met(number, met[lookup.first])
            values = tuple(each for each in key.values if each in left)
            found[value] = values or key.values
        return found

    def _spelled(self, lookup: Lookup) -> Lookup:
        """Return a listed table with what ON equates spelled out, as conditions are."""
        spelled = self.conditions.spelled_out
        equated = tuple((spelled(value), number) for value, number in lookup.equated)
        return replace(lookup, equated=equated)

    def _met(self, lookup: Lookup) -> Sequence[ListedRow]:
        """Return the rows of a listed table at all of whose values WHERE may hold.

        Each row of the join has the values of one of them, or NULL in all.
        """
        own = self.rows.environment.dataset.hierarchies
        rows: Sequence[ListedRow] = lookup.rows
        for column in _columns_of(self.conditions.all):
            place = lookup.column(column)
            place = lookup.equal(column) if place is None else place
            if place is None:
                continue
            listed = list(dict.fromkeys(row[place] for row in rows))
            left = values_left(column, listed, self.conditions, own, self.trying)
            rows = rows if left is None else [row for row in rows if row[place] in left]
        return rows


def _columns_of(conditions: Iterable[Expression]) -> Iterable[FieldRef]:
    """Return the columns that conditions speak of, each once."""
    found: dict[int, FieldRef] = {}
    waiting = list(conditions)
    while waiting:
        part = waiting.pop()
        if isinstance(part, FieldRef):
            found.setdefault(part.slot, part)
        waiting += part.operands if isinstance(part, Call) else ()
    return found.values()


def listed_where(
    tree: Tree,
    facts: Facts,
    value: Expression,
    conditions: Conditions,
    rows: ExpressionBinder,
) -> Facts:
    """Return the facts of a key: of one without cells, over what WHERE leaves.

    ``CAST(cost AS INTEGER)`` after ``WHERE cost < 50``. Declared cells all stay.

    Args:
        tree: What the key is in the text.
        facts: That are known of it.
        value: What it is.
        conditions: That hold for every row.
        rows: Binds expressions over them.
    """
    if _has_cells(facts) or not conditions:
        return facts
    scope = _narrowed(rows.scope, conditions)
    narrow = ExpressionBinder(scope, rows.environment.apart(), rows.subqueries)
    found = _facts(tree, value, narrow)
    return facts if found is None or not _has_cells(found) else found


def _has_cells(facts: Facts) -> bool:
    count = value_count(facts)
    return count is not None and count <= MAX_CELLS


def reachable_cells(
    keys: Iterable[Key],
    *,
    with_totals: bool = False,
    staying: AbstractSet[int] = frozenset(),
) -> Iterator[NoisyCondition]:
    """Yield what a cell's keys fulfil if WHERE can leave rows in it; nothing noisy.

    A total is over all values of a key.

    Args:
        keys: Of GROUP BY.
        with_totals: Whether some rows are totals.
        staying: The keys, by number, of which every value stays.
    """
    for index, key in enumerate(keys):
        if index in staying:
            continue
        values = [each for each in key.reached if each is not None]
        if len(key.reached) < len(key.values) and values:
            shown = KeyShown(index)
            ways = [_held(shown, values, key)]
            if None in key.reached:
                ways.append(NoisyIsNull(shown))
            if with_totals:
                ways.append(NoisyComparison("=", GroupingShown((index,)), 1))
            yield AnyOf(tuple(ways)) if len(ways) > 1 else ways[0]


def _held(shown: KeyShown, values: list[Scalar], key: Key) -> NoisyCondition:
    """Return that a key has one of its values: by their ends, or by the shorter list.

    They keep the declared order.
    """
    declared = [each for each in key.values if each is not None]
    first = declared.index(values[0])
    if values == declared[first : first + len(values)] and _is_ordered(key):
        least = NoisyComparison(">=", shown, values[0])
        return All((least, NoisyComparison("<=", shown, values[-1])))
    others = {*declared} - {*values}
    if len(others) < len(values):
        without = tuple(each for each in declared if each in others)
        return Negation(NoisyIn(shown, without))
    return NoisyIn(shown, tuple(values))


def _is_ordered(key: Key) -> bool:
    """Whether values are declared as they compare."""
    return isinstance(key.facts.domain, RangeDomain)


def _facts(tree: Tree, value: Expression, narrow: ExpressionBinder) -> Facts | None:
    """Return what is known of a key over narrower columns.

    None where they do not fit it, or where binding makes something else of the text:
    LEFT of a column of codes reads their catalogue, of a list of texts it does not.
    """
    try:
        found = narrow.value(tree)
    except QueryError:
        return None
    return found.facts if is_same_value(found, value) else None


def _narrowed(scope: Scope, conditions: Conditions) -> Scope:
    relations = [
        replace(
            relation,
            columns={
                name: _left(column, conditions)
                for name, column in relation.columns.items()
            },
        )
        for relation in scope.relations
    ]
    return Scope(relations, scope.outer)


def _left(column: RelationColumn, conditions: Conditions) -> RelationColumn:
    if not isinstance(column, ValueColumn):
        return column
    facts = left_by(conditions, FieldRef(column.slot, column.facts))
    return replace(column, facts=facts)
