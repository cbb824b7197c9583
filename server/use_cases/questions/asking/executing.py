"""Charged questions are executed, measured and stored, or fail.

What comes after a charge looks the same whatever went wrong, and what was drawn is
stored as it is, or not at all (PRIVACY 5).
"""

import logging
from collections.abc import Sequence

from engines.contract import Execution, Filled, SealedVector
from privacy.charges import Charge
from privacy.errors import (
    AnchorMismatchError,
    CuratorError,
    LedgerUnavailableError,
)
from server.use_cases.questions.asking.drawing import Drawing
from server.use_cases.questions.asking.submissions import Paid, Reply, unavailable
from server.use_cases.questions.questions import Question
from server.use_cases.services.errors import QueryFailedError
from server.use_cases.services.services import DrawnAnswer, Services

_log = logging.getLogger("curator.questions")

Computed = Filled | Exception
"""What execution made, not taken up yet, or an error that nobody is shown."""


class Executing:
    """Executes charged questions, adds noise, and stores the answers."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def execution(self, question: Question) -> Execution:
        """Write a question's plan down for the engine; touches no data."""
        return self._services.engine.execution(
            question.snapshot, question.compiled.rendered
        )

    def compute(self, paid: Paid) -> Computed:
        """Run a charged question; return what it filled, or why it filled nothing.

        It touches rows, and nothing else: neither the ledger nor noise.
        """
        try:
            with self._services.executors:
                return paid.execution.run()
        except Exception as error:  # noqa: BLE001 - after the charge all failures look alike
            return error

    def answer(self, paid: Paid, computed: Computed) -> Reply:
        """Add noise and store the answer; every failure looks the same.

        Noise is drawn once (PRIVACY 5): what cannot be stored is kept, and stored later
        as it is. Whether a disk takes an answer may depend on its size, and so on what
        was drawn: a second draw would follow a choice among the first ones.
        """
        charge, question = paid.charge, paid.question
        try:
            sealed = _sealed(computed)
        except (LedgerUnavailableError, AnchorMismatchError) as error:
            self._services.given_up.add(charge.query_id)
            return unavailable(charge, question, error)
        except Exception:  # noqa: BLE001 - after the charge all failures look alike
            return self._failed(charge, question)
        try:
            return self._store_drawn(paid, self._drawn(paid, sealed))
        except Exception:  # noqa: BLE001 - after the charge all failures look alike
            return self._failed(charge, question, is_drawn=True)

    def _drawn(self, paid: Paid, sealed: Sequence[SealedVector]) -> DrawnAnswer:
        drawing = Drawing(self._services.sampler, self._services.engine.version)
        return drawing.drawn(paid, sealed)

    def _store_drawn(self, paid: Paid, drawn: DrawnAnswer) -> Reply:
        charge, question = paid.charge, paid.question
        try:
            stored = self._services.ledger.store_answer(
                charge, drawn.body, drawn.measured
            )
        except (LedgerUnavailableError, AnchorMismatchError) as error:
            self._keep(charge, drawn)
            return unavailable(charge, question, error)
        return Reply(charge.query_id, stored, executed=question)

    def _failed(
        self, charge: Charge, question: Question, *, is_drawn: bool = False
    ) -> Reply:
        """End a charge without an answer; the charge stays.

        Args:
            charge: That ends.
            question: That was executed.
            is_drawn: Whether it fails after its draw: then nothing is drawn again,
                though the failure cannot be written now.
        """
        try:
            self._services.ledger.fail(charge.query_id)
        except (LedgerUnavailableError, AnchorMismatchError) as error:
            if is_drawn:
                self._keep(charge, None)
            else:
                self._services.given_up.add(charge.query_id)
            return unavailable(charge, question, error)
        failure = QueryFailedError(charge.query_id)
        return Reply(charge.query_id, executed=question, failure=failure)

    # -- what was drawn and waits to be stored ------------------------------------

    def _keep(self, charge: Charge, drawn: DrawnAnswer | None) -> None:
        """Keep what was drawn; note it, for processes that come after this one."""
        self._services.kept.keep(charge, drawn)
        try:
            self._services.ledger.note_drawn(charge.query_id)
        except (LedgerUnavailableError, AnchorMismatchError):
            _log.error("an answer that waits to be stored could not be noted")

    def store_kept(self, query_id: str) -> bool:
        """Store what was drawn and kept, as it is; whether the question has ended."""
        found, ledger = self._services.kept.find(query_id), self._services.ledger
        if found is None:
            return True
        charge, drawn = found
        try:
            record = ledger.query(query_id)
            if record is None or record.state != "running":
                ledger.catch_up()  # it ended before: anchored before it shows
            elif drawn is None:
                ledger.fail(query_id)
            else:
                ledger.store_answer(charge, drawn.body, drawn.measured)
        except CuratorError:
            self._keep(charge, drawn)
            return False
        except Exception:  # noqa: BLE001 - after the charge all failures look alike
            self._services.kept.keep(charge, None)
            return False
        self._services.kept.drop(query_id)
        return True


def _sealed(computed: Computed) -> tuple[SealedVector, ...]:
    """Return what execution filled, sealed; raise why it filled nothing."""
    if isinstance(computed, Exception):
        raise computed
    return computed.sealed()
