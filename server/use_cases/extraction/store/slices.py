"""Writing about texts, a slice at a time: the ledger shares the database's write lock.

On SQLite whoever writes keeps all others from writing, questions of other populations
too. So a transaction holds no more rows, and no more bytes, than a slice has, however
many there are of one patient; and behind each is a pause in which others write (ADR
39).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    LargeBinary,
    Table,
    Text,
    delete,
    func,
    insert,
    literal,
    select,
    tuple_,
)

from budget.storage.databases import Databases

SLICE_ROWS: Final = 100
SLICE_BYTES: Final = 131_072
"""Of a transaction: each takes about a millisecond."""

_SHARE: Final = 9  # so often a slice's own time is paused behind it
_LEAST_PAUSE, _LONGEST_PAUSE = 0.004, 0.1

Row = Mapping[str, object]
Guard = Callable[[Connection], None]
Held = TypeVar("Held")


def _unguarded(_: Connection) -> None:
    """Let everybody write."""


class Slices:
    """Writes rows and deletes them, each slice in a transaction of its own.

    What is cut off between two slices is left half done: whoever goes on deletes first
    what stands behind the position that was saved.

    Args:
        databases: Where.
        guard: Called in each transaction; raises where the work is another's now.
    """

    def __init__(self, databases: Databases, guard: Guard = _unguarded) -> None:
        self._databases = databases
        self._guard = guard

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Yield a transaction's connection; pause behind it, so that others write."""
        with self._databases.work.begin() as connection:
            began = time.monotonic()
            self._guard(connection)
            yield connection
        if not self._databases.is_shared:  # there a row's lock is all that is held
            held = time.monotonic() - began
            time.sleep(min(_LONGEST_PAUSE, max(_LEAST_PAUSE, held * _SHARE)))

    def reader(self) -> AbstractContextManager[Connection]:
        """Return a connection that reads."""
        return self._databases.reader.connect()

    def guarded(self, guard: Guard) -> "Slices":
        """Return slices that are guarded by another guard, too."""

        def both(connection: Connection) -> None:
            self._guard(connection)
            guard(connection)

        return Slices(self._databases, both)

    def insert(self, table: Table, rows: Iterable[Row]) -> None:
        """Write rows; a slice of them is made before its transaction begins."""
        statement = insert(table)
        for some in sliced(rows, _size_of):
            told = [dict(row) for row in some]
            with self.transaction() as connection:
                connection.execute(statement, told)

    def delete(self, table: Table, *which: ColumnElement[bool]) -> None:
        """Delete rows in the order of their key, found before each transaction."""
        key: Sequence[Column[object]] = list(table.primary_key.columns)
        sized = [c for c in table.columns if isinstance(c.type, LargeBinary | Text)]
        size = sum((func.coalesce(func.length(c), 0) for c in sized), literal(0))
        found = (
            select(*key, size.label("size"))
            .where(*which)
            .order_by(*key)
            .limit(SLICE_ROWS)
        )
        while True:
            with self._databases.reader.connect() as connection:
                rows = connection.execute(found).all()
            if not rows:
                return
            some = next(sliced(rows, lambda row: int(str(row[-1]))))
            upto = tuple_(*key) <= tuple_(
                *(literal(v, c.type) for v, c in zip(some[-1][:-1], key, strict=True))
            )
            with self.transaction() as connection:
                connection.execute(delete(table).where(*which, upto))


def sliced(rows: Iterable[Held], size: Callable[[Held], int]) -> Iterator[list[Held]]:
    """Yield rows in slices; one that is larger than a slice is one by itself.

    >>> list(sliced("abc", lambda _: SLICE_BYTES // 2))
    [['a', 'b'], ['c']]
    """
    held: list[Held] = []
    total = 0
    for row in rows:
        of_row = size(row)
        if held and (len(held) == SLICE_ROWS or total + of_row > SLICE_BYTES):
            yield held
            held, total = [], 0
        held.append(row)
        total += of_row
    if held:
        yield held


def _size_of(row: Row) -> int:
    """Return about how many bytes a row has."""
    return sum(len(one) for one in row.values() if isinstance(one, bytes | str))
