"""Keyed hashes as SQL: of numbers and dates by the engine's hash, of texts by MD5.

The secret is a variable of the engine's session, which no text of ours holds. Where
none is set, as for rows that nobody hides, the hashes are all alike.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from query_lang.plans.expressions import Expression, Facts
from query_lang.plans.rendered import HASH_KEY
from query_lang.rendering.fragments import Fragment, listed
from query_lang.rendering.keyed_hashes import equated, is_keyed, is_text

if TYPE_CHECKING:  # expressions hold subqueries, whose joins are keyed
    from query_lang.rendering.duckdb.expressions import ExpressionRenderer

_KEY: Final = Fragment(f"getvariable('{HASH_KEY}')")
_CLOSE: Final = Fragment(")")


def keyed_hash(values: Iterable[tuple[Fragment, Facts]]) -> Fragment:
    """Return one hash of some values: each is mixed with that of those before it.

    >>> from privacy.schema import ColumnType
    >>> keyed_hash([(Fragment("s1"), Facts(ColumnType.INTEGER))]).sql
    "hash(xor(hash(s1),getvariable('hash_key')))"
    """
    before: Fragment | None = None
    for value, facts in values:
        if is_text(facts):  # texts of equal hashes can be made, whatever precedes them
            own = Fragment("hash(md5(") + _KEY + Fragment("||") + value
            own += Fragment("))")
            before = own if before is None else _mixed(own, before)
        else:
            own = Fragment("hash(") + value + _CLOSE
            before = _mixed(own, before or _KEY)
    return before or _KEY


def _mixed(own: Fragment, before: Fragment) -> Fragment:
    return Fragment("hash(xor(") + own + Fragment(",") + before + Fragment("))")


def group_terms(
    names: Sequence[Fragment], facts: Sequence[Facts], *, keyed: bool
) -> list[Fragment]:
    """Return the terms of a GROUP BY: the keys, and perhaps a keyed hash of them."""
    if not keyed:
        return [*names]
    return [*names, keyed_hash(zip(names, facts, strict=True))]


def count_distinct(value: Fragment, facts: Facts, *, keyed: bool) -> Fragment:
    """Return a COUNT(DISTINCT ...), perhaps of values beside their keyed hashes.

    Args:
        value: A name: it is written several times.
        facts: Known of it.
        keyed: Whether there are hashes.
    """
    if not keyed:
        return Fragment("COUNT(DISTINCT ") + value + _CLOSE
    pair = listed([value, keyed_hash([(value, facts)])])
    counted = Fragment("COUNT(DISTINCT CASE WHEN ") + value
    counted += Fragment(" IS NOT NULL THEN row(") + pair
    return counted + Fragment(") END)")


def keyed_equality(
    condition: Expression | None,
    sides: tuple[frozenset[int], frozenset[int]],
    rows: int,
    rendered: "ExpressionRenderer",
) -> list[Fragment]:
    """Return what a join also asks of its pairs: that keyed hashes are equal.

    Args:
        condition: What it asks of them.
        sides: Slots of the rows that are looked up, and of those that are held.
        rows: That one unit has among those held.
        rendered: Renders values of both sides.
    """
    pairs = equated(condition, *sides)
    if not is_keyed(rows, [theirs.facts for _, theirs in pairs]):
        return []
    values = [rendered.alike(*pair) for pair in pairs]
    probed = keyed_hash(
        (own, pair[0].facts) for (own, _), pair in zip(values, pairs, strict=True)
    )
    held = keyed_hash(
        (theirs, pair[1].facts) for (_, theirs), pair in zip(values, pairs, strict=True)
    )
    return [probed + Fragment(" = ") + held]
