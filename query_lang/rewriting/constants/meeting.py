"""Whether a row can meet several rows of literals, told from the literals alone."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise

from privacy.schema import ColumnType
from query_lang.rewriting.constants.folding import day_of
from query_lang.rewriting.trees import wording
from query_lang.syntax.nodes import (
    Between,
    Comparison,
    ComparisonOperator,
    Expression,
    Like,
    Name,
    NumberLiteral,
    StringLiteral,
    TypedLiteral,
)
from query_lang.syntax.text_values import read_text

_Value = Fraction | str | date
"""A literal as what it is compared by; moments are datetime, which are dates, too."""

_WILD = frozenset("%_\\")


def key_of(
    conditions: Iterable[Expression],
    is_of: Callable[[object], bool],
    reads: Callable[[object], bool],
) -> tuple[Name, Expression] | None:
    """Return a column of literals and what it must equal, if a condition says so."""
    for each in conditions:
        if not isinstance(each, Comparison) or each.operator != "=":
            continue
        for one, other in ((each.left, each.right), (each.right, each.left)):
            if isinstance(one, Name) and is_of(one) and not reads(other):
                return one, other
    return None


def keys_differ(values: Sequence[Expression]) -> bool:
    """Whether no two literals are equal, whatever they are compared with."""
    found = [_value(each) for each in values]
    known = [each for each in found if each is not None]
    kinds = {type(each) for each in known}
    return len(known) == len(values) == len({*known}) and len(kinds) == 1


def are_exclusive(met: Sequence[Sequence[Expression]]) -> bool:
    """Whether at most one of some conditions holds, each a list of conjuncts."""
    ranges = [_ranges(each) for each in met]
    shared = set[Hashable].intersection(*({*each} for each in ranges))
    if any(_are_apart([each[said] for each in ranges]) for said in shared):
        return True
    patterns = [_prefixes(each) for each in met]
    alike = set[Hashable].intersection(*({*each} for each in patterns))
    return any(_differ_early([each[said] for each in patterns]) for said in alike)


@dataclass(frozen=True, slots=True)
class _Range:
    """What a value lies in; None where an end is open, and which ends are its own."""

    low: _Value | None = None
    high: _Value | None = None
    has_low: bool = True
    has_high: bool = True

    def held(self, operator: ComparisonOperator, value: _Value) -> "_Range":
        """Return the range for which a comparison with a literal holds, too."""
        low = value if operator in {">", ">=", "="} else self.low
        high = value if operator in {"<", "<=", "="} else self.high
        return _Range(
            low,
            high,
            operator != ">" if operator in {">", ">=", "="} else self.has_low,
            operator != "<" if operator in {"<", "<=", "="} else self.has_high,
        )


_TURNED: dict[ComparisonOperator, ComparisonOperator] = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    "=": "=",
}


def _ranges(conditions: Iterable[Expression]) -> dict[Hashable, _Range]:
    """Return what conjuncts say of each value that they compare with literals.

    The later of two that say the same end decides: a range too wide is none that parts.
    """
    found: dict[Hashable, _Range] = {}
    for subject, operator, value in _compared(conditions):
        said = wording(subject, "")
        known = found.get(said, _Range())
        found[said] = known.held(operator, value)
    return found


def _compared(
    conditions: Iterable[Expression],
) -> Iterable[tuple[Expression, ComparisonOperator, _Value]]:
    for each in conditions:
        if isinstance(each, Between) and not each.negated:
            ends: tuple[tuple[ComparisonOperator, Expression], ...]
            ends = ((">=", each.low), ("<=", each.high))
            for operator, end in ends:
                if (value := _value(end)) is not None:
                    yield each.value, operator, value
        elif isinstance(each, Comparison) and each.operator in _TURNED:
            left, right = _value(each.left), _value(each.right)
            if right is not None and left is None:
                yield each.left, each.operator, right
            elif left is not None and right is None:
                yield each.right, _TURNED[each.operator], left


def _are_apart(ranges: Sequence[_Range]) -> bool:
    """Whether no value lies in two of some ranges."""
    lows = [each.low for each in ranges if each.low is not None]
    if len({type(low) for low in lows}) > 1 or len(lows) < len(ranges) - 1:
        return False
    below = [each for each in ranges if each.low is None]
    above = sorted((each for each in ranges if each.low is not None), key=_beginning)
    ordered = [*below, *above]
    return all(map(_ends_before, ordered, ordered[1:]))


def _beginning(one: _Range) -> tuple[Fraction, str]:
    """Return where a range begins, each kind of value on a line of its own."""
    return _place(one.low)


def _place(value: _Value | None) -> tuple[Fraction, str]:
    if isinstance(value, Fraction):
        return value, ""
    if isinstance(value, datetime):
        return Fraction(0), value.isoformat(" ", "microseconds")
    if isinstance(value, date):
        return Fraction(0), value.isoformat()
    return Fraction(0), value or ""


def _ends_before(one: _Range, other: _Range) -> bool:
    if one.high is None or other.low is None or type(one.high) is not type(other.low):
        return False
    if one.high == other.low:
        return not (one.has_high and other.has_low)
    return _place(one.high) < _place(other.low)


def _value(tree: Expression) -> _Value | None:  # noqa: PLR0911 - an arm a kind
    """Return a literal as what it is compared by; days in quotes are days.

    None where that depends on what it is compared with: a moment that can be spelled
    otherwise is another text.
    """
    if isinstance(tree, NumberLiteral):
        return Fraction(tree.text)
    if (day := day_of(tree)) is not None:
        return day
    if not isinstance(tree, StringLiteral | TypedLiteral):
        return None
    moment = read_text(tree.text, ColumnType.TIMESTAMP)
    if isinstance(moment, datetime):
        is_plain = tree.text == moment.isoformat(" ")
        return moment if is_plain or isinstance(tree, TypedLiteral) else None
    return tree.text if isinstance(tree, StringLiteral) else None


def _prefixes(conditions: Iterable[Expression]) -> dict[Hashable, str]:
    """Return how the texts begin that ``LIKE 'E11%'`` keeps, by what they are."""
    found: dict[Hashable, str] = {}
    for each in conditions:
        if not isinstance(each, Like) or each.negated:
            continue
        if isinstance(each.pattern, StringLiteral):
            stem = each.pattern.text.removesuffix("%")
            if not _WILD & {*stem}:
                found[wording(each.value, "")] = stem
    return found


def _differ_early(stems: Sequence[str]) -> bool:
    """Whether none of some beginnings begins another."""
    ordered = sorted(stems)
    return not any(later.startswith(one) for one, later in pairwise(ordered))
