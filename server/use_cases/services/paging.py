"""Lists over HTTP: newest first, a page at a time."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Table, select, tuple_
from typing_extensions import TypedDict

from budget.charging.queries import NO_CURSOR
from privacy.errors import InvalidOptionError

__all__ = ["NO_CURSOR", "ListOf", "Page", "listed", "read_page"]
Item = TypeVar("Item")


class ListOf(TypedDict, Generic[Item]):
    """A page of a list, newest first."""

    items: list[Item]
    """Of this page, newest first."""
    next_cursor: str | None
    """What to send as `cursor` for the next page; null on the last one."""


def listed(items: list[Item], following: str | None) -> ListOf[Item]:
    """Return a page of a list as it is sent."""
    return {"items": items, "next_cursor": following}


@dataclass(frozen=True, slots=True)
class Page:
    """Which page is asked for; the cursor is the last item of the page before."""

    limit: int
    cursor: str | None = None


def read_page(
    connection: Connection, table: Table, page: Page, visible: ColumnElement[bool]
) -> tuple[list[Row[tuple[object, ...]]], str | None]:
    """Return a page of a table's visible rows, newest first, and the next cursor.

    A cursor that names no visible row tells nothing of the others: it is refused alike.

    Raises:
        InvalidOptionError: The cursor is none of ours.
    """
    (key,) = table.primary_key
    query = select(table).where(visible)
    if page.cursor is not None:
        last = connection.execute(
            select(table.c.created, key).where(visible, key == page.cursor)
        ).one_or_none()
        if last is None:
            raise InvalidOptionError(NO_CURSOR)
        query = query.where(tuple_(table.c.created, key) < tuple_(last[0], last[1]))
    newest = query.order_by(table.c.created.desc(), key.desc())
    rows = list(connection.execute(newest.limit(page.limit + 1)).all())
    shown = rows[: page.limit]
    following = str(getattr(shown[-1], key.name)) if len(rows) > page.limit else None
    return shown, following
