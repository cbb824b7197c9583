"""The texts of FROM and WHERE that a release's spec holds, read as what they are."""

from privacy.errors import QueryError
from query_lang import rules
from query_lang.parse import parse_query
from query_lang.refusals import refuse
from query_lang.syntax import Query
from query_lang.tokens import has_comment


def read_source(source: str, where: str | None) -> Query:
    """Read FROM and WHERE; nothing else may stand in their texts.

    FROM is read alone first: what a manifest tells as a filter is one.

    Raises:
        QueryError: They hold something else, or are not in the language.
    """
    text = f"SELECT COUNT(*) FROM {source}"  # noqa: S608 - for our own parser
    tree = _plain(text)
    if tree.select.where is not None:
        raise _strange(tree)
    if where is None:
        return tree
    tree = _plain(f"{text}\nWHERE {where}")
    if tree.select.where is None:
        raise _strange(tree)
    return tree


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
