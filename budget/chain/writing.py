"""One way to write: lock, check the anchor, commit, anchor."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain as chain_rows

from sqlalchemy import (
    Connection,
    bindparam,
    insert,
    literal_column,
    or_,
    select,
    union_all,
)
from sqlalchemy.exc import SQLAlchemyError

from budget.chain.anchor import (
    AnchorFile,
    AnchorRecord,
    HeldAnchor,
    encode_record,
    require_room,
)
from budget.chain.entries import LAST, Appender, Head, head_in, is_named, named
from budget.storage.databases import Databases
from budget.storage.postgresql import DatabaseLostError
from budget.storage.prepared import (
    Parameters,
    Prepared,
    Row,
    Statement,
    StatementResult,
    together,
)
from budget.storage.records import PROMISED, Scope
from budget.storage.tables import counter, limit
from privacy.errors import (
    AnchorMismatchError,
    AnchorMissingError,
    LedgerUnavailableError,
)
from privacy.losses import Loss

MISMATCH = (
    "the ledger does not contain what its anchor holds: a backup was restored, or "
    "this is another ledger; see 'curator ledger reconcile --help'"
)

OLDER = (
    "the anchor is an older copy of itself: stop the server and bring the newest one "
    "back; see 'curator ledger reconcile --help'"
)

REPLACED = (
    "the ledger's database file was removed or replaced while it was in use: stop the "
    "server before any other command, leave the files -wal and -shm beside it where "
    "they are, and put the file back; or restore a backup; see 'curator ledger "
    "reconcile --help'"
)

EDITED = (
    "the ledger was edited: a counter of a cap lies below its anchored total; "
    "see 'curator ledger verify'"
)

_UNREADABLE = "the ledger cannot be read now"
_TOTALS = Prepared(
    select(counter.c.scope, counter.c.nano_epsilon).where(
        or_(*(counter.c.scope.startswith(f"{kind}:") for kind in PROMISED))
    )
)
_AT_ONCE = 3  # scopes: those of a charge where its population has no blocks
_AMOUNTS = Prepared(
    union_all(
        *(
            select(
                literal_column(f"'{table.name}'"), table.c.scope, table.c.nano_epsilon
            ).where(
                or_(*(table.c.scope == bindparam(f"s{n}") for n in range(_AT_ONCE)))
            )
            for table in (limit, counter)
        )
    )
)


class UnanchoredError(LedgerUnavailableError):
    """The entries are committed, but the anchor could not be written."""


class UncertainError(LedgerUnavailableError):
    """The database was lost while it committed: recovery finds out what happened."""


@dataclass(slots=True)
class Write:
    """One open transaction of the ledger.

    What is written ``later`` is sent in one piece, in order, at the latest before the
    commit: nothing before ``flush`` may read it.

    Attributes:
        connection: The transaction.
        read: The rows of what was to be read as it opened, in order.
        entries: The chain, which grows ``later``.
    """

    connection: Connection
    read: Sequence[Sequence[Row]]
    entries: Appender = field(init=False)
    _pending: list[Statement] = field(default_factory=list)

    def later(self, statement: Prepared, parameters: Parameters) -> None:
        """Run a statement that must change exactly one row, with the next flush."""
        self._pending.append(Statement(statement, parameters))

    def flush(self, *then: Statement) -> list[StatementResult]:
        """Send what is pending; return what the statements after it brought.

        Raises:
            AssertionError: One of those that were pending did not change one row.
        """
        pending, self._pending = self._pending, []
        results = together(self.connection, [*pending, *then])
        done = results[: len(pending)]
        if any(result.changed != 1 for result in done):
            message = f"{[one.changed for one in done]} rows changed, not one each"
            raise AssertionError(message)
        return results[len(pending) :]


def open_write(
    connection: Connection, head: Head, read: Sequence[Sequence[Row]] = ()
) -> Write:
    """Return a transaction whose chain ends at ``head``."""
    write = Write(connection, read)
    write.entries = Appender(head, write.later)
    return write


@dataclass(frozen=True, slots=True)
class Account:
    """A scope's limit and counter, in nano-epsilon; None where there is no row."""

    limit: int | None
    spent: int | None

    def remaining(self, scope: Scope) -> Loss | None:
        """Return what is left of the limit; None where there is none."""
        if self.limit is None:
            return Loss(0) if scope.must_be_limited else None
        return Loss(max(0, self.limit - (self.spent or 0)))


def read_accounts(
    connection: Connection, scopes: Iterable[Scope]
) -> dict[Scope, Account]:
    """Return the account of each scope, in the order given."""
    scopes = tuple(scopes)
    read = together(connection, reading_accounts(scopes))
    return accounts_in(scopes, (result.rows for result in read))


