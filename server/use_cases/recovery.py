"""Charged questions that a crash or a full disk left without an answer."""

import logging

from budget.ledger import Orphan
from privacy.errors import CuratorError
from server.use_cases.access import Caller, snapshot_grant
from server.use_cases.asking import Desk, scopes_of, visible_remaining
from server.use_cases.questions import Compiler, loss_range, prepare, request_of
from server.use_cases.services import Services

_log = logging.getLogger("curator.recovery")


class Recovery:
    """Executes orphaned charges again, at most twice, for no new charge."""

    def __init__(self, services: Services, compiler: Compiler, desk: Desk) -> None:
        self._services = services
        self._compiler = compiler
        self._desk = desk

    def run_once(self) -> int:
        """Give up what this process could not store, then answer every orphan.

        Returns:
            How many orphans were taken up. Never raises: what cannot be written now is
            tried again at the next call.
        """
        given_up = self._services.given_up.take_all()
        taken = 0
        try:
            while given_up:
                self._services.ledger.give_up(next(iter(given_up)))
                given_up.pop()
            for orphan in self._services.ledger.claim_orphans():
                self._try(orphan)
                taken += 1
        except CuratorError as error:
            _log.warning("recovery waits: %s", error.code)
        for query_id in given_up:
            self._services.given_up.add(query_id)
        return taken

    def _try(self, orphan: Orphan) -> None:
        """Answer one orphan; what stops it must not strand the others."""
        try:
            self._answer(orphan)
        except Exception as error:  # noqa: BLE001 - given up, tried again, then failed
            _log.warning("recovery gives up a query: %s", type(error).__name__)
            self._services.given_up.add(orphan.charge.query_id)

    def _answer(self, orphan: Orphan) -> None:
        with self._services.databases.reader.connect() as connection:
            grant = snapshot_grant(
                connection, project=orphan.project, snapshot=orphan.snapshot
            )
            losses = loss_range(connection, grant.population)
        question = prepare(
            self._compiler, grant, losses, request_of(orphan.request_json)
        )
        caller = Caller(orphan.principal, "analyst")
        left = self._services.ledger.remaining(scopes_of(grant, caller))
        self._desk.execute(
            orphan.charge, question, visible_remaining(left, grant, caller)
        )
