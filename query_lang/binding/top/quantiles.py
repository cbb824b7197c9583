"""Quantiles: which one is asked for, and the bins that it is read from."""

from decimal import Decimal
from fractions import Fraction

from privacy.schema import ColumnType
from query_lang.plans.compiled import Bins
from query_lang.plans.expressions import Facts
from query_lang.plans.intervals import Interval, day
from query_lang.plans.literals import NUMBERS, small_number
from query_lang.syntax import rules
from query_lang.syntax.nodes import AggregateCall, NumberLiteral
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.refusals import refuse

DEFAULT_BINS, MOST_BINS = 64, 1_024
OF_ITS_DAY = (
    "of a timestamp ask for its day, QUANTILE(arrived::date, 0.99), or for its hour, "
    "QUANTILE(EXTRACT(HOUR FROM arrived), 0.5)"
)


def quantile_instead(tree: AggregateCall, kind: ColumnType, named: str) -> str | None:
    """Return the hint for MIN or MAX of a column; None of a text.

    Args:
        tree: MIN or MAX.
        kind: The type of the column.
        named: The column, as the query has it.
    """
    if kind not in {*NUMBERS, ColumnType.DATE, ColumnType.TIMESTAMP}:
        return None
    taken = f"{named}::date" if kind is ColumnType.TIMESTAMP else named
    return quantile_of_it(tree, taken)


def quantile_of_it(tree: AggregateCall, named: str) -> str:
    """Return the hint for MIN or MAX of what has a name."""
    share = "0.01" if tree.name == "min" else "0.99"
    quantile = f"QUANTILE({named}, {share})"
    return rules.MIN_MAX.hint.replace("QUANTILE(x, 0.99)", quantile)


def quantile_parameters(tree: AggregateCall) -> tuple[Fraction, int]:
    """Return q and the number of bins asked for."""
    wanted = tree.arguments[1:]
    if tree.name == "median":
        fraction, bins = Fraction(1, 2), wanted
    else:
        fraction, bins = _fraction(tree), wanted[1:]
    if len(bins) > (0 if tree.name == "median" else 1) or not tree.arguments:
        raise refuse(rules.QUANTILE, tree.position)
    return fraction, _bins(bins[0], tree) if bins else DEFAULT_BINS


def bins_of(facts: Facts, bounds: Interval, most: int) -> Bins:
    """Return the bins of a value: one for each that it can be, where they suffice.

    Args:
        facts: Of the value; a number or a date.
        bounds: Of it.
        most: Bins at most.
    """
    low, high = bounds
    dates = facts.type is ColumnType.DATE
    values = high - low + 1
    each = facts.type is ColumnType.INTEGER and values <= most
    number, scale = values if each else most, 0 if dates else facts.scale
    return Bins(low, high, number, each, scale, dates)


def width_said(bins: Bins, name: str) -> str:
    """Say how wide the bins are: what lies within one is not told apart."""
    low, high = (_bin_end(end, bins) for end in (bins.lower, bins.upper))
    width = Fraction(bins.upper - bins.lower, bins.count * 10**bins.scale)
    return (
        f"{name} is read from {bins.count} bins of {float(width):.4g}"
        f"{' days' * bins.of_days} between {low} and {high}, and lies anywhere in "
        "one: name the range that matters, LEAST(GREATEST(x, a), b), or more bins"
    )


def _bin_end(end: int, bins: Bins) -> str:
    if bins.of_days:
        return str(day(end))
    return f"{Decimal(end).scaleb(-bins.scale):f}"


def _fraction(tree: AggregateCall) -> Fraction:
    written = tree.arguments[1] if len(tree.arguments) > 1 else None
    if not isinstance(written, NumberLiteral) or len(written.text) > 40:  # noqa: PLR2004 - more digits say nothing
        raise refuse(rules.QUANTILE, tree.position)
    fraction = Fraction(written.text)
    if not 0 < fraction < 1:
        raise refuse(rules.QUANTILE, tree.position)
    return fraction


def _bins(written: Tree, tree: AggregateCall) -> int:
    found = small_number(written, MOST_BINS)
    if found is None or found < 2:  # noqa: PLR2004 - one bin tells nothing
        raise refuse(rules.QUANTILE, tree.position)
    return found
