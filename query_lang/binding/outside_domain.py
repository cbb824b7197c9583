"""What to say of a literal that no row can hold: what the public domain does hold."""

from collections import Counter
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Final

from privacy.schema import RangeDomain, Scalar, ValuesDomain
from query_lang.plans.compiled import QueryWarning
from query_lang.plans.expressions import Facts
from query_lang.syntax.nodes import Position

MOST_LOOKED_FOR: Final = 2
"""Literals of one query for which a near value is looked for: each look takes time."""

MOST_TOLD: Final = 12
"""Literals and lists of one query of which a warning says that no row holds them."""

LITERALS_OUTSIDE: Final = "literals outside"
"""What they are counted by, those of a list once."""

MOST_PAIRS: Final = 10_000
"""Pairs of a letter sought and one declared in a look for what is spelt alike.

Such a look takes longer than their number, and whoever may plan can ask for it.
"""

_MOST_VALUES: Final = 256
_MOST_NAMED: Final = 6
_MOST_PLACES: Final = 3


def outside_of(places: Sequence[Position], column: str) -> str:
    """Return that literals of one list, or one, lie outside the domain of a column.

    >>> outside_of([Position(1, 45)], "age")
    'the literal at line 1, column 45 lies outside the declared domain of age'
    """
    named = [f"line {at.line}, column {at.column}" for at in places[:_MOST_PLACES]]
    where = f"outside the declared domain of {column}"
    if len(places) == 1:
        return f"the literal at {named[0]} lies {where}"
    more = len(places) - len(named)
    shown = f"{'; '.join(named)}{f' and {more} more' * (more > 0)}"
    return f"{len(places)} literals of a list lie {where} ({shown})"


def untold(counted: Counter[str]) -> list[QueryWarning]:
    """Return the warning of those for which no warning of their own was left."""
    more = counted[LITERALS_OUTSIDE] - MOST_TOLD
    if more <= 0:
        return []
    detail = f"{more} more literals or lists lie outside the domains of their columns"
    return [QueryWarning("literal_outside_domain", detail)]


def declared_instead(value: Scalar, facts: Facts, *, is_near_wanted: bool) -> str:
    """Return the nearest declared value, and what is declared, in words.

    Reads the literal and the public domain alone.

    Args:
        value: Of the literal; the domain does not hold it.
        facts: Of the column beside it.
        is_near_wanted: Whether to look for a value that may have been meant.

    >>> from privacy.schema import ColumnType
    >>> sexes = Facts(ColumnType.TEXT, domain=ValuesDomain(("F", "M")))
    >>> declared_instead("Female", sexes, is_near_wanted=True)
    ": did you mean 'F'? declared: F, M"
    """
    match facts.domain:
        case RangeDomain(least, most):
            return f": declared are {least} to {most}"
        case ValuesDomain() as listed:
            values = listed.all_values()
            meant = _meant(value, values) if is_near_wanted else ""
            named = ", ".join(str(each) for each in values[:_MOST_NAMED])
            more = len(values) - _MOST_NAMED
            return f": {meant}declared: {named}{f' and {more} more' * (more > 0)}"
        case _:
            return ""


def _meant(value: Scalar, values: Sequence[Scalar]) -> str:
    """Ask for what may have been meant: a value, or all that begin so, as codes do."""
    near = _nearest(value, values)
    texts = [each for each in values if isinstance(each, str)]
    if isinstance(value, str) and value and near not in _alike(value, texts):
        begun = sum(text.startswith(value) for text in texts)
        if begun > 1:
            return f"{begun:,} begin so, which LIKE takes with % at its end; "
    return "" if near is None else f"did you mean '{near}'? "


def _alike(value: str, texts: Sequence[str]) -> list[str]:
    folded = value.strip().casefold()
    return [text for text in texts if text.casefold() == folded]


def _nearest(value: Scalar, values: Sequence[Scalar]) -> str | None:
    """Return a value that may have been meant; long lists are not even written out."""
    if len(values) > _MOST_VALUES:
        return None
    return nearest_value(str(value), [str(each) for each in values])


def nearest_value(text: str, values: Sequence[str]) -> str | None:
    """Return the value of the same letters, else that begins alike, else spelt so.

    None where none comes near, or they are too many to look through. Whether one is
    spelt so is not looked for where they are too long.
    """
    if len(values) > _MOST_VALUES:
        return None
    folded = {each.casefold(): each for each in reversed(values)}
    wanted = text.strip().casefold()
    alike = [wanted] if wanted in folded else _begun_alike(wanted, folded)
    alike = alike or _spelt_alike(wanted, folded)
    return folded[alike[0]] if alike else None


def _spelt_alike(wanted: str, folded: Collection[str]) -> list[str]:
    if len(wanted) * sum(map(len, folded)) > MOST_PAIRS:
        return []
    return get_close_matches(wanted, folded, n=1)


def _begun_alike(wanted: str, folded: dict[str, str]) -> list[str]:
    found = [
        each
        for each in folded
        if each and wanted and (wanted.startswith(each) or each.startswith(wanted))
    ]
    return found if len(found) == 1 else []
