"""What custodians and auditors do over HTTP with snapshots and statements."""

from sqlalchemy import Table, select

from server.persistence import tables
from server.use_cases.custody.administration import CustodyService
from server.use_cases.datasets.replies import RemovedSnapshotShape, SnapshotShape
from server.use_cases.datasets.snapshots import SnapshotService
from server.use_cases.identity.access import Caller
from server.use_cases.oversight.statements import StatementService
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.paging import ListOf, Page
from server.use_cases.services.services import Services


class OversightService:
    """Snapshots, statements and reports for one caller.

    Custodians see what is of their populations; auditors all that they may read.
    """

    def __init__(self, services: Services, caller: Caller) -> None:
        self._services = services
        self._caller = caller
        self._custody = CustodyService(services, caller)
        self._snapshots = SnapshotService(services, caller.name)

    def snapshots(self, dataset: str, page: Page) -> ListOf[SnapshotShape]:
        """List a dataset's snapshots, newest first.

        Raises:
            NotFoundError: Unknown, or of a population that is not the caller's.
        """
        self._custody.require_datasets([dataset])
        return self._snapshots.page(dataset, page)

    def activate(
        self,
        dataset: str,
        snapshot: str,
        reason: str | None,
        *,
        override_overlap: bool = False,
    ) -> SnapshotShape:
        """Answer from this snapshot, from the next request on.

        Raises:
            NotFoundError: As ``snapshots``.
            CommandRefusedError: It must not be activated.
            ProposalOpenError: Another custodian must approve first.
        """
        self._require_of(dataset, snapshot)
        return self._snapshots.activate(
            snapshot,
            dataset=dataset,
            reason=reason,
            override_overlap=override_overlap,
        )

    def remove(self, dataset: str, snapshot: str) -> RemovedSnapshotShape:
        """Erase a snapshot's file.

        Raises:
            NotFoundError: As ``snapshots``.
            CommandRefusedError: It is the active one.
        """
        self._require_of(dataset, snapshot)
        return self._snapshots.remove(snapshot, dataset=dataset)

    def statement(self, population: str) -> str:
        """Return a population's privacy statement.

        Raises:
            NotFoundError: Unknown, or not the caller's.
        """
        if self._caller.role == "auditor":
            self._require_row(tables.population, population)
        else:
            self._custody.require_population(population)
        return StatementService(self._services).population(population)

    def report(self, project: str) -> str:
        """Return a project's report.

        Raises:
            NotFoundError: Unknown, or not the caller's.
        """
        if self._caller.role == "auditor":
            self._require_row(tables.project, project)
        else:
            self._custody.require_project(project)
        return StatementService(self._services).project(project)

    def _require_row(self, table: Table, name: str) -> None:
        with self._services.databases.reader.connect() as connection:
            wanted = select(table.c.name).where(table.c.name == name)
            if connection.execute(wanted).first() is None:
                raise NotFoundError

    def _require_of(self, dataset: str, snapshot: str) -> None:
        self._custody.require_datasets([dataset])
        with self._services.databases.reader.connect() as connection:
            wanted = select(tables.snapshot.c.dataset).where(
                tables.snapshot.c.id == snapshot
            )
            if connection.execute(wanted).scalar_one_or_none() != dataset:
                raise NotFoundError
