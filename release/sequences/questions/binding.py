"""A parsed text to a question of a release of sequences."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from privacy.schema import ColumnType
from query_lang.binding.having import HavingBinder
from query_lang.binding.names import output_names
from query_lang.binding.queries import item_at
from query_lang.plans.compiled import (
    KeyShown,
    NumberShown,
    OrderTerm,
    OutputColumn,
    Presentation,
    Shown,
)
from query_lang.plans.expressions import Facts
from query_lang.showing.values import SHOWN_DIGITS
from query_lang.syntax import rules as language
from query_lang.syntax.nodes import (
    CountRows,
    Expression,
    FunctionCall,
    Name,
    NumberLiteral,
    OrderItem,
    Query,
    Select,
    SelectItem,
    TableName,
)
from query_lang.syntax.refusals import refuse, too_many_groups
from release.contract.answers import ONE_RELEASE, no_totals
from release.sequences.questions import rules, symbols
from release.sequences.questions.conditions import ConditionBinder
from release.sequences.questions.published import PublishedSequences
from release.sequences.questions.question import (
    Count,
    GroupKey,
    KeyColumn,
    LengthKey,
    Occurrences,
    SequenceQuestion,
    SlopeKey,
    SymbolKey,
    TopRuns,
)

MAX_GROUPS: Final = 10_000
MAX_TOP: Final = 500
_ANY_RELEASE: Final = "release"


class SequenceBinder:
    """Binds texts over one release; safe for many threads."""

    def __init__(self, published: PublishedSequences) -> None:
        self._published = published

    def bind(self, tree: Query) -> SequenceQuestion:
        """Return the question that a text asks of the release.

        Raises:
            QueryError: A name or form breaks a rule of the language, or one of
                ``release.sequences.questions.rules``.
        """
        select = tree.select
        self._check_source(tree)
        if select.distinct:
            raise refuse(language.DISTINCT, select.position)
        if select.sets:
            raise no_totals(select.position)
        if select.kept is not None:
            raise refuse(language.QUALIFY, select.kept.position)
        if any(_is_call(item.expression, "top_runs") for item in select.items):
            return self._top_runs(select)
        selected = _Selected(self._published, select)
        selected.refuse_columns(select.aliases)
        return selected.bind()

    def _check_source(self, tree: Query) -> None:
        source = tree.select.source
        if tree.common_tables or tree.select.joins:
            raise refuse(ONE_RELEASE, tree.select.position)
        if not isinstance(source, TableName):
            raise refuse(ONE_RELEASE, source.position)
        if source.name not in {self._published.name, _ANY_RELEASE}:
            hint = f"write FROM {self._published.name}"
            raise refuse(language.UNKNOWN_TABLE, source.position, hint=hint)

    def _top_runs(self, select: Select) -> SequenceQuestion:
        (first, *others) = select.items
        parts = (select.where, select.having, *select.group_by, *select.order_by)
        if others or any(part is not None for part in parts):
            raise refuse(rules.TOP_RUNS_ALONE, first.position)
        if not isinstance(first.expression, FunctionCall):
            raise TypeError
        top = self._top(first.expression)
        columns = (
            OutputColumn("run", "group", ColumnType.TEXT, None, 0, KeyShown(0)),
            _measure(self._in_first("occurrences"), NumberShown(0), self._places()),
        )
        return SequenceQuestion(
            condition=None,
            keys=(),
            measures=(),
            columns=columns,
            presentation=Presentation(limit=select.limit),
            position=select.position,
            top=top,
        )

    def _in_first(self, name: str) -> str:
        return in_first(name, self._published.domain.max_length)

    def _places(self) -> str:
        return places_unit(self._published.domain.max_length)

    def _top(self, call: FunctionCall) -> TopRuns:
        most_length = self._published.domain.max_length
        most, shortest, longest = (
            symbols.whole_number(argument, MAX_TOP) for argument in call.arguments
        )
        if not 1 <= most <= MAX_TOP or not 1 <= shortest <= longest:
            raise refuse(rules.TOP_RUNS_SIZE, call.position)
        if longest > most_length:
            raise symbols.past_length(call, self._published.domain)
        return TopRuns(most, shortest, longest)


@dataclass(slots=True)
class _Selected:
    """One SELECT of keys and numbers while it is bound."""

    published: PublishedSequences
    select: Select
    keys: dict[str, KeyColumn] = field(default_factory=dict)
    measures: dict[Count | Occurrences, int] = field(default_factory=dict)
    shown: dict[str, Shown] = field(default_factory=dict)
    facts: dict[Shown, Facts] = field(default_factory=dict)

    def bind(self) -> SequenceQuestion:
        select = self.select
        conditions = ConditionBinder(self.published.domain)
        condition = None if select.where is None else conditions.bind(select.where)
        for tree in select.group_by:
            meant = self._aliased(tree)
            self.keys.setdefault(_written(meant), self._key(meant, conditions))
        self._check_groups()
        names = output_names(select.items)
        pairs = zip(names, select.items, strict=True)
        columns = tuple(self._column(name, item) for name, item in pairs)
        self._check_selected(columns)
        presentation = self._presentation()  # it may speak of more measures
        return SequenceQuestion(
            condition=condition,
            keys=tuple(self.keys.values()),
            measures=tuple(self.measures),
            columns=columns,
            presentation=presentation,
            position=select.position,
        )

    def _presentation(self) -> Presentation:
        having = self.select.having
        binder = HavingBinder(self._spoken, self.facts)
        return Presentation(
            None if having is None else binder.bind(having),
            tuple(self._term(item) for item in self.select.order_by),
            self.select.limit,
        )

    # -- keys ------------------------------------------------------------------

    def _aliased(self, tree: Expression) -> Expression:
        """Return what a name or a position in GROUP BY or ORDER BY stands for."""
        if isinstance(tree, NumberLiteral):
            return item_at(tree, self.select).expression
        if isinstance(tree, Name) and not self._is_split(tree):
            for item in self.select.items:
                if item.alias == tree.name:
                    return item.expression
        return tree

    def refuse_columns(self, aliases: Sequence[Name]) -> None:
        """Refuse aliases that were written out, and are a column.

        Raises:
            SqlNotAllowedError: One is.
        """
        for name in filter(self._is_split, aliases):
            hint = f"call what is selected AS {name.name} otherwise"
            raise refuse(language.AMBIGUOUS_NAME, name.position, hint=hint)

    def _is_split(self, tree: Name) -> bool:
        split = self.published.domain.split
        return split is not None and tree.name == split.name

    def _key(self, tree: Expression, conditions: ConditionBinder) -> KeyColumn:
        domain = self.published.domain
        match tree:
            case FunctionCall("symbol_at"):
                alphabet = domain.alphabet
                values = dict.fromkeys((*alphabet.values, None))
                place = symbols.place_of(tree, domain)
                return KeyColumn(SymbolKey(place), tuple(values), alphabet.type)
            case FunctionCall("length"):
                values_ = tuple(range(domain.max_length + 1))
                return KeyColumn(LengthKey(), values_, ColumnType.INTEGER)
            case FunctionCall("slope_band"):
                return self._bands(tree)
            case Name():
                conditions.check_split(tree)
                split = domain.split
                if split is None:
                    raise TypeError
                return KeyColumn(GroupKey(), split.values, split.type)
            case _:
                raise refuse(rules.SEQUENCE_KEY, tree.position)

    def _bands(self, call: FunctionCall) -> KeyColumn:
        (argument,) = call.arguments
        width = symbols.slope_bound(argument, self.published.domain)
        most = symbols.bands(width, argument, self.published.domain)
        places = range(-most, most + 1)
        values = (*(_band(place, width) for place in places), None)
        return KeyColumn(SlopeKey(width, most), values, ColumnType.TEXT)

    def _check_groups(self) -> None:
        cells = 1
        for key in self.keys.values():
            cells *= len(key.values)
        if cells > MAX_GROUPS:
            raise too_many_groups(self.select.position, cells=cells)

    # -- columns -----------------------------------------------------------------

    def _column(self, name: str, item: SelectItem) -> OutputColumn:
        shown = self._shown(item.expression)
        self.shown[name] = shown
        if isinstance(shown, KeyShown):
            key = list(self.keys.values())[shown.index]
            scale = self._scale(key)
            return OutputColumn(name, "group", key.type, None, scale, shown)
        is_count = isinstance(item.expression, CountRows)
        unit = self.published.unit
        if is_count:
            return _measure(name, shown, unit)
        most = self.published.domain.max_length
        shown_name = in_first(name, most) if item.alias is None else name
        self.shown.setdefault(shown_name, shown)
        return _measure(shown_name, shown, places_unit(most))

    def _scale(self, key: KeyColumn) -> int:
        match key.key:
            case SymbolKey():
                return self.published.domain.alphabet.scale
            case GroupKey() if self.published.domain.split is not None:
                return self.published.domain.split.scale
            case _:
                return 0

    def _shown(self, tree: Expression) -> Shown:
        written = _written(tree)
        if written in self.keys:
            return self._key_shown(written)
        match tree:
            case CountRows():
                return self._number(Count())
            case FunctionCall("occurrences"):
                run = symbols.run_of(tree, self.published.domain)
                return self._number(Occurrences(run))
            case FunctionCall("symbol_at" | "length" | "slope_band") | Name():
                raise refuse(language.NOT_GROUPED, tree.position)
            case _:
                raise refuse(rules.SEQUENCE_COUNTS, tree.position)

    def _key_shown(self, written: str) -> KeyShown:
        shown, key = KeyShown(list(self.keys).index(written)), self.keys[written]
        self.facts[shown] = Facts(key.type, self._scale(key))
        return shown

    def _number(self, measure: Count | Occurrences) -> NumberShown:
        shown = NumberShown(self.measures.setdefault(measure, len(self.measures)))
        self.facts[shown] = Facts(ColumnType.DECIMAL, SHOWN_DIGITS)
        return shown

    def _check_selected(self, columns: tuple[OutputColumn, ...]) -> None:
        if not self.measures:
            hint = rules.SEQUENCE_COUNTS.hint
            raise refuse(language.AGGREGATE_NEEDED, self.select.position, hint=hint)
        shown = {column.shown for column in columns}
        for index, tree in enumerate(self.select.group_by):
            written = _written(self._aliased(tree))
            if KeyShown(list(self.keys).index(written)) not in shown:
                place = self.select.group_by[index].position
                raise refuse(language.KEY_NOT_SELECTED, place)

    def _term(self, item: OrderItem) -> OrderTerm:
        shown = self._spoken(self._aliased(item.expression))
        return OrderTerm(shown, item.descending, nulls_first=bool(item.nulls_first))

    def _spoken(self, tree: Expression) -> Shown:
        """Return the key or number that HAVING or ORDER BY speaks of."""
        if isinstance(tree, Name) and not self._is_split(tree):
            if tree.name in self.shown:
                return self.shown[tree.name]
            tree = self._aliased(tree)
        is_number = isinstance(tree, CountRows) or _is_call(tree, "occurrences")
        if not is_number and _written(tree) not in self.keys:
            raise refuse(rules.SEQUENCE_ORDER, tree.position)
        return self._shown(tree)


def in_first(name: str, symbols: int) -> str:
    """Return a column's name that says in how many symbols places are counted.

    >>> in_first("occurrences", 12)
    'occurrences_in_first_12'
    """
    return f"{name}_in_first_{symbols}"


def places_unit(symbols: int) -> str:
    """Return the unit of counts of places."""
    return f"places in the first {symbols} symbols"


def _measure(name: str, shown: Shown, unit: str) -> OutputColumn:
    return OutputColumn(name, "measure", ColumnType.DECIMAL, unit, SHOWN_DIGITS, shown)


def _band(place: int, width: Fraction) -> str:
    """Return a band's ends; the lower one is inside.

    >>> _band(1, Fraction(1))
    '0.5 to 1.5'
    """
    ends = ((2 * place + sign) * width / 2 for sign in (-1, 1))
    return " to ".join(_decimal(end) for end in ends)


def _decimal(value: Fraction) -> str:
    return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():f}"


def _is_call(tree: Expression, name: str) -> bool:
    return isinstance(tree, FunctionCall) and tree.name == name


def _written(tree: object) -> str:
    """Return a tree's text without places: equal for equal expressions."""
    if isinstance(tree, tuple):
        return f"({','.join(_written(item) for item in tree)})"
    if not is_dataclass(tree):
        return repr(tree)
    parts = [
        _written(getattr(tree, each.name))
        for each in fields(tree)
        if each.name != "position"
    ]
    return f"{type(tree).__name__}({','.join(parts)})"
