"""What was read of the catalogue, remembered until the catalogue changes.

Every change of people, keys, grants and datasets is an ``admin`` or ``reconcile`` entry
of the ledger, so the sequence of the last one names the catalogue's state. It is asked
for each time, once a question: a change acts from the next request on, in every
process.

What is read anew takes longer, on routes without slots too. So what tells of rights
alone is not forgotten at entries that come when work on rows has ended, which would
tell everybody when that was; what names a snapshot is read on routes with slots.
"""

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from sqlalchemy import Connection, ScalarSelect, bindparam, func, not_, or_, select

from budget.storage.databases import Databases
from budget.storage.prepared import Prepared, Row
from budget.storage.tables import chain
from server.use_cases.services.work_ends import CHANGING_NO_RIGHT, CHANGING_SNAPSHOTS

T = TypeVar("T")
_MOST = 10_000
Version = tuple[int | None, ...]


def _last(kind: str) -> ScalarSelect[int]:
    """Return the query of the last entry of a kind."""
    wanted = select(func.max(chain.c.seq)).where(chain.c.kind == kind)
    return wanted.scalar_subquery()


def _last_besides(actions: frozenset[str]) -> ScalarSelect[int]:
    """Return the query of the last change since one, but for some actions'.

    It reads bodies, which may be large: of entries that were not looked at before.
    """
    others = [
        chain.c.body.startswith(f'{{"action":"{action}"', autoescape=True)
        for action in sorted(actions)
    ]
    wanted = select(chain.c.seq).where(
        chain.c.kind == "admin", chain.c.seq > bindparam("since"), not_(or_(*others))
    )
    return wanted.order_by(chain.c.seq.desc()).limit(1).scalar_subquery()


_VERSION = Prepared(
    select(
        _last("reconcile"),
        _last("admin"),
        _last_besides(CHANGING_NO_RIGHT | CHANGING_SNAPSHOTS),
        _last_besides(CHANGING_NO_RIGHT),
    )
)


@dataclass(frozen=True, slots=True)
class _Looked:
    """Up to which entry changes were looked at, and the last ones of each kind."""

    newest: int = 0
    rights: int | None = None
    snapshots: int | None = None


@dataclass(frozen=True, slots=True)
class _Remembered:
    """What was found in one state."""

    version: Version = ()
    found: dict[Hashable, object] = field(default_factory=dict)

    def at(self, version: Version) -> "_Remembered":
        """Return this, or what is to be found in a later state."""
        is_fit = version == self.version and len(self.found) <= _MOST
        return self if is_fit else _Remembered(version)


@dataclass(frozen=True, slots=True)
class _State:
    """What was found of rights, and of snapshots, which also follows from rights."""

    rights: dict[Hashable, object]
    snapshots: dict[Hashable, object]


class CatalogueMemory:
    """Remembers what readers returned; what they raise is asked again."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._lock = Lock()
        self._looked = _Looked()
        self._rights = _Remembered()
        self._snapshots = _Remembered()
        self._seen: ContextVar[_State | None] = ContextVar("seen")

    def see_one_state(self) -> None:
        """Let what runs in this context, one request, ask for the version once."""
        self._seen.set(None)

    def get(
        self,
        key: Hashable,
        read: Callable[[Connection], T],
        *,
        names_snapshot: bool = False,
    ) -> T:
        """Return what ``read`` gives, from memory where nothing has changed.

        Args:
            key: Names the question, whole: also the day where the answer depends on it.
            read: Asks the catalogue.
            names_snapshot: Whether the answer depends on what loads and activations
                alter; on routes with slots alone.
        """

        def of(state: _State) -> dict[Hashable, object]:
            return state.snapshots if names_snapshot else state.rights

        seen = self._seen.get(None)
        if seen is not None and key in of(seen):
            return of(seen)[key]  # type: ignore[return-value]
        looked = self._looked
        since = {"since": looked.newest}
        rows = _VERSION.alone(self._databases.reader, since).rows
        state = self._state(looked, rows)
        if key not in of(state):
            with self._databases.reader.connect() as connection:  # one state of both
                state = self._state(looked, _VERSION.rows(connection, since))
                of(state)[key] = read(connection)
        if self._seen.get(state) is None:  # one state is to be seen: this one
            self._seen.set(state)
        return of(state)[key]  # type: ignore[return-value]

    def _state(self, looked: _Looked, rows: Sequence[Row]) -> _State:
        """Return what is remembered of the catalogue as it is in a state.

        Args:
            looked: What was known before the state was read.
            rows: What has come since.
        """
        ((reconciled, newest, rights, snapshots),) = rows
        rights, snapshots = rights or looked.rights, snapshots or looked.snapshots
        with self._lock:
            if newest is not None and newest > self._looked.newest:
                self._looked = _Looked(newest, rights, snapshots)
            self._rights = self._rights.at((reconciled, rights))
            self._snapshots = self._snapshots.at((reconciled, snapshots))
            return _State(self._rights.found, self._snapshots.found)
