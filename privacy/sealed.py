"""Exact values under seal: nothing may print, compare or store them before noise."""

from collections.abc import Callable
from typing import Final, Generic, NoReturn, TypeVar

SATURATION: Final = 2**62
"""Exact values beyond this are clamped to it, which never increases a distance."""

ValueT = TypeVar("ValueT")
MadeT = TypeVar("MadeT")


class Exact(Generic[ValueT]):
    """A value computed from raw rows, before noise.

    Made only by engines (and release's readers of raw counts), opened only by
    mechanisms; an architecture test holds both. It refuses to be shown, compared,
    hashed, copied or pickled, so that no log line or cache can leak it by accident.
    """

    __slots__ = ("__value",)

    def __init__(self, value: ValueT) -> None:
        self.__value = value

    def unseal(self) -> ValueT:
        """Return the raw value. For mechanisms only."""
        return self.__value

    def map(self, function: Callable[[ValueT], MadeT]) -> "Exact[MadeT]":
        """Return what a function makes of the raw value, under a seal of its own.

        For release's readers of raw counts only; the function must keep nothing.
        """
        return Exact(function(self.__value))

    def __repr__(self) -> str:
        """Say that there is a value, not which."""
        return "Exact(sealed)"

    def _refuse(self, *_: object) -> NoReturn:
        message = "an exact value can only be measured"
        raise TypeError(message)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = __bool__ = __iter__ = __len__ = __format__ = _refuse
    __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = _refuse
    __getstate__ = _refuse
