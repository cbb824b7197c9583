"""SELECT lists and GROUP BY: keys, measures and the names of output columns."""

from collections import Counter
from dataclasses import dataclass

from query_lang import rules
from query_lang.literals import LITERALS
from query_lang.plan import (
    CountRowsMeasure,
    CountUnitsMeasure,
    KeyColumn,
    MeasureColumn,
    MeasureKind,
)
from query_lang.predicates import ColumnRef
from query_lang.refusals import refuse
from query_lang.scope import Scope
from query_lang.syntax import (
    CountDistinct,
    CountRows,
    Expression,
    Name,
    NumberLiteral,
    Position,
    Select,
    SelectItem,
)

_AGGREGATES = (CountRows, CountDistinct)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the top of a plan needs."""

    keys: tuple[ColumnRef, ...]
    key_positions: tuple[Position, ...]
    measures: tuple[MeasureKind, ...]
    columns: tuple[KeyColumn | MeasureColumn, ...]


@dataclass(frozen=True, slots=True)
class OutputBinder:
    """Binds the SELECT list and GROUP BY of one scope."""

    scope: Scope

    def bind(self, tree: Select) -> Outputs:
        """Return keys, measures and columns.

        Raises:
            UnknownColumnError: A name means no column.
            SqlNotAllowedError: A key or output breaks a rule.
        """
        self._refuse_other_items(tree)
        keys = self._keys(tree)
        kinds = [self._measure(item.expression) for item in tree.items]
        measures = tuple(dict.fromkeys(kind for kind in kinds if kind is not None))
        if not measures:
            raise self._aggregate_needed(tree)
        names = _names(tree)
        columns = tuple(
            self._key_column(item, name, list(keys))
            if kind is None
            else MeasureColumn(name, measures.index(kind))
            for item, name, kind in zip(tree.items, names, kinds, strict=True)
        )
        _check_all_selected(keys, columns)
        _check_names(tree, names)
        return Outputs(tuple(keys), tuple(keys.values()), measures, columns)

    def _refuse_other_items(self, tree: Select) -> None:
        for item in tree.items:
            if isinstance(item.expression, LITERALS):
                raise refuse(rules.LITERAL_SELECTED, item.position)
            if not isinstance(item.expression, (Name, *_AGGREGATES)):
                raise refuse(rules.SELECT_ITEM, item.position)

    def _measure(self, tree: Expression) -> MeasureKind | None:
        match tree:
            case CountRows():
                return CountRowsMeasure()
            case CountDistinct(value):
                self._check_counts_units(value)
                return CountUnitsMeasure()
            case _:
                return None

    def _check_counts_units(self, value: Expression) -> None:
        hint = f"COUNT(DISTINCT {self.scope.unit_column}), or GROUP BY the column"
        if not isinstance(value, Name):
            raise refuse(rules.COUNT_DISTINCT_COLUMN, value.position, hint=hint)
        if not self.scope.is_unit_key(value):
            self.scope.column(value)  # an unknown name is refused as one
            raise refuse(rules.COUNT_DISTINCT_COLUMN, value.position, hint=hint)

    def _aggregate_needed(self, tree: Select) -> Exception:
        shown = [item.expression for item in tree.items]
        for name in (name for name in shown if isinstance(name, Name)):
            self.scope.column(name)  # a wrong name is told first
        hint = f"add COUNT(*) or COUNT(DISTINCT {self.scope.unit_column})"
        return refuse(rules.AGGREGATE_NEEDED, tree.position, hint=hint)

    # -- keys --------------------------------------------------------------

    def _keys(self, tree: Select) -> dict[ColumnRef, Position]:
        """Return each key once, with the place that names it first."""
        keys: dict[ColumnRef, Position] = {}
        for key in tree.group_by:
            name = self._key_name(key, tree)
            keys.setdefault(self.scope.column(name), key.position)
        return keys

    def _key_name(self, key: Expression, tree: Select) -> Name:
        match key:
            case NumberLiteral():
                return self._grouped(_item_at(key, tree), key.position)
            case Name() if self.scope.has_column(key):
                return key
            case Name(name):
                aliased = (item for item in tree.items if item.alias == name)
                item = next(aliased, None)
                return key if item is None else self._grouped(item, key.position)
            case _:
                raise refuse(rules.GROUP_BY_FORM, key.position)

    def _grouped(self, item: SelectItem, position: Position) -> Name:
        if not isinstance(item.expression, Name):
            raise refuse(
                rules.GROUP_BY_FORM,
                position,
                detail="GROUP BY points at an aggregate",
            )
        return item.expression

    def _key_column(
        self, item: SelectItem, name: str, keys: list[ColumnRef]
    ) -> KeyColumn:
        if not isinstance(item.expression, Name):  # pragma: no cover - refused before
            raise TypeError
        ref = self.scope.column(item.expression)
        if ref in keys:
            return KeyColumn(name, keys.index(ref))
        known = ", ".join(key.column.name for key in keys)
        listed = f"{known}, {ref.column.name}" if known else ref.column.name
        raise refuse(
            rules.NOT_GROUPED,
            item.position,
            detail=f"{ref.column.name} is selected but not grouped by",
            hint=f"add GROUP BY {listed}",
        )


def _item_at(key: NumberLiteral, tree: Select) -> SelectItem:
    in_digits = key.text.isdigit() and len(key.text) <= len(str(len(tree.items)))
    index = int(key.text) if in_digits else 0
    if not 1 <= index <= len(tree.items):
        raise refuse(
            rules.GROUP_BY_FORM,
            key.position,
            detail=f"GROUP BY positions go from 1 to {len(tree.items)}",
        )
    return tree.items[index - 1]


def _names(tree: Select) -> list[str]:
    """Return output names: the alias, the column, or count, count_2, ..."""
    unnamed: Counter[str] = Counter()
    names: list[str] = []
    for item in tree.items:
        if item.alias is not None:
            names.append(item.alias)
        elif isinstance(item.expression, Name):
            names.append(item.expression.name)
        else:
            unnamed["count"] += 1
            nth = unnamed["count"]
            names.append("count" if nth == 1 else f"count_{nth}")
    return names


def _check_names(tree: Select, names: list[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise refuse(
                rules.DUPLICATE_NAME,
                tree.items[index].position,
                detail=f"two output columns are called {name}",
                hint=f"give one an alias: ... AS {name}_b",
            )


def _check_all_selected(
    keys: dict[ColumnRef, Position], columns: tuple[KeyColumn | MeasureColumn, ...]
) -> None:
    shown = {column.key for column in columns if isinstance(column, KeyColumn)}
    for index, (key, position) in enumerate(keys.items()):
        if index not in shown:
            raise refuse(
                rules.KEY_NOT_SELECTED,
                position,
                detail=f"the key {key.column.name} is not selected",
                hint=f"add {key.column.name} to the SELECT list",
            )
