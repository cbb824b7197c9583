"""The ledger: charges, answers and changes, append-only, chained and anchored.

Order (PRIVACY 5): commit the charge, write and sync the anchor, touch data, store the
answer, anchor, send. Proofs: docs/proofs/ledger.md and docs/proofs/privacy_filter.md.
"""

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, Table, insert, or_
from sqlalchemy.exc import SQLAlchemyError

from budget.chain.anchor import AnchorFile, AnchorRecord
from budget.chain.draws import DrawNotes
from budget.chain.entries import Appender, Body, head_of, ledger_id_of, salted
from budget.chain.recorded import RecordedTransaction
from budget.chain.writing import (
    MISMATCH,
    Account,
    ReleaseTest,
    UnanchoredError,
    UncertainError,
    Write,
    Writer,
    accounts_in,
    read_accounts,
    reading_accounts,
)
from budget.charging import accounts, job_charges, leases
from budget.charging.disk_space import forget_trial, try_disk_space
from budget.charging.filter import charge_all
from budget.charging.leases import Holder
from budget.charging.noisy_vectors import with_vectors
from budget.charging.queries import (
    body_in,
    can_be_refined,
    find_reusable,
    is_known,
    look_up_key,
    measured_vectors,
    paid_questions,
    read_history,
    read_query,
    reading_body,
    reading_key,
    settled_in,
    spent_of_population,
)
from budget.charging.splices import Piece, Splice
from budget.checking.reconciliation import Also, reconcile
from budget.checking.verification import Verification, require_derived, verify
from budget.reading.export import export_entries
from budget.reading.horizon import Horizon
from budget.reading.listing import Line, Seen, count_lines, lines_page
from budget.reading.positions import Position, read_position
from budget.reading.statements import charged_blocks
from budget.storage.databases import Databases
from budget.storage.prepared import Prepared, Row, Statement
from budget.storage.records import (
    Charged,
    ChargeRequest,
    FailedReplay,
    InFlight,
    Mismatch,
    NotRefinable,
    Orphan,
    PaidQuestion,
    QueryRecord,
    Refinement,
    Refused,
    Replay,
    Scope,
    Settled,
    StoredAnswer,
)
from budget.storage.tables import answer
from privacy.charges import Charge
from privacy.errors import AnchorMismatchError, LedgerUnavailableError
from privacy.losses import Loss

__all__ = [
    "ChargeRequest",
    "Charged",
    "FailedReplay",
    "InFlight",
    "Ledger",
    "Mismatch",
    "NotRefinable",
    "Orphan",
    "PaidQuestion",
    "QueryRecord",
    "RecordedTransaction",
    "Refinement",
    "Refused",
    "Replay",
    "Scope",
    "StoredAnswer",
    "UncertainError",
    "Verification",
    "spent_of_population",
]


_STORE = Prepared(insert(answer))


