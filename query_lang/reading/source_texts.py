"""The texts of FROM and WHERE that a release's spec holds, read as what they are."""

from typing import Final, Literal

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from query_lang.syntax import rules
from query_lang.syntax.nodes import Query
from query_lang.syntax.refusals import refuse
from query_lang.syntax.tokens import has_comment

_FROM: Final = "SELECT COUNT(*) FROM "
_WHERE: Final = "WHERE "


def read_source(source: str, where: str | None) -> Query:
    """Read FROM and WHERE; nothing else may stand in their texts.

    FROM is read alone first: what a manifest tells as a filter is one.

    Raises:
        QueryError: They hold something else, or are not in the language.
    """
    text = f"{_FROM}{source}"
    tree = _plain(text)
    if tree.select.where is not None:
        raise _strange(tree)
    if where is None:
        return tree
    tree = _plain(f"{text}\n{_WHERE}{where}")
    if tree.select.where is None:
        raise _strange(tree)
    return tree


def place_in_source(
    error: QueryError, source: str
) -> tuple[Literal["from", "where"], int, int]:
    """Return which text a refusal speaks of, and its line and column there, from 1."""
    lines = source.count("\n") + 1
    if error.line > lines:
        line = error.line - lines
        return "where", line, _own_column(error.column, line, _WHERE)
    return "from", error.line, _own_column(error.column, error.line, _FROM)


def _own_column(column: int, line: int, before: str) -> int:
    return max(1, column - len(before)) if line == 1 else column


def _plain(text: str) -> Query:
    """Read a FROM with or without a WHERE, and nothing more."""
    tree = parse_query(text)
    select = tree.select
    if has_comment(text):
        detail = "from and where hold no comments: the manifest tells them as they are"
        raise refuse(rules.UNREAD_TEXT, select.position, detail=detail)
    strange = (
        select.group_by
        or select.having is not None
        or select.order_by
        or select.limit is not None
        or tree.common_tables
    )
    if strange:
        raise _strange(tree)
    return tree


def _strange(tree: Query) -> QueryError:
    return refuse(
        rules.UNREAD_TEXT,
        tree.select.position,
        detail="from and where hold a FROM and a WHERE and nothing after them",
    )
