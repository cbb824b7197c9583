"""Whether two expressions are written alike: the same words, wherever they stand."""

from collections.abc import Hashable
from typing import Final

from query_lang.syntax.nodes import Cast, Expression, FunctionCall, Position

MOST_PARTS: Final = 64
"""Parts of an expression that are compared, those within parts counted each time; of
longer ones nothing is said."""


def written_alike(tree: Expression) -> Hashable | None:
    """Return what calls and casts of one wording share; None of other forms.

    >>> from query_lang.syntax.nodes import FunctionCall, Name, Position
    >>> place = Position(1, 1)
    >>> upper = FunctionCall("upper", (Name("code", None, place),), place)
    >>> written_alike(upper)
    ('FunctionCall', 'upper', (('Name', 'code', None),))
    """
    if not isinstance(tree, FunctionCall | Cast):
        return None
    left = [MOST_PARTS]
    found = _wording(tree, left)
    return found if left[0] >= 0 else None


def _wording(part: object, left: list[int]) -> Hashable:
    left[0] -= 1
    if left[0] < 0:
        return None
    if isinstance(part, tuple):
        return tuple(_wording(each, left) for each in part)
    names: tuple[str, ...] | None = getattr(type(part), "__match_args__", None)
    if names is None:
        return part
    fields = (getattr(part, name) for name in names)
    shown = (_wording(f, left) for f in fields if not isinstance(f, Position))
    return (type(part).__name__, *shown)
