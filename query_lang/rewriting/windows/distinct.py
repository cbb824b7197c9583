"""DISTINCT beside windows."""

from dataclasses import replace

from query_lang.rewriting.trees import (
    called,
    has_window,
    is_aggregate,
    mapped,
    names_in,
    new_name,
    output_of,
    parts,
    plain_select,
    wording,
)
from query_lang.syntax import rules
from query_lang.syntax.idioms import WrittenSelect
from query_lang.syntax.nodes import (
    AggregateCall,
    DerivedTable,
    FunctionCall,
    Name,
    Select,
    SelectItem,
    Star,
    WindowCall,
)
from query_lang.syntax.refusals import refuse


def distinct_groups(tree: Select) -> Select:
    """Return DISTINCT at the top as groups, where its windows are over what it shows.

    ``SELECT DISTINCT d, COUNT(*) OVER (PARTITION BY d)`` has a row for each d, with the
    count of its rows: so medians are asked where PERCENTILE_CONT is a window alone.

    Raises:
        SqlNotAllowedError: DISTINCT stands at the top otherwise.
    """
    shown = [item.expression for item in tree.items]
    windows = [part for part in parts(tree.items) if isinstance(part, WindowCall)]
    keys = tuple(each for each in shown if not has_window(each))
    own = "" if tree.joins else called(tree.source)
    wordings = {wording(key, own) for key in keys}
    qualified = isinstance(tree, WrittenSelect) and tree.qualify is not None
    is_plain = not (tree.having or qualified or any(map(is_aggregate, shown)))
    for window in windows:
        same = {wording(key, own) for key in window.partition_by} == wordings
        whole = not window.order_by and window.frame is None
        is_plain = is_plain and same and whole and not _is_numbering(window)
    if not (windows and keys and is_plain):
        raise refuse(rules.DISTINCT, tree.position)

    def grouped(node: object) -> object:
        return node.function if isinstance(node, WindowCall) else node

    changed = {
        name: mapped(getattr(tree, name), grouped) for name in ("items", "order_by")
    }
    return replace(tree, distinct=False, group_by=keys, **changed)


def distinct_rows(tree: Select) -> Select:
    """Return DISTINCT beside windows as one over a table that has them in its list."""
    items = tree.items
    names = [output_of(item) or "" for item in items]
    is_starred = any(isinstance(item.expression, Star) for item in items)
    written = [name for name in names if name]
    if not tree.distinct or is_starred or len({*written}) < len(written):
        return tree
    if not any(has_window(item.expression) for item in items):
        return tree
    taken = {*names_in(tree), *names}
    names = [name or new_name("column", taken) for name in names]
    inner = replace(
        tree,
        distinct=False,
        items=tuple(
            replace(item, alias=name) for item, name in zip(items, names, strict=True)
        ),
    )
    shown = tuple(
        SelectItem(Name(name, None, item.position), None, item.position)
        for item, name in zip(items, names, strict=True)
    )
    outer = plain_select(shown, DerivedTable(inner, "windowed", tree.position))
    return replace(outer, distinct=True)


def _is_numbering(window: WindowCall) -> bool:
    function = window.function
    return isinstance(function, FunctionCall)


def check_function(tree: WindowCall) -> WindowCall:
    """Refuse a quantile over a window, which has groups of the answer alone.

    Raises:
        SqlNotAllowedError: Rule ``within_group``.
    """
    function = tree.function
    if isinstance(function, AggregateCall) and function.name == "quantile":
        hint = "leave OVER out, and group: GROUP BY department"
        raise refuse(rules.WITHIN_GROUP, tree.position, hint=hint)
    return tree
