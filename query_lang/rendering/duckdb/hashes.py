"""Keyed hashes as SQL: of numbers and dates by the engine's hash, of texts by MD5.

Of a few public texts, of which a value is one, its place among them is a number.

The secret is a variable of the engine's session, which no text of ours holds. Where
none is set, as for rows that nobody hides, the hashes are all alike.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from query_lang.plans.expressions import Expression, Facts
from query_lang.plans.nodes import Node, PublicNode
from query_lang.plans.rendered import HASH_KEY
from query_lang.rendering.fragments import Fragment, listed
from query_lang.rendering.keyed_hashes import (
    crowding_rows,
    equated,
    is_digested,
    is_keyed,
    listed_texts,
)

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
        if is_digested(facts):  # texts of equal hashes can be made, after any others
            own = Fragment("hash(md5(") + _KEY + Fragment("||") + value
            own += Fragment("))")
            before = own if before is None else _mixed(own, before)
        else:
            own = Fragment("hash(") + _numbered(value, facts) + _CLOSE
            before = _mixed(own, before or _KEY)
    return before or _KEY


def _numbered(value: Fragment, facts: Facts) -> Fragment:
    """Return a value, or the place of a text in its list: no two have the same."""
    if not (texts := listed_texts(facts)):
        return value
    places = Fragment(f"list_position([{','.join('?' * len(texts))}],", texts)
    return places + value + _CLOSE


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
    held: Node | PublicNode,
    rendered: "ExpressionRenderer",
) -> list[Fragment]:
    """Return what a join also asks of its pairs: that keyed hashes are equal.

    Args:
        condition: What it asks of them.
        sides: Slots of the rows that are looked up, and of those that are held.
        held: The rows that are held.
        rendered: Renders values of both sides.
    """
    pairs = equated(condition, *sides)
    found = [theirs for _, theirs in pairs]
    known = [value.facts for value in found]  # for both sides: equal ones hash alike
    if not is_keyed(crowding_rows(held, found), known):
        return []
    values = [rendered.alike(*pair) for pair in pairs]
    probed = keyed_hash(zip((own for own, _ in values), known, strict=True))
    others = keyed_hash(zip((theirs for _, theirs in values), known, strict=True))
    return [probed + Fragment(" = ") + others]