class Ledger:
    """The one ledger of an installation.

    Args:
        databases: Where its tables are.
        anchor: Its anchor, outside the data directory. From now on the databases'
            readers see nothing that is not anchored.
        is_released: Whether an answer's reply has left; until then it is in flight.
        unreleased: The answers of this process whose replies have not left.
        worker_id: Names this process in leases; random where it is not given.
    """

    def __init__(
        self,
        databases: Databases,
        anchor: AnchorFile,
        *,
        is_released: ReleaseTest = lambda _: True,
        unreleased: Callable[[], Collection[str]] = tuple,
        worker_id: str | None = None,
    ) -> None:
        self._databases = databases
        self._anchor = anchor
        self._writer = Writer(databases, anchor)
        self._is_released = is_released
        self._unreleased = unreleased
        databases.check_reading(
            Horizon(
                anchor, self.catch_up, lambda: self._writer.is_behind, unreleased
            ).check
        )
        self._holder = Holder(worker_id or secrets.token_hex(16), databases.is_shared)

    @classmethod
    def initialise(
        cls, databases: Databases, anchor: AnchorFile, *, actor: str
    ) -> "Ledger":
        """Start a ledger in empty tables, and its anchor.

        Raises:
            AnchorMismatchError: There is a ledger already.
            FileExistsError: There is an anchor already.
        """
        if anchor.path.exists():  # before anything is written
            raise FileExistsError(anchor.path)
        ledger_id = secrets.token_hex(32)
        with databases.writer.begin() as connection:
            if ledger_id_of(connection) is not None:
                message = "there is a ledger here already"
                raise AnchorMismatchError(message)
            entries = Appender.at_once(connection)
            facts = {"ledger_id": ledger_id}
            body = {"action": "ledger.create", "actor": actor, "facts": facts}
            entries.append("admin", body)
        anchor.create(AnchorRecord(ledger_id, entries.head, {}))
        return cls(databases, anchor)

    @classmethod
    def finish(cls, databases: Databases, anchor: AnchorFile) -> "Ledger | None":
        """Take up a ledger whose making was cut off after its first entry.

        Returns:
            None where not even that entry was written.

        Raises:
            AnchorMismatchError: It has more entries, or the anchor is another's.
        """
        with databases.reader.connect() as connection:
            head, ledger_id = head_of(connection), ledger_id_of(connection)
        if ledger_id is None:
            return None
        if not anchor.path.exists():
            if head.seq > 1:
                raise AnchorMismatchError(MISMATCH)
            anchor.create(AnchorRecord(ledger_id, head, {}))
        ledger = cls(databases, anchor)
        ledger.check()
        return ledger

    def open(self, recorded_tables: Iterable[Table] = ()) -> None:
        """Check a ledger before serving from it.

        The anchor is written forward where a crash left it behind. Where one process
        serves the ledger, the leases of all others are void at once.

        Raises:
            AnchorMismatchError: The ledger does not contain its anchor, or a counter,
                or a row of the recorded tables, is not what the entries make it.
            LedgerUnavailableError: It, or its anchor, cannot be written.
        """
        with self._writer.transaction() as write:
            require_derived(write.connection, tuple(recorded_tables))
            if not self._holder.shared:
                leases.void_others(write.connection, self._holder.worker_id)
        with self._noting() as notes:
            notes.reserve()

    def catch_up(self) -> None:
        """Write the anchor forward where a process died before it did.

        Raises:
            AnchorMismatchError: The ledger does not contain its anchor.
            LedgerUnavailableError: The anchor cannot be written.
        """
        with self._writer.transaction():
            pass

    def require_matched(self) -> None:
        """Refuse once a mismatch was seen: nothing is served from then on.

        Raises:
            AnchorMismatchError: The anchor did not fit before.
        """
        self._writer.require_matched()

    def check(self) -> None:
        """Check that the ledger contains its anchor.

        Raises:
            AnchorMismatchError: It does not.
            LedgerUnavailableError: It cannot be read.
        """
        self._writer.check()

    @contextmanager
    def recorded(
        self, action: str, actor: str, facts: Mapping[str, object] | None = None
    ) -> Iterator[RecordedTransaction]:
        """Change rows of other packages' tables and limits, as one admin entry.

        ``facts`` is read when the block ends. An exception inside undoes all.
        """
        with self._writer.transaction() as write:
            change = RecordedTransaction(write)
            yield change
            write.entries.append(
                "admin",
                {
                    "action": action,
                    "actor": actor,
                    **change.body(facts or {}),
                },
            )

    def charge(
        self, request: ChargeRequest
    ) -> Charged | Refused | NotRefinable | Settled:
        """Charge every scope, or none: durable and anchored when this returns.

        What refines an answer is charged if nothing else does, or did: once.

        Raises:
            AnchorMismatchError: Nothing was written.
            LedgerUnavailableError: Nothing was charged, unless it names a query: that
                charge is committed, and recovery brings its answer.
            UncertainError: It may be charged; recovery finds out.
        """
        charged = None
        try:
            keyed, accounts = _reading_key(request), reading_accounts(request.scopes)
            with self._writer.transaction(*keyed, *accounts) as write:
                found = write.read[: len(keyed)], write.read[len(keyed) :]
                outcome = (
                    self._settled(write, found[0], request)
                    or _refused_refinement(write, request)
                    or charge_all(
                        write,
                        request,
                        self._holder.worker_id,
                        accounts_in(request.scopes, found[1]),
                    )
                )
                charged = request.query_id if isinstance(outcome, dict) else None
        except UnanchoredError as error:
            raise LedgerUnavailableError(str(error), query_id=charged) from error
        if isinstance(outcome, dict):
            return Charged(Charge(request.query_id, request.loss), outcome)
        return outcome

    def _settled(
        self, write: Write, keyed: Sequence[Sequence[Row]], request: ChargeRequest
    ) -> Settled | None:
        """Return what the request's key brought before, as ``_reading_key`` read it."""
        for rows in keyed:
            return settled_in(
                rows, write.connection, request.fingerprint, self._is_released
            )
        return None

    def lookup_key(self, principal: str, key: str, fingerprint: str) -> Settled | None:
        """Return what a key brought before; None where it is new."""
        self._writer.require_matched()
        if not is_known(self._databases.ledger_reader, principal, key):
            return None
        with self._databases.ledger_reader.connect() as connection:
            return look_up_key(
                connection, (principal, key, fingerprint), self._is_released
            )

    def find_reusable(
        self, question: str, at_least: Loss, *, project: str, former: str | None = None
    ) -> StoredAnswer | None:
        """Return the released answer with the most epsilon, then the earliest.

        Args:
            question: The question's identity.
            at_least: What must have been paid.
            project: Of the asker.
            former: The identity that an earlier version gave the same question.
        """
        self._writer.require_matched()
        with self._databases.ledger_reader.connect() as connection:
            return find_reusable(
                connection,
                (question, former or question),
                at_least,
                project,
                self._is_released,
            )

    def paid_questions(
        self, project: str, snapshot: str, most: int
    ) -> list[PaidQuestion]:
        """Return a project's own paid and released questions, the newest first.

        Args:
            project: Whose.
            snapshot: That they asked.
            most: So many are looked at.
        """
        self._writer.require_matched()
        with self._databases.ledger_reader.connect() as connection:
            return paid_questions(
                connection, project, snapshot, most, self._is_released
            )

    def measured_vectors(self, query_id: str) -> bytes | None:
        """Return the vectors that ``store_answer`` was given with a paid answer."""
        self._writer.require_matched()
        with self._databases.ledger_reader.connect() as connection:
            return measured_vectors(connection, query_id)

    def store_answer(self, paid: Charge, body: bytes, vectors: bytes = b"") -> bytes:
        """Store an answer, anchored; the first stored answer is the answer.

        Args:
            paid: What was charged for it.
            body: The document that is sent.
            vectors: All that was measured, in whatever form its reader knows.

        Returns:
            The stored document.

        Raises:
            LedgerUnavailableError: It is not stored, or the lease was lost.
        """
        reading = reading_body(paid.query_id), leases.reading_holder(paid.query_id)
        with self._writer.transaction(*reading) as write:
            first, holder = write.read
            stored = body_in(first)
            if stored is not None:
                return stored
            leases.require_held(holder, paid.query_id, self._holder.worker_id)
            kept = with_vectors(body, vectors)
            _store(write, paid.query_id, kept)
            leases.settle(write, paid.query_id, "answered", self._holder.held_boot)
            write.entries.append("answered", _answered(paid.query_id, kept))
        return body

    def store_free(
        self,
        request: ChargeRequest,
        source_query_id: str,
        body: bytes,
        pieces: Sequence[Piece] | None = None,
    ) -> Settled | None:
        """Store an answer that costs nothing, and bind its key.

        Args:
            request: What is asked, with a loss of 0.
            source_query_id: Of the charge that paid for what it shows.
            body: The answer.
            pieces: What makes the body of that charge's answer; None: kept whole.

        Returns:
            What the key brought before, where it came before; else None.
        """
        facts: dict[str, object] = {"source_query_id": source_query_id}
        facts["sha256"] = _digest(body)
        stored, spliced_from = body, None
        if pieces is not None:
            stored, spliced_from = Splice.of(body, pieces).encode(), source_query_id
            facts["stored_sha256"] = _digest(stored)
        with self._writer.transaction(*_reading_key(request)) as write:
            settled = self._settled(write, write.read, request)
            if settled is not None:
                return settled
            accounts.insert_charge(
                write,
                request,
                kind="free",
                facts=salted(facts),
                marks={"held_boot": self._holder.held_boot},
            )
            _store(write, request.query_id, stored, spliced_from)
        return None

    def fail(self, query_id: str) -> None:
        """End a charge without an answer; the charge stays."""
        with self._writer.transaction(leases.reading_holder(query_id)) as write:
            leases.require_held(write.read[0], query_id, self._holder.worker_id)
            leases.fail(write, query_id, self._holder.held_boot)

    def refuse(self, principal: str, code: str, facts: Mapping[str, object]) -> None:
        """Record a refusal of an authenticated principal."""
        with self._writer.transaction() as write:
            body = {**facts, "principal": principal, "code": code}
            write.entries.append("refused", body)

    def note_drawn(self, query_id: str) -> None:
        """Note that a question's noise was drawn and its end could not be stored.

        Durable when this returns, on a full disk too. From now on no process draws for
        it again: who has the answer stores it, and else its charge fails.

        Raises:
            LedgerUnavailableError: It could not be noted.
        """
        with self._noting() as notes:
            notes.note(query_id)

    def forget_drawn(self) -> None:
        """Delete the notes of questions that have ended, now that this is anchored.

        Raises:
            LedgerUnavailableError: They cannot be read or written.
        """
        noted = self._noted()
        if not noted:
            return
        with self._writer.transaction() as write:
            running = leases.running_of(write.connection, noted)
        with self._noting() as notes:
            notes.forget(noted - running)

    def _noted(self) -> frozenset[str]:
        try:
            return self._anchor.drawn()
        except OSError as error:
            message = "the ledger's anchor cannot be read now"
            raise LedgerUnavailableError(message) from error

    @contextmanager
    def _noting(self) -> Iterator[DrawNotes]:
        try:
            with self._anchor.locked() as held:
                yield held.draws
        except OSError as error:
            message = "the ledger's anchor cannot be written now"
            raise LedgerUnavailableError(message) from error

    def give_up(self, query_id: str) -> None:
        """Give up a lease, so that the question may be executed again."""
        with self._writer.transaction() as write:
            leases.give_up(write.connection, query_id, self._holder.worker_id)

    def charge_work(
        self,
        request: ChargeRequest,
        action: str,
        also: job_charges.Also,
        *,
        is_made: bool = False,
    ) -> Charge | Refused | job_charges.Settled:
        """Charge a job's work, once by the job's id; the work may be begun again.

        Args:
            request: Its ``query_id`` is the job's id, its ``principal`` who submitted.
            action: Of the admin entry that says what begins; written with the charge.
            also: What that entry changes.
            is_made: Whether all is done but for storing it: that is no execution.

        Returns:
            The charge, new or as it was made before; the refusal; how it ended; or
            that it is to end as failed, begun as often as a question may be.

        Raises:
            AnchorMismatchError: Nothing was written.
            LedgerUnavailableError: Nothing was charged, unless it names a query: that
                charge is committed, and beginning again goes on with it.
            UncertainError: It may be charged; beginning again finds out.
        """
        charged = None
        try:
            with self._writer.transaction() as write:
                is_new = job_charges.find(write.connection, request.query_id) is None
                outcome = job_charges.take_up(write, request, is_made=is_made)
                if is_new and isinstance(outcome, Charge):
                    _append(write, action, request.principal, also)
                charged = request.query_id if isinstance(outcome, Charge) else None
        except UnanchoredError as error:
            raise LedgerUnavailableError(str(error), query_id=charged) from error
        return outcome

    def store_work(
        self, paid: Charge, body: bytes, action: str, actor: str, also: job_charges.Also
    ) -> bytes:
        """Store what a job's work made, anchored; the first stored is what it made.

        Returns:
            The stored bytes; where they were stored before, ``also`` is not called.

        Raises:
            LedgerUnavailableError: Nothing is stored: the charge has ended.
        """
        with self._writer.transaction() as write:
            known = job_charges.made_before(write.connection, paid.query_id)
            if known is not None:
                return known
            job_charges.require_running(write.connection, paid.query_id)
            _store(write, paid.query_id, body)
            leases.settle(write, paid.query_id, "answered", None)
            write.entries.append("answered", _answered(paid.query_id, body))
            _append(write, action, actor, also, salted)
        return body

    def fail_work(
        self, query_id: str, action: str, actor: str, also: job_charges.Also
    ) -> None:
        """End a job's work that made nothing; its charge stays, where there is one."""
        with self._writer.transaction() as write:
            if job_charges.is_begun(write.connection, query_id):
                leases.fail(write, query_id)
            _append(write, action, actor, also, salted)

    def take_up(
        self,
        unreadable: frozenset[str] = frozenset(),
        kept: frozenset[str] = frozenset(),
    ) -> tuple[list[Orphan], list[QueryRecord]]:
        """Take over what nobody works on, and what nobody would release.

        Args:
            unreadable: Snapshots whose charges wait, since they could only fail.
            kept: Questions that this process has drawn and will store.

        Returns:
            The charges without an end, leased to this process; those tried three times
            fail instead, and those noted as drawn whose answer nobody has any more. And
            those that have ended and were held by processes that died: they are held by
            this one until it releases them.

        Raises:
            LedgerUnavailableError: Nothing was taken up: database or anchor cannot be
                written, or there is no room for an answer.
        """
        orphaned = leases.orphaned_of(self._holder, unreadable)
        left = or_(orphaned, self._holder.stranded())
        with self._databases.ledger_reader.connect() as connection:
            if not leases.is_any(connection, left):
                return [], []
        with self._writer.transaction(renews_anchor=True) as write:
            try_disk_space(write.connection)
        with self._writer.transaction() as write:  # anchored, or nothing is taken up
            forget_trial(write.connection)
            leases.fail_exhausted(write, self._holder, self._noted() - kept)
        with self._writer.transaction() as write:
            return (
                leases.claim(write.connection, self._holder, unreadable),
                leases.take_stranded(write.connection, self._holder),
            )

    def release(self, query_ids: Sequence[str]) -> None:
        """Show answers to other processes: their replies leave now.

        Where one process serves the ledger, ``is_released`` alone knows.

        Raises:
            LedgerUnavailableError: They stay in flight; release them again.
        """
        if not self._holder.shared or not query_ids:
            return
        try:
            leases.release(self._databases.work, query_ids, self._holder.worker_id)
        except SQLAlchemyError as error:
            message = "the database cannot be written now"
            raise LedgerUnavailableError(message) from error

    def release_forgotten(self) -> None:
        """Show what this process holds although its reply has left.

        A crash of the database may forget a release, which is not durable.
        """
        if not self._holder.shared:
            return
        kept = frozenset(self._unreleased())
        with self._databases.ledger_reader.connect() as connection:
            ours = leases.held_by(connection, self._holder.worker_id)
        forgotten = [query_id for query_id in ours if query_id not in kept]
        if forgotten:
            self._writer.require_anchored()
            self.release(forgotten)

    def remaining(self, scopes: Iterable[Scope]) -> dict[Scope, Loss | None]:
        """Return what is left of each scope's limit; None where it has none."""
        with self._databases.ledger_reader.connect() as connection:
            accounts = read_accounts(connection, scopes)
        return {scope: held.remaining(scope) for scope, held in accounts.items()}

    def limit(self, scope: Scope) -> Loss | None:
        """Return a scope's limit; None where it has none."""
        nano = self._account(scope).limit
        return None if nano is None else Loss(nano)

    def spent(self, scope: Scope) -> Loss:
        """Return what a scope has spent (an odometer: it decides nothing)."""
        return Loss(self._account(scope).spent or 0)

    def _account(self, scope: Scope) -> Account:
        with self._databases.ledger_reader.connect() as connection:
            return read_accounts(connection, [scope])[scope]

    def history(
        self, principal: str, *, limit: int, cursor: str | None
    ) -> tuple[list[QueryRecord], str | None]:
        """Return a principal's questions, newest first, and the next cursor."""
        with self._databases.ledger_reader.connect() as connection:
            return read_history(connection, principal, limit, cursor)

    def query(self, query_id: str) -> QueryRecord | None:
        """Return one question with its answer."""
        with self._databases.ledger_reader.connect() as connection:
            return read_query(connection, query_id)

    def charged_blocks(self, query_id: str) -> frozenset[str]:
        """Return the blocks whose caps a charge debited; none where there are none."""
        with self._databases.ledger_reader.connect() as connection:
            return charged_blocks(connection, query_id)

    def position(self) -> Position:
        """Return how far the ledger and its anchor came, for the operator.

        Raises:
            AnchorMismatchError: There is no anchor that can be read.
            OSError: It cannot be opened.
        """
        anchored = self._anchor.read().head.seq
        with (
            self._databases.unchecked(),
            self._databases.reader.connect() as connection,
        ):
            return read_position(connection, anchored, self.hidden(connection))

    def export(self) -> list[dict[str, object]]:
        """Return every entry without bodies of answers (CONTRACT 5)."""
        with self._databases.ledger_reader.connect() as connection:
            return export_entries(connection)

    def lines(
        self,
        seen: Seen,
        also_hidden: Callable[[Connection], Collection[str]],
        *,
        limit: int,
        cursor: str | None,
    ) -> tuple[list[Line], str | None]:
        """Return a page of the ledger as HTTP shows it, and the next cursor.

        ``also_hidden`` reads, in the same transaction, which charges have ends that
        must not be seen, beside those that ``hidden`` returns.
        """
        with self._databases.reader.connect() as connection:
            hidden = self.hidden(connection) | frozenset(also_hidden(connection))
            return lines_page(connection, seen, hidden, limit=limit, cursor=cursor)

    def count_lines(self, seen: Seen) -> int:
        """Return how many lines ``lines`` has in all."""
        with self._databases.reader.connect() as connection:
            return count_lines(connection, seen)

    def hidden(self, connection: Connection) -> frozenset[str]:
        """Return the questions whose replies have not left, of every process.

        Until then nobody may learn that they have ended (PRIVACY 6). What this process
        holds is looked at once ``connection`` sees one state: whatever ended before
        that is held by then, or its reply has left.
        """
        held = leases.held(connection)
        return held | frozenset(self._unreleased())

    def verify(self, recorded_tables: Iterable[Table]) -> Verification:
        """Find any edit, deletion, reordering or truncation."""
        with self._databases.unchecked():
            return verify(self._databases, self._anchor, tuple(recorded_tables))

    def reconcile(self, reason: str, actor: str, also: Also) -> None:
        """Go on after a restore: see ``budget.checking.reconciliation``."""
        reconcile(self._databases, self._anchor, reason, actor, also)


