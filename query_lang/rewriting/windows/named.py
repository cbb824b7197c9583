"""Windows that a SELECT names in its WINDOW clause, written where they are used."""

from collections.abc import Mapping
from dataclasses import replace

from privacy.errors import SqlNotAllowedError
from query_lang.rewriting.calls import ratio
from query_lang.rewriting.trees import (
    outermost,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import NamedWindow, WindowDefinition, WrittenSelect
from query_lang.syntax.nodes import (
    Position,
    Select,
    WindowCall,
)
from query_lang.syntax.refusals import refuse

_Defined = Mapping[str, WindowDefinition]


def with_windows(tree: WrittenSelect) -> WrittenSelect:
    """Return a SELECT whose windows are written out where they are used.

    Raises:
        SqlNotAllowedError: A name is none of its windows, or given to two.
    """
    defined: dict[str, WindowDefinition] = {}
    for window in tree.windows:
        if window.name in defined:
            raise refuse(rules.NAMED_WINDOW, window.position)
        defined[window.name] = _based(window, defined)

    def written(node: object) -> object:
        if not isinstance(node, NamedWindow):
            return node  # a query inside, which has windows of its own
        whole = _based(
            WindowDefinition(
                node.position,
                "",
                node.base,
                node.partition_by,
                node.order_by,
                node.frame,
            ),
            defined,
        )
        keys, order, frame = whole.partition_by, whole.order_by, whole.frame
        function = outermost(node.function, (NamedWindow, Select), written)
        return ratio(WindowCall(function, keys, order, frame, node.position))

    changed = {
        name: outermost(getattr(tree, name), (NamedWindow, Select), written)
        for name in ("items", "qualify", "kept", "order_by")
    }
    return replace(tree, windows=(), **changed)


def _based(window: WindowDefinition, defined: _Defined) -> WindowDefinition:
    """Return a window with what it takes of the one that it begins with.

    Raises:
        SqlNotAllowedError: There is none of that name before it, or both say the same.
    """
    if window.base is None:
        return window
    base = defined.get(window.base)
    if base is None:
        raise _unknown(window.base, window.position, defined)
    twice = base.order_by and window.order_by
    if window.partition_by or twice or (base.frame and window.frame):
        raise refuse(
            rules.NAMED_WINDOW,
            window.position,
            detail=f"what is over {window.base} says again what {window.base} says",
        )
    return replace(
        window,
        base=None,
        partition_by=base.partition_by,
        order_by=base.order_by or window.order_by,
        frame=base.frame or window.frame,
    )


def _unknown(name: str, position: Position, defined: _Defined) -> SqlNotAllowedError:
    known = f": there is {', '.join(defined)}" if defined else ""
    return refuse(
        rules.NAMED_WINDOW,
        position,
        detail=f"no window before it is called {name}{known}",
    )
