"""A tree as it was written to one of the language's own words."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from query_lang.rewriting.answers.joined_texts import refused, with_flags
from query_lang.rewriting.answers.scalars import (
    with_one_table,
    with_totals_in_brackets,
)
from query_lang.rewriting.answers.stacked import as_one_union, stacked
from query_lang.rewriting.calls import (
    counted,
    filtered,
    other_call,
    ratio,
    truncated,
)
from query_lang.rewriting.common_tables import with_tables_in_front
from query_lang.rewriting.conditions import (
    is_distinct,
    is_truth,
    known_true,
    quantified,
    quantified_list,
    row_in,
    row_refusal,
    symmetric_between,
)
from query_lang.rewriting.constants.tables import without_constants
from query_lang.rewriting.joins import check_natural_joins, first_row_join, plain_joins
from query_lang.rewriting.layers import MOST_LAYERS, with_one_aggregate
from query_lang.rewriting.literal_casts import with_plain_literals
from query_lang.rewriting.periods import overlaps
from query_lang.rewriting.quantiles import array_element, quantile_at, within_group
from query_lang.rewriting.set_operations import named_parts, set_operation
from query_lang.rewriting.texts import like_each, other_like
from query_lang.rewriting.totals.bracketed import scalar_refusal, with_totals
from query_lang.rewriting.totals.grouping_sets import has_sets, with_sets
from query_lang.rewriting.trees import Sizes, aggregates, mapped, parts
from query_lang.rewriting.values_of_rows import with_values_of_rows
from query_lang.rewriting.windows.distinct import (
    check_function,
    distinct_groups,
    distinct_rows,
)
from query_lang.rewriting.windows.first_rows import written_select
from query_lang.rewriting.windows.grouped import grouped_below
from query_lang.rewriting.windows.named import with_windows
from query_lang.syntax import rules
from query_lang.syntax.idioms import (
    ArrayElement,
    ConstantRows,
    Filtered,
    FirstRowJoin,
    IsDistinct,
    IsTruth,
    JoinedTexts,
    LikeEach,
    NamedWindow,
    NoTable,
    OtherCall,
    OtherLike,
    Overlaps,
    Quantified,
    QuantifiedList,
    QuantileAt,
    RowIn,
    RowInQuery,
    ScalarQuery,
    Series,
    SetOperation,
    SymmetricBetween,
    UnionAnswer,
    WithinGroup,
    WrittenJoin,
    WrittenSelect,
    WrittenUnion,
)
from query_lang.syntax.nodes import (
    AggregateCall,
    Case,
    DerivedTable,
    Expression,
    FunctionCall,
    Join,
    Name,
    Query,
    Select,
    Star,
    UnionAll,
    WindowCall,
)
from query_lang.syntax.refusals import NAMED_BY_PLACE, refuse

_CHOSEN_GROUPS = (
    "number the groups in a table over theirs: FROM (SELECT patient_id, code, "
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY n DESC) AS place FROM (SELECT "
    "patient_id, code, COUNT(*) AS n FROM diagnoses GROUP BY patient_id, code) AS g) "
    "AS most WHERE place = 1"
)
_MOST_OVERLAPS = 12
"""OVERLAPS in a text: each is twenty comparisons."""


def rewritten(tree: Query) -> Query:
    """Return a tree without idioms that means the same; places stay those of the text.

    Raises:
        SqlNotAllowedError: An idiom has no meaning where it stands.
    """
    _check_sets(tree)
    check_natural_joins(tree)
    tree = _with_answer_rows(as_one_union(tree))
    sizes = Sizes()

    def changed(node: object) -> object:
        change = _CHANGES.get(type(node))
        found = node if change is None else change(node)
        if found is not node:
            sizes.check(found, getattr(node, "position", tree.select.position))
        return found

    plain = with_tables_in_front(with_plain_literals(tree))
    plain = with_totals_in_brackets(without_constants(plain))
    found = _with_one_answer(mapped(plain, changed))
    found = replace(found, select=with_totals(found.select))
    found = with_one_aggregate(found)
    found = mapped(found, grouped_below)
    found = replace(found, select=_with_plain_rows(found.select))
    for item in found.select.items:
        if isinstance(item.expression, Star):
            raise refuse(rules.STAR, item.position)
    sizes.check(found, found.select.position)
    _check_parts(found)
    return found


def _with_one_answer(tree: Query) -> Query:
    """Return a query whose top is one SELECT of one table of rows."""
    select, tables = tree.select, tree.common_tables
    if isinstance(select, UnionAnswer):
        return replace(tree, select=stacked(select, tables))
    return replace(tree, select=with_one_table(select, tables))


def _with_plain_rows(select: Select) -> Select:
    """Write out the aliases of a SELECT list in its QUALIFY, windows there too."""
    if select.kept is None:
        return select
    meant = {item.alias: item.expression for item in select.items}
    taken: list[Name] = []

    def written(node: object) -> object:
        if not isinstance(node, Name) or node.qualifier is not None:
            return node
        found = meant.get(node.name, node)
        if isinstance(found, Name) and found.name == node.name:
            return node
        taken.append(node)
        return found

    kept = mapped(select.kept, written)
    return replace(select, kept=kept, aliases=(*select.aliases, *taken))


def _check_parts(tree: Query) -> None:
    """Refuse what has no meaning where it stands, once all else is rewritten."""
    for part in parts(tree):
        if isinstance(part, RowInQuery):
            raise row_refusal(part)
        if isinstance(part, JoinedTexts):
            raise refused(part)
        if isinstance(part, NamedWindow):
            detail = f"no WINDOW names {part.base}"
            raise refuse(rules.NAMED_WINDOW, part.position, detail=detail)
        if isinstance(part, ScalarQuery):
            raise scalar_refusal(part)
        if isinstance(part, OtherCall):  # the one that stands over a window alone
            hint = "RATIO_TO_REPORT(COUNT(*)) OVER ()"
            raise refuse(rules.WINDOW_NEEDED, part.position, hint=hint)
        if isinstance(part, Select):
            _check_select(part, is_top=part is tree.select)


def _check_select(select: Select, *, is_top: bool) -> None:
    _check_source(select)
    if select.sets and not is_top:
        detail = "ROLLUP, CUBE and GROUPING SETS stand at the top of the query"
        raise refuse(rules.GROUPING_SETS, select.position, detail=detail)
    if select.kept is not None and not (is_top and aggregates(select)):
        instead = _CHOSEN_GROUPS if aggregates(select) else None
        raise refuse(rules.QUALIFY, select.kept.position, hint=instead)


def _check_source(tree: Select) -> None:
    """Refuse a SELECT that reads nothing but literals."""
    source = tree.source
    if isinstance(source, NoTable):
        raise refuse(rules.FROM_CLAUSE, tree.position)
    query = source.query if isinstance(source, DerivedTable) else None
    if isinstance(query, ConstantRows | Series):
        raise refuse(rules.CONSTANT_ROWS, source.position)


def _check_sets(tree: Query) -> None:
    """Refuse more UNIONs and the like than a query reads tables: each is nested.

    Raises:
        SqlNotAllowedError: Rule ``relation_count``.
    """
    periods = [part for part in parts(tree) if isinstance(part, Overlaps)]
    if len(periods) > _MOST_OVERLAPS:
        hint = (
            f"a query holds at most {_MOST_OVERLAPS} OVERLAPS: ask in several queries"
        )
        raise refuse(rules.TOO_COMPLEX, periods[-1].position, hint=hint)
    sets = [part for part in parts(tree) if isinstance(part, SetOperation)]
    if len(sets) > MOST_LAYERS:
        raise refuse(rules.RELATION_COUNT, tree.select.position)


def _with_answer_rows(tree: Query) -> Query:
    """Let QUALIFY at the top choose rows of the answer, for it shows no others.

    Raises:
        SqlNotAllowedError: DISTINCT ON stands at the top: an answer has no rows to
            number.
    """
    select = tree.select
    if select.distinct and has_sets(select):  # a total may equal another row
        raise refuse(rules.DISTINCT, select.position)
    if isinstance(select, WrittenSelect):
        select = with_windows(select)
    by_all = isinstance(select, WrittenSelect) and select.groups_by_all
    if select.distinct and not (select.group_by or by_all):
        select = distinct_groups(select)
    if select.distinct:  # beside GROUP BY, whose keys are all selected
        select = replace(select, distinct=False)
    tree = replace(tree, select=select)
    if not isinstance(select, WrittenSelect):
        return tree
    if select.distinct_on:
        raise refuse(rules.DISTINCT_ON, select.position)
    return replace(tree, select=replace(select, qualify=None, kept=select.qualify))


def _select(tree: Select) -> Select:
    tree = with_flags(with_sets(with_values_of_rows(plain_joins(tree))))
    where = None if tree.where is None else known_true(tree.where)
    having = None if tree.having is None else known_true(tree.having)
    kept = None if tree.kept is None else known_true(tree.kept)
    found = replace(tree, where=where, having=having, kept=kept)
    return found if isinstance(found, WrittenSelect) else distinct_rows(found)


def _written(tree: WrittenSelect) -> Select:
    tree = with_windows(tree)
    plain = _select(tree)  # still a WrittenSelect: its clauses alone were changed
    if not isinstance(plain, WrittenSelect):
        return plain
    return distinct_rows(written_select(plain))


def _written_union(tree: WrittenUnion) -> UnionAll:
    return _union(UnionAll(tree.parts, tree.position))


def _union(tree: UnionAll) -> UnionAll:
    return replace(tree, parts=named_parts(tree.parts))


def _join(tree: Join) -> Join:
    if tree.condition is None:
        return tree
    return replace(tree, condition=known_true(tree.condition))


def _with_name(tree: DerivedTable) -> DerivedTable:
    """Name a derived table that got none, by where it stands: unlike any other."""
    if tree.alias:
        return tree
    place = tree.position
    name = NAMED_BY_PLACE.format(line=place.line, column=place.column)
    return replace(tree, alias=name)


def _window(tree: WindowCall) -> Expression:
    return ratio(check_function(tree))


def _case(tree: Case) -> Case:
    if tree.operand is not None:
        return tree
    branches = tuple(
        replace(branch, condition=known_true(branch.condition))
        for branch in tree.branches
    )
    return replace(tree, branches=branches)


_CHANGES: Mapping[type, Callable[..., object]] = {
    Select: _select,
    WrittenSelect: _written,
    WrittenJoin: _join,
    WrittenUnion: _written_union,
    UnionAll: _union,
    SetOperation: set_operation,
    Join: _join,
    FirstRowJoin: first_row_join,
    DerivedTable: _with_name,
    Case: _case,
    AggregateCall: counted,
    FunctionCall: truncated,
    OtherCall: other_call,
    OtherLike: other_like,
    LikeEach: like_each,
    Filtered: filtered,
    WindowCall: _window,
    WithinGroup: within_group,
    QuantileAt: quantile_at,
    IsTruth: is_truth,
    IsDistinct: is_distinct,
    SymmetricBetween: symmetric_between,
    RowIn: row_in,
    Quantified: quantified,
    QuantifiedList: quantified_list,
    Overlaps: overlaps,
    ArrayElement: array_element,
}
