"""Loss and risk against k: what a custodian sees before choosing it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from upstream.anonymization.copies.given import GivenTable, Method, made_table
from upstream.anonymization.copies.measuring import Measures, measures_of
from upstream.anonymization.errors import UnreachableError

USUAL = (2, 3, 5, 10, 20, 50, 100)
"""The k that a plan tries beside the declared one."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a k would give.

    Attributes:
        k: Patients of a class.
        measures: Of the table; None where there is none.
    """

    k: int
    measures: Measures | None


def choices(
    given: GivenTable, method: Method, declared: int, tried: Sequence[int] = USUAL
) -> Iterator[Choice]:
    """Yield what each k would give, rising; those above the patients are left out.

    Args:
        given: What was read.
        method: How classes are made.
        declared: The declared k, tried too.
        tried: Others.

    Raises:
        ValueError: The lattice of hierarchies is too large.
    """
    for k in tried_ks(declared, given.people, tried):
        yield Choice(k, _measured(given, method, k))


def tried_ks(declared: int, people: int, tried: Sequence[int] = USUAL) -> list[int]:
    """Return the k that a plan tries, rising.

    Args:
        declared: The declared one, tried however many people there are.
        people: Others are at most that.
        tried: The others.

    >>> tried_ks(30, 12)
    [2, 3, 5, 10, 30]
    """
    return sorted({declared, *(k for k in tried if k <= people)})


def _measured(given: GivenTable, method: Method, k: int) -> Measures | None:
    try:
        table = made_table(given, k, method).table
    except UnreachableError:
        return None
    return measures_of(given, table, k)
