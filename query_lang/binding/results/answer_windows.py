"""Windows over the rows of the answer: sums so far, shares of the total, ranks."""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Final, cast

from privacy.schema import ColumnType
from query_lang.binding.frames import frame_of, offset_of
from query_lang.binding.results.computed import speaks_of_results
from query_lang.plans.compiled import (
    NoisyCondition,
    OrderTerm,
    PublicShown,
    Shown,
    WindowName,
    WindowShown,
)
from query_lang.plans.expressions import Facts
from query_lang.showing.values import SHOWN_DIGITS
from query_lang.syntax import rules
from query_lang.syntax.nodes import (
    AggregateCall,
    FunctionCall,
    WindowCall,
)
from query_lang.syntax.nodes import (
    Expression as Tree,
)
from query_lang.syntax.refusals import refuse

MAX_WINDOW_ROWS: Final = 1_000
"""Cells of an answer that has windows: each reads up to all others."""

_RANKS: Final = frozenset({"row_number", "rank", "dense_rank"})
_SHIFTS: Final = frozenset({"lag", "lead"})
_ENDS: Final = frozenset({"first_value", "last_value"})
_FRAMED: Final = frozenset({"sum", "avg", "min", "max"}) | _ENDS


@dataclass(frozen=True, slots=True)
class AnswerWindowBinder:
    """Binds windows over what ``shown`` returns.

    Attributes:
        shown: The key or number that an expression is.
        operand: A number, perhaps computed.
        facts: The type of all of these; windows are added.
        rows: HAVING, or None; refuses what is no place for a window.
        warn_of_order: Says what an order is that SQL has otherwise.
    """

    shown: Callable[[Tree], Shown]
    operand: Callable[[Tree], Shown]
    facts: MutableMapping[Shown, Facts]
    rows: Callable[[WindowCall], NoisyCondition | None]
    warn_of_order: Callable[[Shown], None]

    def bind(self, tree: WindowCall) -> Shown:
        """Return what a window means.

        Raises:
            QueryError: It is over rows of the tables, or has another form.
        """
        function = tree.function
        if not isinstance(function, AggregateCall | FunctionCall):
            raise refuse(rules.ANSWER_WINDOW, tree.position)
        name, takes = function.name, function.arguments
        if isinstance(function, AggregateCall) and not speaks_of_results(takes):
            raise refuse(rules.WINDOW_PLACE, tree.position)
        rows = self.rows(tree)
        self._check_form(name, tree)
        operand = self.operand(takes[0]) if takes else None
        order = tuple(
            OrderTerm(self.shown(o.expression), o.descending, bool(o.nulls_first))
            for o in tree.order_by
        )
        for term in order:
            self.warn_of_order(term.value)
        by_keys = all(isinstance(term.value, PublicShown) for term in order)
        if name not in _RANKS and not by_keys:
            raise refuse(rules.ANSWER_WINDOW_ORDER, tree.position)
        facts = self._facts(name, operand)
        start, end = frame_of(tree)
        shown = WindowShown(
            cast("WindowName", name),
            operand,
            self._partition(tree),
            order,
            (start.offset, end.offset),
            tree.frame is not None,
            _offset(tree),
            rows,
            facts.scale if facts.type is ColumnType.DECIMAL else 0,
        )
        self.facts[shown] = facts
        return shown

    def _check_form(self, name: str, tree: WindowCall) -> None:
        plain = not isinstance(tree.function, AggregateCall) or not (
            tree.function.distinct or tree.function.order_by
        )
        is_known = name in _RANKS | _SHIFTS | _FRAMED and plain
        framed = tree.frame is not None and name not in _FRAMED
        unordered = not tree.order_by and name not in _FRAMED - _ENDS
        if not is_known or framed or unordered:
            raise refuse(rules.ANSWER_WINDOW, tree.position)

    def _partition(self, tree: WindowCall) -> tuple[PublicShown, ...]:
        found: list[PublicShown] = []
        for part in tree.partition_by:
            key = self.shown(part)
            if not isinstance(key, PublicShown):
                raise refuse(rules.ANSWER_WINDOW_ORDER, part.position)
            found.append(key)
        return tuple(found)

    def _facts(self, name: str, operand: Shown | None) -> Facts:
        if operand is None:
            return Facts(ColumnType.INTEGER)
        known = self.facts[operand]
        if name == "avg":
            return Facts(ColumnType.DECIMAL, max(SHOWN_DIGITS, known.scale))
        return Facts(known.type, known.scale)


def _offset(tree: WindowCall) -> int:
    function = tree.function
    if isinstance(function, FunctionCall) and function.name in _SHIFTS:
        return offset_of(function)
    return 0
