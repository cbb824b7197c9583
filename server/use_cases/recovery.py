"""Charged questions that a crash or a full disk left without an answer."""

import logging

from budget.ledger import Orphan
from privacy.errors import CuratorError, LedgerUnavailableError
from server.use_cases.access import Caller, snapshot_grant
from server.use_cases.asking import Desk, Reply, scopes_of, visible_remaining
from server.use_cases.questions import Compiler, LossRange, prepare, request_of
from server.use_cases.services import Services

_log = logging.getLogger("curator.recovery")


class Recovery:
    """Executes orphaned charges again, at most twice, for no new charge."""

    def __init__(self, services: Services, compiler: Compiler, desk: Desk) -> None:
        self._services = services
        self._compiler = compiler
        self._desk = desk
        self._to_release: list[str] = []

    def run_once(self) -> int:
        """Give up what this process could not store, then answer every orphan.

        What it answers shows from its next call on, so that calls on a fixed grid tell
        nothing of how long an execution took.

        Returns:
            How many orphans were taken up. Never raises a refusal: what cannot be
            written now is tried again at the next call.
        """
        self._services.release(self._to_release)
        self._to_release = []
        try:
            self._give_up_all()
            self._services.ledger.release_forgotten()
            self._services.ledger.release_stranded()
            orphans = self._services.ledger.claim_orphans()
        except CuratorError as error:
            _log.warning("recovery waits", extra={"code": error.code})
            return 0
        for orphan in orphans:
            self._services.unreleased.hold(orphan.charge.query_id)
            self._answer(orphan)
        return len(orphans)

    def _give_up_all(self) -> None:
        """Give up leases; each success also anchors what was written before it."""
        waiting = self._services.given_up.take_all()
        try:
            while waiting:
                query_id = next(iter(waiting))
                self._services.ledger.give_up(query_id)
                waiting.remove(query_id)
                self._to_release.append(query_id)
        finally:
            for query_id in waiting:
                self._services.given_up.add(query_id)

    def _answer(self, orphan: Orphan) -> None:
        query_id = orphan.charge.query_id
        try:
            reply = self._execute(orphan)
        except Exception as error:  # noqa: BLE001 - given up, tried again, then failed
            facts = {"error": type(error).__name__}
            _log.warning("recovery gives up a question", extra=facts)
            self._services.given_up.add(query_id)
            return
        if not isinstance(reply.failure, LedgerUnavailableError):
            self._to_release.append(query_id)

    def _execute(self, orphan: Orphan) -> Reply:
        caller = Caller(orphan.principal, "analyst")
        with self._services.databases.reader.connect() as connection:
            grant = snapshot_grant(
                connection, project=orphan.project, snapshot=orphan.snapshot
            )
        loss = orphan.charge.loss
        question = prepare(
            self._compiler,
            grant,
            LossRange(loss, loss),
            request_of(orphan.request_json),
        )
        left = self._services.ledger.remaining(scopes_of(grant, caller))
        return self._desk.execute(
            orphan.charge, question, visible_remaining(left, grant, caller)
        )
