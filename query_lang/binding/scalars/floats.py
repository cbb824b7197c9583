"""A warning where a float is rounded: PostgreSQL rounds its halves to even numbers.

Every number here is a decimal, also what a text casts to a float, whose halves
are rounded away from zero, as PostgreSQL rounds those of numeric.
"""

from typing import Final

from query_lang.binding.environment import Environment
from query_lang.plans.expressions import Expression
from query_lang.syntax.nodes import Arithmetic, Cast, FunctionCall, Negative
from query_lang.syntax.nodes import Expression as Tree
from query_lang.syntax.type_names import is_float

HALF_TO_EVEN: Final = "half_to_even"
_DETAIL: Final = (
    "half is rounded away from zero here, 2.5 to 3, as numeric is; PostgreSQL rounds a "
    "float's half to the even number, 2: write ::numeric in place of ::float for the "
    "same in both"
)


def warn_of_halves(rounded: Tree, value: Expression, environment: Environment) -> None:
    """Note that what is rounded to a whole number is a float in the text."""
    if value.facts.scale and _is_float(rounded):
        environment.warn(HALF_TO_EVEN, _DETAIL)


def _is_float(tree: Tree) -> bool:
    match tree:
        case Cast():
            return is_float(tree.type)
        case Arithmetic(_, left, right):
            return _is_float(left) or _is_float(right)
        case Negative(value) | FunctionCall("abs", (value,)):
            return _is_float(value)
        case _:
            return False