def _store(
    write: Write, query_id: str, body: bytes, spliced_from: str | None = None
) -> None:
    row = {"query_id": query_id, "body": body, "spliced_from": spliced_from}
    write.later(_STORE, row)


def _reading_key(request: ChargeRequest) -> list[Statement]:
    """Return what reads the question of a request's key, where it has one."""
    key = request.idempotency_key
    return [] if key is None else [reading_key(request.principal, key)]


def _refused_refinement(write: Write, request: ChargeRequest) -> NotRefinable | None:
    """Refuse to draw on noise twice (docs/proofs/refining.md)."""
    refines = request.refines
    if refines is None or can_be_refined(write.connection, refines.query_id):
        return None
    return NotRefinable()


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _answered(query_id: str, body: bytes) -> Body:
    """Return the body of the entry that a question's answer is stored with."""
    return salted({"query_id": query_id, "sha256": _digest(body)})


def _append(
    write: Write,
    action: str,
    actor: str,
    also: job_charges.Also,
    sealed: Callable[[Body], Body] = dict,
) -> None:
    """Write an admin entry with the changes that ``also`` makes.

    ``sealed`` is ``salted`` where execution has ended with it.
    """
    write.flush()  # it may read what was written
    change = RecordedTransaction(write)
    also(change)
    body = {"action": action, "actor": actor, **change.body({})}
    write.entries.append("admin", sealed(body))