def reading_accounts(scopes: Sequence[Scope]) -> list[Statement]:
    """Return what reads the accounts of some scopes, for ``accounts_in``."""
    texts = list(dict.fromkeys(map(str, scopes)))
    return [
        Statement(
            _AMOUNTS,
            {f"s{n}": texts[min(start + n, len(texts) - 1)] for n in range(_AT_ONCE)},
        )
        for start in range(0, len(texts), _AT_ONCE)
    ]


def accounts_in(
    scopes: Sequence[Scope], read: Iterable[Sequence[Row]]
) -> dict[Scope, Account]:
    """Return the account of each scope, in the order given, as they were read."""
    found: dict[str, dict[str, int]] = {limit.name: {}, counter.name: {}}
    for of, scope, amount in chain_rows.from_iterable(read):
        found[of][scope] = amount
    limits, counters = found[limit.name], found[counter.name]
    return {
        scope: Account(limits.get(str(scope)), counters.get(str(scope)))
        for scope in scopes
    }


def ensure_counter(connection: Connection, scope: Scope) -> None:
    """Make a scope's counter, at zero, where there is none."""
    if read_accounts(connection, [scope])[scope].spent is None:
        make_counter(connection, scope)


def make_counter(connection: Connection, scope: Scope) -> None:
    """Make a scope's counter, at zero."""
    connection.execute(insert(counter).values(scope=str(scope), nano_epsilon=0))


def cap_totals(connection: Connection) -> dict[str, int]:
    """Return what was spent of each cap, in nano-epsilon, as the anchor names them."""
    return _totals_in(_TOTALS.rows(connection))


def _totals_in(rows: Sequence[Row]) -> dict[str, int]:
    return {Scope.read(scope).total_name: amount for scope, amount in rows}


