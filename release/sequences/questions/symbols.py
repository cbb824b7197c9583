"""Literals of a question as codes of public values, and as numbers."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from privacy.schema import Scalar
from query_lang.binding.outside_domain import nearest_value
from query_lang.plans.expressions import Facts
from query_lang.plans.literals import LITERALS, small_number, typed_value
from query_lang.syntax.nodes import Expression, FunctionCall, NullLiteral, NumberLiteral
from query_lang.syntax.refusals import refuse
from release.contract.domain import Dimension
from release.contract.sequence_domain import SequenceDomain
from release.sequences.contract import Run
from release.sequences.questions import rules
from release.sequences.questions.levels import is_numbered, symbol_steps

_DECIMALS: Final = 6
_DIGITS: Final = 24
_MOST_STEPS: Final = 2**62
_MOST_BANDS: Final = 200  # on each side of the one around 0


def run_of(call: FunctionCall, domain: SequenceDomain) -> Run:
    """Return the run between a call's brackets.

    Raises:
        QueryError: They hold no literals, or no symbols, or more than h of them.
    """
    if len(call.arguments) > domain.max_length:
        raise past_length(call, domain)
    return tuple(code_of(item, domain.alphabet) for item in call.arguments)


def code_of(tree: Expression, dimension: Dimension) -> int:
    """Return the place of a literal among a dimension's values.

    Raises:
        QueryError: It is no literal, or none of them.
    """
    if not isinstance(tree, LITERALS):
        raise refuse(rules.SYMBOLS_LISTED, tree.position)
    value: Scalar | None = None
    if not isinstance(tree, NullLiteral):
        facts = Facts(dimension.type, dimension.scale)
        value = typed_value(tree, facts, dimension.name)
    if value not in dimension.values:
        raise refuse(
            rules.UNKNOWN_SYMBOL,
            tree.position,
            detail=f"this is none of the declared values of {dimension.name}",
            hint=_near(value, dimension.values)
            + f"one of: {_listed(dimension.values)}",
        )
    return dimension.values.index(value)


def whole_number(tree: Expression, most: int) -> int:
    """Return a whole number from 0 on; those past ``most`` are ``most + 1``.

    Raises:
        SqlNotAllowedError: Rule ``whole_number``.
    """
    if not isinstance(tree, NumberLiteral) or not tree.text.isdigit():
        raise refuse(rules.WHOLE_NUMBER, tree.position)
    found = small_number(tree, most)
    return most + 1 if found is None else found


def place_of(call: FunctionCall, domain: SequenceDomain) -> int:
    """Return k of SYMBOL_AT(k).

    Raises:
        SqlNotAllowedError: It is no place of a sequence.
    """
    (argument,) = call.arguments
    place = whole_number(argument, domain.max_length)
    if not 1 <= place <= domain.max_length:
        raise past_length(call, domain)
    return place


def past_length(tree: Expression, domain: SequenceDomain) -> Exception:
    """Return the refusal of what lies past the symbols that were looked at."""
    return refuse(
        rules.PAST_LENGTH,
        tree.position,
        detail=f"the release looks at the first {domain.max_length} symbols of each "
        "sequence, counted from 1",
    )


def slope_bound(tree: Expression, domain: SequenceDomain) -> Fraction:
    """Return a number that slopes are compared with.

    Raises:
        SqlNotAllowedError: The symbols have no order, or the number does not fit.
    """
    check_slope(tree, domain)
    if not isinstance(tree, NumberLiteral):
        raise refuse(rules.SLOPE_BOUND, tree.position)
    digits = tree.text.lstrip("-")
    if len(digits.partition(".")[2]) > _DECIMALS or len(digits) > _DIGITS:
        raise refuse(rules.SLOPE_BOUND, tree.position)
    try:
        bound = Fraction(tree.text)
    except ValueError:
        raise refuse(rules.SLOPE_BOUND, tree.position) from None
    if not _is_small(bound, domain):
        raise refuse(rules.SLOPE_BOUND, tree.position)
    return bound


def check_slope(tree: Expression, domain: SequenceDomain) -> None:
    """Refuse slopes of symbols without an order.

    Raises:
        SqlNotAllowedError: Rule ``slope_of_order``.
    """
    if not (domain.alphabet.ordered or is_numbered(domain)):
        raise refuse(rules.SLOPE_OF_ORDER, tree.position)


def bands(width: Fraction, tree: Expression, domain: SequenceDomain) -> int:
    """Return how many bands a slope needs on each side of the one around 0.

    No slope is steeper than from the least to the greatest symbol in one place.

    Raises:
        SqlNotAllowedError: The width is not positive, or there are too many.
    """
    if width <= 0:
        raise refuse(rules.SLOPE_BOUND, tree.position, hint="write SLOPE_BAND(0.5)")
    steps = [step for step in symbol_steps(domain) if step is not None]
    steepest = Fraction(max(steps) - min(steps), 10**domain.alphabet.scale)
    most = int(steepest / width + Fraction(1, 2))
    if most > _MOST_BANDS:
        raise refuse(rules.MANY_BANDS, tree.position)
    return most


def _is_small(bound: Fraction, domain: SequenceDomain) -> bool:
    """Whether comparing slopes with a bound stays within 64 bits."""
    steps = [abs(step) for step in symbol_steps(domain) if step is not None]
    bound *= 10**domain.alphabet.scale
    rise = 12 * max(steps, default=0) * domain.max_length**2
    run = domain.max_length**3
    return (
        4 * (rise + 1) * bound.denominator < _MOST_STEPS
        and 4 * run * abs(bound.numerator) < _MOST_STEPS
    )


def _near(value: Scalar | None, values: Sequence[Scalar | None]) -> str:
    named = [str(each) for each in values if each is not None]
    near = None if value is None else nearest_value(str(value), named)
    return "" if near is None else f"did you mean '{near}'? "


def _listed(values: Sequence[Scalar | None]) -> str:
    shown = ["NULL" if value is None else str(value) for value in values[:12]]
    return ", ".join(shown) + (", ..." if len(values) > len(shown) else "")
