"""One way to write: lock, check the anchor, commit, anchor."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from budget.anchor import AnchorFile, AnchorRecord, HeldAnchor
from budget.chain import Appender, contains, ledger_id_of
from budget.databases import Databases
from budget.records import Scope
from budget.tables import MAX_NANO, counter, limit
from privacy.errors import AnchorMismatchError, LedgerUnavailableError
from privacy.losses import Loss

MISMATCH = (
    "the ledger does not contain what its anchor holds: a backup was restored, or "
    "this is another ledger; see 'curator ledger reconcile --help'"
)


class UnanchoredError(LedgerUnavailableError):
    """The entries are committed, but the anchor could not be written."""


@dataclass(slots=True)
class Write:
    """One open transaction of the ledger."""

    connection: Connection
    entries: Appender

    def spent(self, scope: Scope) -> int:
        """Return what a scope has spent, in nano-epsilon."""
        return spent_nano(self.connection, scope)

    def limit(self, scope: Scope) -> int | None:
        """Return a scope's limit, in nano-epsilon."""
        return limit_nano(self.connection, scope)

    def remaining(self, scope: Scope) -> Loss | None:
        """Return what is left of a scope's limit; None where it has none."""
        return remaining(self.connection, scope)

    def add(self, scope: Scope, loss: Loss) -> bool:
        """Add a loss to a counter unless its limit would be passed."""
        ensure_counter(self.connection, scope)
        bound = self.limit(scope)
        if bound is None:
            bound = 0 if scope.must_be_limited else MAX_NANO
        done = self.connection.execute(
            update(counter)
            .where(
                counter.c.scope == str(scope),
                counter.c.nano_epsilon + loss.nano_epsilon <= bound,
            )
            .values(nano_epsilon=counter.c.nano_epsilon + loss.nano_epsilon)
        )
        return done.rowcount == 1


def ensure_counter(connection: Connection, scope: Scope) -> None:
    """Make a scope's counter, at zero."""
    found = connection.execute(
        select(counter.c.scope).where(counter.c.scope == str(scope))
    ).first()
    if found is None:
        connection.execute(insert(counter).values(scope=str(scope), nano_epsilon=0))


def spent_nano(connection: Connection, scope: Scope) -> int:
    """Return what a scope has spent, in nano-epsilon."""
    found = connection.execute(
        select(counter.c.nano_epsilon).where(counter.c.scope == str(scope))
    ).scalar_one_or_none()
    return found or 0


def limit_nano(connection: Connection, scope: Scope) -> int | None:
    """Return a scope's limit, in nano-epsilon; None where it has none."""
    found: int | None = connection.execute(
        select(limit.c.nano_epsilon).where(limit.c.scope == str(scope))
    ).scalar_one_or_none()
    return found


def remaining(connection: Connection, scope: Scope) -> Loss | None:
    """Return what is left of a scope's limit; None where it has none."""
    bound = limit_nano(connection, scope)
    if bound is None:
        return Loss(0) if scope.must_be_limited else None
    return Loss(max(0, bound - spent_nano(connection, scope)))


def population_totals(connection: Connection) -> dict[str, int]:
    """Return what each population has spent, in nano-epsilon."""
    prefix = str(Scope.population(""))
    rows = connection.execute(
        select(counter).where(counter.c.scope.startswith(prefix, autoescape=True))
    )
    return {row.scope.removeprefix(prefix): row.nano_epsilon for row in rows}


class Writer:
    """Writes to the ledger, and anchors what it wrote before anyone may rely on it."""

    def __init__(self, databases: Databases, anchor: AnchorFile) -> None:
        self._databases = databases
        self._anchor = anchor
        self._mismatched = False

    def require_matched(self) -> None:
        """Refuse once a mismatch was seen: nothing is served from then on.

        Raises:
            AnchorMismatchError: The anchor did not fit before.
        """
        if self._mismatched:
            raise AnchorMismatchError(MISMATCH)

    @contextmanager
    def transaction(self) -> Iterator[Write]:
        """Write entries: on leaving they are committed, then anchored.

        Raises:
            AnchorMismatchError: The ledger does not contain its anchor; nothing was
                written, and nothing will be from now on.
            LedgerUnavailableError: Nothing was written.
            UnanchoredError: The entries are committed, but not anchored.
        """
        self.require_matched()
        try:
            with self._anchor.locked() as held:
                record = held.read()
                with self._databases.writer.begin() as connection:
                    self.require_contained(connection, record)
                    write = Write(connection, Appender(connection))
                    yield write
                    after = self.next_record(write, record)
                self._write_anchor(held, record, after)
        except AnchorMismatchError:
            self._mismatched = True
            raise
        except (OSError, SQLAlchemyError) as error:
            message = "the ledger cannot be written now; nothing was charged"
            raise LedgerUnavailableError(message) from error

    def require_contained(self, connection: Connection, record: AnchorRecord) -> None:
        """Refuse a ledger that does not contain its anchor.

        Raises:
            AnchorMismatchError: It is behind, or another.
        """
        same = ledger_id_of(connection) == record.ledger_id
        if not same or not contains(connection, record.head):
            raise AnchorMismatchError(MISMATCH)

    def next_record(self, write: Write, before: AnchorRecord) -> AnchorRecord:
        """Return the anchor as it must be once the transaction is committed."""
        return AnchorRecord(
            before.ledger_id,
            write.entries.head,
            population_totals(write.connection),
            before.generation + 1,
        )

    def _write_anchor(
        self, held: HeldAnchor, before: AnchorRecord, after: AnchorRecord
    ) -> None:
        if after.head == before.head:
            return
        try:
            held.write(after)
        except OSError as error:
            message = "the ledger's anchor cannot be written now"
            raise UnanchoredError(message) from error

    def check(self) -> None:
        """Check that the ledger contains its anchor, without writing.

        Raises:
            AnchorMismatchError: It does not.
            LedgerUnavailableError: It cannot be read.
        """
        self.require_matched()
        try:
            record = self._anchor.read()
            with self._databases.reader.connect() as connection:
                self.require_contained(connection, record)
        except (OSError, SQLAlchemyError) as error:
            message = "the ledger cannot be read now"
            raise LedgerUnavailableError(message) from error


ReleaseTest = Callable[[str], bool]
