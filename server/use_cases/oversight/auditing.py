"""Checking the ledger, exporting it, and going on after a restore."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement

from budget.chain.writing import cap_totals
from budget.checking.reconciliation import NothingToReconcileError
from budget.ledger import RecordedTransaction, Verification
from privacy.losses import Loss
from server.persistence.schema import RECORDED_TABLES
from server.use_cases.identity.revocations import end_proposals, revoke_keys
from server.use_cases.operations.postgres_dump import end_restore
from server.use_cases.oversight.ledger_lines import WHOLE
from server.use_cases.oversight.replies import VerificationShape
from server.use_cases.publishing.published import file_problems
from server.use_cases.releases.times import has_appeared
from server.use_cases.services.documents import Document
from server.use_cases.services.services import Services

ALTERED = (
    "the ledger is not what its entries make it, or does not fit its anchor: 'curator "
    "ledger verify', on the host, says where"
)

FORGOTTEN = (
    "load its patients again under this name alone, with the measure, blocks and cap "
    "that it had: it then goes on from what was spent; under another name, or with the "
    "other measure, the same patients would lose more than was promised"
)


class AuditService:
    """Reads the whole ledger; reconcile alone writes."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def verify(self) -> VerificationShape:
        """Re-derive every entry, counter and recorded row; list what differs.

        The files of releases are held against their digests too.
        """
        found = self._services.ledger.verify(RECORDED_TABLES)
        problems = [*found.problems, *self._release_problems(found)]
        return _verified(found.entries, problems)

    def outline(self) -> VerificationShape:
        """Return what ``verify`` finds as it is told over HTTP: no entry is numbered.

        Its entries are the lines of the ledger's list, which no end of an execution
        adds to. Only releases that have appeared are read: how long a reply takes
        would tell when the files of another were stored (PRIVACY 2).
        """
        found = self._services.ledger.verify(RECORDED_TABLES)
        altered = [] if found.ok else [ALTERED]
        lines = self._services.ledger.count_lines(WHOLE)
        return _verified(
            lines, [*altered, *self._release_problems(found, has_appeared())]
        )

    def _release_problems(
        self, found: Verification, which: ColumnElement[bool] | None = None
    ) -> list[str]:
        if not found.ok:  # the catalogue's own words are in doubt
            return []
        return file_problems(self._services, which)

    def export(self) -> list[Document]:
        """Return every entry, without the bodies of answers."""
        return [dict(entry) for entry in self._services.ledger.export()]

    def reconcile(self, reason: str) -> Document:
        """Charge each population what the anchor saw; disable all keys.

        Returns:
            What a restore may have brought back, to be looked at: whoever is not
            disabled, and every cap.

        Raises:
            NothingToReconcileError: The ledger contains its anchor, and no restore
                waited to be ended.
        """
        try:
            self._services.ledger.reconcile(
                reason, self._actor, _end_what_a_restore_revives
            )
        except NothingToReconcileError:
            if not end_restore(self._services.settings):
                raise
            return {"reconciled": False, "restore": "ended: nothing was forgotten"}
        end_restore(self._services.settings)
        return self._revived()

    def _revived(self) -> Document:
        """Return what a restore may have brought back."""
        # Whoever reads the ledger starts without what changes people and caps.
        from server.use_cases.custody.people import PeopleService  # noqa: PLC0415
        from server.use_cases.custody.populations import (  # noqa: PLC0415
            PopulationService,
        )

        people = PeopleService(self._services, self._actor).principals()
        known = PopulationService(self._services, self._actor).populations()
        return {
            "reconciled": True,
            "keys": "all revoked: issue new ones",
            "not_disabled": [p["name"] for p in people if not p["disabled"]],
            "populations": known,
            "forgotten": self._forgotten({str(one["name"]) for one in known}),
            "look": "a restore brings back whoever was disabled, caps that were "
            "lowered, grants and releases that were taken back since the backup",
        }

    def _forgotten(self, known: set[str]) -> list[Document]:
        """Return what was spent of populations that the restored ledger never knew."""
        with self._services.databases.reader.connect() as connection:
            totals = cap_totals(connection)
        spent: dict[str, int] = {}
        for name, nano in totals.items():
            population = name.partition("/")[0]
            if population not in known and nano:
                spent[population] = max(spent.get(population, 0), nano)
        return [
            {"population": name, "spent": str(Loss(nano)), "now": FORGOTTEN}
            for name, nano in sorted(spent.items())
        ]


def _verified(entries: int, problems: Sequence[str]) -> VerificationShape:
    return {"ok": not problems, "entries": entries, "problems": list(problems)}


def _end_what_a_restore_revives(change: RecordedTransaction) -> None:
    """Revoke every key and close every proposal: some were ended before already."""
    revoke_keys(change)
    end_proposals(change)
