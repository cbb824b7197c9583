"""Windows: what stands after OVER, and those that WINDOW names."""

from sqlglot import exp

from query_lang.reading.functions import FunctionReader
from query_lang.reading.places import Places
from query_lang.syntax import rules
from query_lang.syntax.functions import FUNCTIONS, WINDOW_ONLY
from query_lang.syntax.idioms import NamedWindow, WindowDefinition
from query_lang.syntax.nodes import (
    AggregateCall,
    CountRows,
    Expression,
    Frame,
    FrameBound,
    FunctionCall,
    Idiom,
    OrderItem,
    Position,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

_MAX_DIGITS = 18  # of a number of rows: within 64 bits
_Call = AggregateCall | CountRows | FunctionCall | Idiom
_Within = tuple[tuple[Expression, ...], tuple[OrderItem, ...], Frame | None]


class WindowReader(FunctionReader):
    """Reads calls that a window follows."""

    def __init__(self, places: Places, *, sequences: bool = False) -> None:
        super().__init__(places, sequences=sequences)
        self._readers[exp.Window] = self._window

    def _window(self, node: exp.Expr) -> Expression:
        self.only(node, "this", "partition_by", "order", "spec", "over", "alias")
        function, base = self._windowed(node.this), node.args.get("alias")
        self._places.take("OVER")
        if base is not None and not self._places.is_sign("("):
            name = self.identifier(base)
            return NamedWindow(function.position, function, name, (), (), None)
        self._places.take_sign("(")
        named = None if base is None else self.identifier(base)
        partition, order, frame = self._within(node)
        self._places.take_sign(")")
        if named is None:
            return WindowCall(function, partition, order, frame, function.position)
        return NamedWindow(function.position, function, named, partition, order, frame)

    def _within(self, node: exp.Expr) -> _Within:
        """Read ``PARTITION BY ... ORDER BY ... ROWS ...``, of which each may lack."""
        keys, order = node.args.get("partition_by"), node.args.get("order")
        partition: tuple[Expression, ...] = ()
        if keys:
            self._places.take("PARTITION", "BY")
            partition = self.listed(keys)
        ordered = () if order is None else self.order(order)
        return partition, ordered, self._frame(node.args.get("spec"))

    def windows(self, nodes: list[exp.Expr] | None) -> tuple[WindowDefinition, ...]:
        """Read ``WINDOW w AS (...), v AS (...)``, where it stands."""
        if not nodes or self._places.word() != "WINDOW":
            return ()
        self._places.take("WINDOW")
        found: list[WindowDefinition] = []
        for node in nodes:
            if found:
                self._places.take_sign(",")
            self.only(node, "this", "partition_by", "order", "spec", "over", "alias")
            position = self._places.position
            name, base = self.identifier(node.this), node.args.get("alias")
            self._places.take("AS")
            self._places.take_sign("(")
            named = None if base is None else self.identifier(base)
            found.append(WindowDefinition(position, name, named, *self._within(node)))
            self._places.take_sign(")")
        return tuple(found)

    def _over(self) -> Position:
        return self._places.ahead(frozenset({"OVER"})) or self._places.position

    def _windowed(self, node: exp.Expr) -> _Call:
        if isinstance(node, exp.Filter):
            return self._filtered(node)
        if isinstance(node, exp.WithinGroup):
            return self._within_group(node)
        if not isinstance(node, exp.Anonymous):
            raise self.refusal(node)
        name = self._places.word()
        if name in FUNCTIONS and name not in WINDOW_ONLY:
            raise refuse(rules.WINDOW, self._places.position)
        return self._called(node)

    def _frame(self, node: exp.Expr | None) -> Frame | None:
        if node is None:
            return None
        position = self._places.position
        if self._places.word() != "ROWS" or node.args.get("exclude"):
            hint = _IN_DAYS if _is_of_values(node) else None
            raise refuse(rules.FRAME, position, hint=hint)
        self._places.take("ROWS")
        between = self._places.accept("BETWEEN")
        start, end = self._bound(), FrameBound("current", None, following=False)
        if between:
            self._places.take("AND")
            end = self._bound()
        if _distance(start) > _distance(end) or _is_outside(start, end):
            raise refuse(
                rules.FRAME, position, detail="this frame ends before it begins"
            )
        return Frame(start, end)

    def _bound(self) -> FrameBound:
        if self._places.accept("CURRENT"):
            self._places.take("ROW")
            return FrameBound("current", None, following=False)
        rows = None
        if not self._places.accept("UNBOUNDED"):
            rows = self.rows()
        following = self._places.accept("FOLLOWING")
        if not following:
            self._places.take("PRECEDING")
        if rows is None:
            return FrameBound("unbounded", None, following=following)
        return FrameBound(
            "following" if following else "preceding", rows, following=following
        )


def _distance(bound: FrameBound) -> float:
    """Return how many rows after the current one a bound lies."""
    rows = 0 if bound.edge == "current" else bound.rows
    distance = float("inf") if rows is None else rows
    return distance if bound.following else -distance


def _is_outside(start: FrameBound, end: FrameBound) -> bool:
    return start.edge == end.edge == "unbounded" and start.following == end.following


_IN_DAYS = (
    "rows of some days before are met by each row: SELECT (SELECT COUNT(*) FROM "
    "encounters AS b WHERE b.patient_id = e.patient_id AND b.admitted BETWEEN "
    "e.admitted - 90 AND e.admitted) AS n FROM encounters AS e"
)


def _is_of_values(node: exp.Expr) -> bool:
    """Whether a frame ends at a distance of values, as RANGE of 90 days does."""
    ends = (node.args.get("start"), node.args.get("end"))
    return node.args.get("kind") == "RANGE" and any(
        isinstance(end, exp.Expr) for end in ends
    )
