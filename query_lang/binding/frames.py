"""Frames and offsets of windows, over rows and over answers alike."""

from query_lang.plans.literals import small_number
from query_lang.plans.nodes import FrameEnd
from query_lang.syntax import rules
from query_lang.syntax.nodes import Frame, FrameBound, FunctionCall, WindowCall
from query_lang.syntax.refusals import refuse

_MAX_OFFSET = 10**6


def frame_of(tree: WindowCall) -> tuple[FrameEnd, FrameEnd]:
    """Return the frame: the whole partition, or up to the current row where ordered."""
    if tree.frame is None:
        return FrameEnd(None), FrameEnd(0 if tree.order_by else None)
    start, end = _edge(tree.frame.start), _edge(tree.frame.end)
    if not _is_frame(tree.frame, start, end):
        raise refuse(rules.WINDOW_FRAME, tree.position)
    return start, end


def _is_frame(frame: Frame, start: FrameEnd, end: FrameEnd) -> bool:
    if frame.start.edge == "unbounded" and frame.start.following:
        return False
    if frame.end.edge == "unbounded" and not frame.end.following:
        return False
    if start.offset is None or end.offset is None:
        return True
    return -_MAX_OFFSET <= start.offset <= end.offset <= _MAX_OFFSET


def _edge(bound: FrameBound) -> FrameEnd:
    if bound.edge == "unbounded":
        return FrameEnd(None)
    if bound.edge == "current":
        return FrameEnd(0)
    rows = bound.rows or 0
    return FrameEnd(rows if bound.following else -rows)


def offset_of(function: FunctionCall) -> int:
    """Return by how many rows LAG and LEAD look away.

    Raises:
        SqlNotAllowedError: It is no small number, written out.
    """
    if len(function.arguments) == 1:
        return 1
    offset = small_number(function.arguments[1], _MAX_OFFSET)
    if offset is None:
        raise refuse(rules.WINDOW_FORM, function.position)
    return offset
