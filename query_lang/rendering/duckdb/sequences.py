"""Sequences of units as one statement: a text a sequence, one character a symbol.

A text is compared, grouped and sent as fast as any value is. The character of code c is
``FIRST_MARK + c``; every one of them lies below the surrogates.
"""

from collections.abc import Mapping
from typing import Final

from privacy.schema import ColumnType, Hierarchy
from privacy.sequences import PHASES
from query_lang.plans.dimensions import CubeDimension
from query_lang.plans.expressions import Facts, slots_read
from query_lang.plans.nodes import tie_break
from query_lang.plans.sequences import UnitSequences
from query_lang.rendering.duckdb.expressions import SQL_TYPES, slot_name
from query_lang.rendering.duckdb.hashes import keyed_hash
from query_lang.rendering.duckdb.nodes import NodeRenderer
from query_lang.rendering.fragments import Fragment, listed
from query_lang.rendering.keyed_hashes import dimension_facts, is_keyed
from query_lang.syntax.nodes import Position

FIRST_MARK: Final = 0x100

_MARK: Final = f"chr(CAST({FIRST_MARK} + symbols.code AS INTEGER))"
_STORED = {int: "BIGINT", str: "VARCHAR", bool: "BOOLEAN"}


def render_sequences(
    made: UnitSequences,
    dimensions: tuple[CubeDimension, CubeDimension | None],
    own: Mapping[str, Hierarchy],
    position: Position,
) -> Fragment:
    """Return one statement: the group's code, the sequence, its phase, and how many.

    Args:
        made: What is rendered.
        dimensions: The alphabet, and the split.
        own: The dataset's own hierarchies.
        position: Where FROM begins, for refusals.

    Raises:
        SqlNotAllowedError: Rule ``too_complex``.
    """
    rows = _marked(made, dimensions, NodeRenderer(own, position))
    if made.place is not None:
        rows = _with_gaps(made, rows, len(dimensions[0].stored) - 1)
    units = _units(made, rows)
    most = f"({PHASES} * length(sequence))"
    phase = f"(unit % {most} + {most}) % {most}"  # a hash may be negative
    query = Fragment(
        f"SELECT split, sequence, {phase} AS phase, COUNT(*) FROM "  # noqa: S608 - our own names
    )
    keyed = keyed_hash([(Fragment("sequence"), Facts(ColumnType.TEXT))])
    return query + units + Fragment(" GROUP BY split, sequence, phase, ") + keyed


def _marked(
    made: UnitSequences,
    dimensions: tuple[CubeDimension, CubeDimension | None],
    nodes: NodeRenderer,
) -> Fragment:
    """Return the rows with the marks of their symbols and codes of their splits."""
    alphabet, split = dimensions
    child = made.child
    wanted = {
        child.owner,
        made.symbol,
        *tie_break(child),
        *slots_read(made.order.value),
    }
    wanted |= {slot for slot in (made.place, made.group) if slot is not None}
    rows = nodes.expressions(child.slots)
    order = rows.render(made.order.value)
    below = rows.wrapped(nodes.gathered(child, frozenset(wanted)))
    source = Fragment("(SELECT *, ") + order + Fragment(" AS place FROM ") + below
    source += Fragment(") AS own JOIN ") + _codes(alphabet, "symbols")
    source += _equal(slot_name(made.symbol), "symbols.value", alphabet)
    if split is None or made.group is None:
        return source
    source += Fragment(" JOIN ") + _codes(split, "splits")
    return source + _equal(slot_name(made.group), "splits.value", split)


def _equal(own: str, listed_value: str, dimension: CubeDimension) -> Fragment:
    """Return ON for a row's value and a listed one, by their keyed hashes too.

    A text of FROM may have chosen both, and every row looks one up.
    """
    on = Fragment(f" ON {own} IS NOT DISTINCT FROM {listed_value}")
    facts = dimension_facts(dimension)
    if not is_keyed(len(dimension.stored), [facts]):
        return on
    one, other = (keyed_hash([(Fragment(name), facts)]) for name in (own, listed_value))
    return on + Fragment(" AND ") + one + Fragment(" = ") + other


def _codes(dimension: CubeDimension, name: str) -> Fragment:
    """Return a relation of a dimension's codes and stored values."""
    kind = _kind(dimension)
    pairs = listed(
        Fragment(f"({code}, CAST(NULL AS {kind}))")
        if value is None
        else Fragment(f"({code}, CAST(? AS {kind}))", (value,))
        for code, value in enumerate(dimension.stored)
    )
    return Fragment("(VALUES ") + pairs + Fragment(f") AS {name}(code, value)")


def _kind(dimension: CubeDimension) -> str:
    """Return the type of the stored values; labels may be shown in another."""
    known = next((value for value in dimension.stored if value is not None), "")
    return _STORED.get(type(known)) or SQL_TYPES[dimension.type]


def _units(made: UnitSequences, rows: Fragment) -> Fragment:
    """Return one row a unit: its stored key, its split and its sequence."""
    owner = slot_name(made.child.owner)
    terms = [
        "place ASC NULLS LAST",
        *(f"{slot_name(slot)} ASC NULLS FIRST" for slot in tie_break(made.child)),
    ]
    marks, split = _MARK, "0" if made.group is None else "MIN(splits.code)"
    if made.place is not None:  # one row a place: nothing ties
        marks, terms = "marks", ["place ASC"]
        split = "0" if made.group is None else "MIN(split)"
    text = f"left(string_agg({marks}, '' ORDER BY {', '.join(terms)}), ?)"
    query = Fragment(
        f"(SELECT {owner} AS unit, CAST({split} AS BIGINT) AS split, "  # noqa: S608 - our own names
        f"{text} AS sequence FROM ",
        (made.max_length,),
    )
    return query + rows + Fragment(f" GROUP BY {owner})")


def _with_gaps(made: UnitSequences, rows: Fragment, null: int) -> Fragment:
    """Put the mark of NULL, whose code is given, for each period without a row.

    Places beyond the maximal length count as it: nothing there is looked at, so a row
    there costs no marks, and differences stay far from the ends of 64 bits.
    """
    owner = slot_name(made.child.owner)
    before = f"COALESCE(LAG(place) OVER (PARTITION BY {owner} ORDER BY place), -1)"
    gap = f"repeat(?, CAST(LEAST(place, ?) - LEAST({before}, ?) - 1 AS BIGINT))"
    split = "" if made.group is None else ", splits.code AS split"
    query = Fragment(
        f"(SELECT {owner}, place, {gap} || {_MARK} AS marks{split} FROM ",  # noqa: S608 - our own names
        (chr(FIRST_MARK + null), made.max_length, made.max_length),
    )
    return query + rows + Fragment(")")
