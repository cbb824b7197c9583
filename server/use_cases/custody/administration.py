"""What custodians do over HTTP: to their own populations; all else is not there."""

from collections.abc import Iterable

from sqlalchemy import Connection, select, true

from privacy.losses import Loss
from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.approvals.proposals import visible_creations
from server.use_cases.approvals.replies import ProposalShape
from server.use_cases.approvals.second_persons import proposal_documents
from server.use_cases.custody.people import key_document, principal_document
from server.use_cases.custody.populations import PopulationService
from server.use_cases.custody.projects import (
    NewProject,
    ProjectChange,
    ProjectService,
    require_ahead,
)
from server.use_cases.custody.replies import (
    ChangedProjectShape,
    GrantedDataset,
    GrantedPrincipal,
    HeldDatasetDetail,
    KeyShape,
    ListedDataset,
    MadeProjectShape,
    PopulationShape,
    PrincipalShape,
    ProjectShape,
    RevokedDataset,
    RevokedPrincipal,
)
from server.use_cases.identity.access import Caller, populations_of
from server.use_cases.services.errors import NotFoundError
from server.use_cases.services.paging import ListOf, Page, listed, read_page
from server.use_cases.services.services import Services


class CustodyService:
    """Populations, datasets and projects of one custodian."""

    def __init__(self, services: Services, caller: Caller) -> None:
        self._services = services
        self._caller = caller
        self._populations = PopulationService(services, caller.name)
        self._projects = ProjectService(services, caller.name)

    def populations(self, page: Page) -> ListOf[PopulationShape]:
        """List the caller's populations."""
        with self._services.databases.reader.connect() as connection:
            visible = tables.population.c.name.in_(self._own(connection))
            rows, following = read_page(connection, tables.population, page, visible)
        return listed(
            [self._populations.population(row.name) for row in rows], following
        )

    def population(self, name: str) -> PopulationShape:
        """Describe one population.

        Raises:
            NotFoundError: Unknown, or not the caller's.
        """
        self.require_population(name)
        return self._populations.population(name)

    def set_cap(
        self, name: str, cap: Loss, reason: str | None, *, word: str
    ) -> PopulationShape:
        """Set a cap; a higher one needs a second person.

        Raises:
            NotFoundError: Unknown, or not the caller's.
            CommandRefusedError: Its losses are not what ``word`` says.
            ProposalOpenError: Another custodian must approve first.
        """
        self.require_population(name)
        return self._populations.set_cap(name, cap, reason, word=word)

    def datasets(self, page: Page) -> ListOf[ListedDataset]:
        """List the datasets of the caller's populations."""
        with self._services.databases.reader.connect() as connection:
            visible = tables.dataset.c.population.in_(self._own(connection))
            rows, following = read_page(connection, tables.dataset, page, visible)
        items: list[ListedDataset] = [
            {
                "name": row.name,
                "population": row.population,
                "snapshot": row.active_snapshot,
                "created": shown_time(row.created),
            }
            for row in rows
        ]
        return listed(items, following)

    def dataset(self, name: str) -> HeldDatasetDetail:
        """Describe one dataset with its snapshots.

        Raises:
            NotFoundError: Unknown, or not the caller's.
        """
        self.require_datasets([name])
        return self._populations.dataset(name)

    def projects(self, page: Page) -> ListOf[ProjectShape]:
        """List the projects over the caller's populations."""
        with self._services.databases.reader.connect() as connection:
            visible = tables.project.c.population.in_(self._own(connection))
            rows, following = read_page(connection, tables.project, page, visible)
            items = [self._projects.described(connection, row) for row in rows]
        return listed(items, following)

    def project(self, name: str) -> ProjectShape:
        """Describe one project.

        Raises:
            NotFoundError: Unknown, or not the caller's.
        """
        self.require_project(name)
        return self._projects.project(name)

    def create_project(self, new: NewProject) -> MadeProjectShape:
        """Create a project.

        Raises:
            NotFoundError: A dataset is unknown or not the caller's, or a principal is
                unknown.
            CommandRefusedError: The name is taken, or the datasets do not fit.
        """
        self.require_datasets(new.datasets)
        require_ahead(new.expires)
        return self._projects.create_project(new)

    def change_project(self, name: str, wanted: ProjectChange) -> ChangedProjectShape:
        """Change a project; more loss or time needs a second person.

        Raises:
            NotFoundError: Unknown, or not the caller's.
            ProposalOpenError: Another custodian must approve first.
        """
        self.require_project(name)
        return self._projects.change_project(name, wanted)

    def grant_principal(
        self,
        project: str,
        principal: str,
        allotment: Loss | None,
        reason: str | None = None,
    ) -> GrantedPrincipal:
        """Let a principal into a project.

        Raises:
            NotFoundError: The project is unknown or not the caller's, or the principal
                is unknown.
            ProposalOpenError: A raise of an allotment waits for another custodian.
        """
        self.require_project(project)
        return self._projects.grant_principal(project, principal, allotment, reason)

    def grant_dataset(self, project: str, dataset: str) -> GrantedDataset:
        """Let a project ask one more dataset.

        Raises:
            NotFoundError: One is unknown, or not the caller's.
        """
        self.require_project(project)
        self.require_datasets([dataset])
        return self._projects.grant_dataset(project, dataset)

    def revoke_principal(self, project: str, principal: str) -> RevokedPrincipal:
        """Take a principal out of a project.

        Raises:
            NotFoundError: The project is unknown or not the caller's, or has no such
                principal.
        """
        self.require_project(project)
        return self._projects.revoke_principal(project, principal)

    def revoke_dataset(self, project: str, dataset: str) -> RevokedDataset:
        """Take a dataset out of a project.

        Raises:
            NotFoundError: The project is unknown or not the caller's, or has no such
                dataset.
        """
        self.require_project(project)
        return self._projects.revoke_dataset(project, dataset)

    def proposals(self, page: Page) -> ListOf[ProposalShape]:
        """List the proposals of the caller's populations, and of those to be."""
        table = tables.proposal
        with self._services.databases.reader.connect() as connection:
            visible = table.c.id.in_(
                visible_creations(connection, self._caller.name)
            ) | table.c.population.in_(self._own(connection))
            rows, following = read_page(connection, table, page, visible)
            items = proposal_documents(connection, rows, self._caller.name)
        return listed(items, following)

    def _own(self, connection: Connection) -> list[str]:
        return sorted(populations_of(connection, self._caller.name))

    def require_population(self, name: str | None) -> None:
        """Check that a population is the caller's.

        Raises:
            NotFoundError: Unknown, or not the caller's.
        """
        with self._services.databases.reader.connect() as connection:
            if name not in self._own(connection):
                raise NotFoundError

    def require_project(self, name: str) -> None:
        """Check that a project is of one of the caller's populations.

        Raises:
            NotFoundError: Unknown, or not the caller's.
        """
        with self._services.databases.reader.connect() as connection:
            population = connection.execute(
                select(tables.project.c.population).where(tables.project.c.name == name)
            ).scalar_one_or_none()
        self.require_population(population)

    def require_datasets(self, names: Iterable[str]) -> None:
        """Check that datasets are of the caller's populations.

        Raises:
            NotFoundError: One is unknown, or not the caller's.
        """
        for name in names:
            with self._services.databases.reader.connect() as connection:
                population = connection.execute(
                    select(tables.dataset.c.population).where(
                        tables.dataset.c.name == name
                    )
                ).scalar_one_or_none()
            self.require_population(population)


def principals_page(services: Services, page: Page) -> ListOf[PrincipalShape]:
    """List the principals, for admins."""
    with services.databases.reader.connect() as connection:
        rows, following = read_page(connection, tables.principal, page, true())
        items = [principal_document(connection, row) for row in rows]
    return listed(items, following)


def keys_page(services: Services, page: Page) -> ListOf[KeyShape]:
    """List the keys, for admins; never their tokens."""
    with services.databases.reader.connect() as connection:
        rows, following = read_page(connection, tables.key, page, true())
    return listed([key_document(row) for row in rows], following)
