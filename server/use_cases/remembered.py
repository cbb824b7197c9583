"""What was read of the catalogue, remembered until the catalogue changes.

Every change of people, keys, grants and datasets is an ``admin`` or ``reconcile`` entry
of the ledger, so the sequence of the last one names the catalogue's state. It is asked
for each time, once a question: a change acts from the next request on, in every
process.
"""

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from threading import Lock
from typing import TypeVar

from sqlalchemy import Connection, func, select

from budget.databases import Databases
from budget.prepared import Prepared, Row
from budget.tables import chain

T = TypeVar("T")
_MOST = 10_000
_VERSION = Prepared(
    select(
        *(
            select(func.max(chain.c.seq)).where(chain.c.kind == kind).scalar_subquery()
            for kind in ("admin", "reconcile")
        )
    )
)


class CatalogueMemory:
    """Remembers what readers returned; what they raise is asked again."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._lock = Lock()
        self._version: tuple[int | None, ...] = ()
        self._found: dict[Hashable, object] = {}
        self._seen: ContextVar[dict[Hashable, object] | None] = ContextVar("seen")

    def see_one_state(self) -> None:
        """Let what runs in this context, one request, ask for the version once."""
        self._seen.set(None)

    def get(self, key: Hashable, read: Callable[[Connection], T]) -> T:
        """Return what ``read`` gives, from memory where nothing has changed.

        ``key`` names the question, whole: also the day, where the answer depends on it.
        """
        seen = self._seen.get(None)
        if seen is not None and key in seen:
            return seen[key]  # type: ignore[return-value]
        found = self._of_version(_VERSION.alone(self._databases.reader).rows)
        if key not in found:
            with self._databases.reader.connect() as connection:  # one state of both
                found = self._of_version(_VERSION.rows(connection))
                found[key] = read(connection)
        if self._seen.get(found) is None:  # one state is to be seen: this one
            self._seen.set(found)
        return found[key]  # type: ignore[return-value]

    def _of_version(self, rows: Sequence[Row]) -> dict[Hashable, object]:
        """Return what is remembered of the catalogue as it now is."""
        (version,) = rows
        with self._lock:
            if version != self._version or len(self._found) > _MOST:
                self._version, self._found = version, {}
            return self._found