class Writer:
    """Writes to the ledger, and anchors what it wrote before anyone may rely on it."""

    def __init__(self, databases: Databases, anchor: AnchorFile) -> None:
        self._databases = databases
        self._anchor = anchor
        self._mismatched = False
        self._behind = False  # the anchor, since a write of it failed
        self._newest = 0  # generation of the anchor that this process saw
        self._checked_connections: int | None = 0  # None: the anchor was missing

    def require_matched(self) -> None:
        """Refuse once a mismatch was seen: nothing is served from then on.

        A database that was lost and found again is compared with the anchor first, and
        so is an anchor that was missing.

        Raises:
            AnchorMismatchError: The anchor does not fit, or did not before.
            LedgerUnavailableError: The database was lost and cannot be read now.
        """
        try:
            self._refuse_mismatched()
        except OSError as error:
            raise LedgerUnavailableError(_UNREADABLE) from error
        if self._databases.connections != self._checked_connections:
            self.check()

    def _refuse_mismatched(self) -> None:
        if self._databases.is_replaced:
            self._mismatched = True
            raise AnchorMismatchError(REPLACED)
        if self._mismatched:
            raise AnchorMismatchError(MISMATCH)

    @contextmanager
    def transaction(
        self, *reading: Statement, renews_anchor: bool = False
    ) -> Iterator[Write]:
        """Write entries: on leaving they are committed, then anchored.

        Args:
            reading: What is read as the transaction opens, in the same round trip.
            renews_anchor: Whether the anchor is written although no entry is.

        Raises:
            AnchorMismatchError: The ledger does not contain its anchor; nothing was
                written, and nothing will be from now on.
            LedgerUnavailableError: Nothing was written.
            UnanchoredError: The entries are committed, but not anchored.
            UncertainError: They may be committed; they are not anchored.
        """
        committing = False
        try:
            self._refuse_mismatched()
            with self._anchor.locked() as held:
                record = self._no_older(held.read)
                with self._databases.writer.begin() as connection:
                    write, record = self._opened(connection, held, record, reading)
                    yield write
                    after = self.next_record(write, record)
                    self._refuse_mismatched()
                    committing = True
                if renews_anchor or after.head != record.head:
                    self._write_anchor(held, after)
        except AnchorMissingError:
            self._checked_connections = None  # nothing is served until it is back
            raise
        except AnchorMismatchError:
            self._mismatched = True
            raise
        except DatabaseLostError as error:
            if not committing:
                raise
            self._behind = True
            message = "the database was lost in a write that it may have done"
            raise UncertainError(message) from error
        except (OSError, SQLAlchemyError) as error:
            message = "the ledger cannot be written now; this step was not recorded"
            raise LedgerUnavailableError(message) from error

    def _opened(
        self,
        connection: Connection,
        held: HeldAnchor,
        record: AnchorRecord,
        reading: Sequence[Statement],
    ) -> tuple[Write, AnchorRecord]:
        """Read what every write needs and what this one does; check the anchor.

        Returns:
            The write, and the anchor's record, which names the ledger's last entry.
        """
        first, totals, last, *read = (
            result.rows
            for result in together(connection, [*_checking(record), LAST, *reading])
        )
        _require_contained(record, first, totals)
        head = head_in(last)
        record = self._brought_forward(held, record, head, totals)
        return open_write(connection, head, read), record

    def _brought_forward(
        self,
        held: HeldAnchor,
        record: AnchorRecord,
        head: Head,
        totals: Sequence[Row],
    ) -> AnchorRecord:
        """Anchor what an earlier write left behind, before this one rests on it."""
        try:
            if record.head == head:
                held.confirm(head)
            else:
                after = record.generation + 1
                record = AnchorRecord(record.ledger_id, head, _totals_in(totals), after)
                held.write(record)
        except OSError:
            self._behind = True
            raise
        self._behind = False
        self._newest = record.generation
        return record

    def _no_older(self, read: Callable[[], AnchorRecord]) -> AnchorRecord:
        """Return the anchor's record, refused where this process saw a newer one.

        A file that was away may come back as an older copy, which a restored ledger
        would contain, too.
        """
        newest = self._newest  # before the record is read: others write meanwhile
        record = read()
        if record.generation < newest:
            raise AnchorMismatchError(OLDER)
        self._newest = max(self._newest, record.generation)
        return record

    @property
    def is_behind(self) -> bool:
        """Whether a write of the anchor failed here, and none has succeeded since."""
        return self._behind

    def require_contained(self, connection: Connection, record: AnchorRecord) -> None:
        """Refuse a ledger that does not contain its anchor.

        Raises:
            AnchorMismatchError: It is behind, or another; or a counter of a cap lies
                below its anchored total.
        """
        first, totals = together(connection, _checking(record))
        _require_contained(record, first.rows, totals.rows)

    def next_record(self, write: Write, before: AnchorRecord) -> AnchorRecord:
        """Return the anchor as it must be once the transaction is committed.

        Raises:
            OSError: The record would not fit; better known before the commit.
        """
        (spent,) = write.flush(Statement(_TOTALS))
        totals = _totals_in(spent.rows)
        record = AnchorRecord(
            before.ledger_id, write.entries.head, totals, before.generation + 1
        )
        if not totals.keys() <= before.totals.keys():
            require_room(record)
        encode_record(record)
        return record

    def _write_anchor(self, held: HeldAnchor, after: AnchorRecord) -> None:
        try:
            held.write(after)
        except OSError as error:
            self._behind = True
            message = "the ledger's anchor cannot be written now"
            raise UnanchoredError(message) from error
        self._behind = False
        self._newest = after.generation

    def require_anchored(self) -> None:
        """Bring the anchor to the ledger's end where a write of it failed.

        What was stored then must not be shown before: a backup could forget it, and
        fresh noise be drawn for the same charge.

        Raises:
            AnchorMismatchError: As ``transaction``.
            LedgerUnavailableError: The anchor still cannot be written.
        """
        if self._behind:
            with self.transaction():
                pass

    def check(self) -> None:
        """Check that the ledger contains its anchor, without writing.

        Raises:
            AnchorMismatchError: It does not.
            LedgerUnavailableError: It cannot be read.
        """
        connections = self._databases.connections
        try:
            self._refuse_mismatched()
            record = self._no_older(self._anchor.read)
            with self._databases.ledger_reader.connect() as connection:
                self.require_contained(connection, record)
            if self._checked_connections is None:
                with self.transaction():  # written forward, as at a start
                    pass
            self._checked_connections = connections
        except AnchorMissingError:
            self._checked_connections = None  # nothing is served until it is back
            raise
        except AnchorMismatchError:
            self._mismatched = True
            raise
        except (OSError, SQLAlchemyError) as error:
            raise LedgerUnavailableError(_UNREADABLE) from error


def _checking(record: AnchorRecord) -> list[Statement]:
    """Return what reads all that an anchor speaks of, for ``_require_contained``."""
    return [named(record.head), Statement(_TOTALS)]


def _require_contained(
    record: AnchorRecord, first: Sequence[Row], spent: Sequence[Row]
) -> None:
    if not is_named(first, record.ledger_id, record.head):
        raise AnchorMismatchError(MISMATCH)
    totals = _totals_in(spent)
    if any(totals.get(name, -1) < total for name, total in record.totals.items()):
        raise AnchorMismatchError(EDITED)


ReleaseTest = Callable[[str], bool]
