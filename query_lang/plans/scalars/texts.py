"""What functions of texts give: by code points, of ASCII letters and blanks alone.

Engines give the same (CONTRACT 1); the public lists of results are made of these.
"""

from collections.abc import Callable, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from privacy.schema import Scalar
from query_lang.plans.expressions import Call, Function

_CHARACTER: Final = 4  # the most bytes of one
_UPPER: Final = str.maketrans(ascii_lowercase, ascii_uppercase)
_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_Known = tuple[Scalar, ...]
_Value = Callable[[tuple[str, ...], _Known], str | int]


def computed(
    function: Function, parameters: tuple[Scalar, ...], values: tuple[str, ...]
) -> str | int:
    """Return the value of a function of texts that are not NULL.

    Raises:
        KeyError: The function is none of texts.
    """
    return _VALUES[function](values, parameters)


def is_computed(function: Function) -> bool:
    """Whether ``computed`` knows a function."""
    return function in _VALUES


def _numbers(known: _Known) -> list[int]:
    return [number for number in known if isinstance(number, int)]


def _part(values: tuple[str, ...], known: _Known) -> str:
    start, length = _numbers(known)
    return values[0][start - 1 : start - 1 + length]


_VALUES: Mapping[Function, _Value] = {
    Function.UPPER: lambda values, _: values[0].translate(_UPPER),
    Function.LOWER: lambda values, _: values[0].translate(_LOWER),
    Function.SUBSTRING: _part,
    Function.RIGHT: lambda values, known: values[0][-_numbers(known)[0] :],
    Function.TRIM: lambda values, _: values[0].strip(" "),
    Function.LTRIM: lambda values, _: values[0].lstrip(" "),
    Function.RTRIM: lambda values, _: values[0].rstrip(" "),
    Function.REPLACE: lambda values, known: values[0].replace(
        str(known[0]), str(known[1])
    ),
    Function.LENGTH: lambda values, _: len(values[0]),
    Function.STRPOS: lambda values, known: values[0].find(str(known[0])) + 1,
    Function.CONCAT: lambda values, _: "".join(values),
}


def most_bytes(call: Call, sizes: Sequence[int]) -> int:
    """Return the most bytes of a call's text, given those of its operands."""
    own = sum(sizes)
    match call.function:
        case Function.SUBSTRING | Function.RIGHT:
            return min(own, _CHARACTER * _numbers(call.parameters)[-1])
        case Function.REPLACE:
            found, written = (len(str(text).encode()) for text in call.parameters)
            return own + max(0, written - found) * (own // found)
        case _:
            return own
