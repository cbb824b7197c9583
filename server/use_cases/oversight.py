"""What custodians and auditors may do over HTTP with snapshots and statements."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Table, select

from privacy.errors import InvalidOptionError
from server.persistence import tables
from server.use_cases.access import Caller
from server.use_cases.answers import Document
from server.use_cases.errors import CommandRefusedError, ForbiddenError, NotFoundError
from server.use_cases.services import Services
from server.use_cases.snapshots import SnapshotOffice
from server.use_cases.statements import StatementOffice

CUSTODIANS = frozenset({"custodian"})
READERS = frozenset({"custodian", "auditor"})
_T = TypeVar("_T")


class Oversight:
    """Admits callers by role and population, then does what commands do."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def snapshots(self, caller: Caller, dataset: str) -> Document:
        """List a dataset's snapshots.

        Raises:
            ForbiddenError: The caller is no custodian.
            NotFoundError: Unknown, or of a population that is not the caller's.
        """
        self._admit(caller, CUSTODIANS, tables.dataset, dataset)
        office = SnapshotOffice(self._services, caller.name)
        return {"items": office.snapshots(dataset), "next_cursor": None}

    def activate(
        self, caller: Caller, dataset: str, snapshot: str, reason: str | None
    ) -> Document:
        """Activate a snapshot; as ``snapshots``, and 422 where it must not be."""
        self._admit(caller, CUSTODIANS, tables.dataset, dataset)
        self._require_of(dataset, snapshot)
        office = SnapshotOffice(self._services, caller.name)
        return _refused_as_422(
            lambda: office.activate(snapshot, dataset=dataset, reason=reason)
        )

    def remove(self, caller: Caller, dataset: str, snapshot: str) -> Document:
        """Erase a snapshot; as ``snapshots``, and 422 where it is the active one."""
        self._admit(caller, CUSTODIANS, tables.dataset, dataset)
        self._require_of(dataset, snapshot)
        office = SnapshotOffice(self._services, caller.name)
        return _refused_as_422(lambda: office.remove(snapshot, dataset=dataset))

    def statement(self, caller: Caller, population: str) -> str:
        """Return a population's privacy statement; for auditors, of every one."""
        self._admit(caller, READERS, tables.population, population)
        return StatementOffice(self._services).population(population)

    def report(self, caller: Caller, project: str) -> str:
        """Return a project's report; for auditors, of every one."""
        self._admit(caller, READERS, tables.project, project)
        return StatementOffice(self._services).project(project)

    def _admit(
        self, caller: Caller, roles: frozenset[str], of: Table, name: str
    ) -> None:
        """Let in whom role and population allow; the one place that decides it here.

        Raises:
            ForbiddenError: The role has no such route; the refusal is written down.
            NotFoundError: Unknown, or not the caller's: one answer for both.
        """
        if caller.role not in roles:
            self._services.ledger.refuse(
                caller.name, "forbidden", {"role": caller.role}
            )
            message = f"a key of the role {caller.role} has no such route"
            raise ForbiddenError(message)
        with self._services.databases.reader.connect() as connection:
            population = _population_of(connection, of, name)
            if population is None:
                raise NotFoundError
            if caller.role == "custodian":
                _require_custodian(connection, caller, population)

    def _require_of(self, dataset: str, snapshot: str) -> None:
        with self._services.databases.reader.connect() as connection:
            found = connection.execute(
                select(tables.snapshot.c.dataset).where(
                    tables.snapshot.c.id == snapshot
                )
            ).scalar_one_or_none()
        if found != dataset:
            raise NotFoundError


def _population_of(connection: Connection, of: Table, name: str) -> str | None:
    column = of.c.name if of is tables.population else of.c.population
    found: str | None = connection.execute(
        select(column).where(of.c.name == name)
    ).scalar_one_or_none()
    return found


def _require_custodian(connection: Connection, caller: Caller, population: str) -> None:
    row = connection.execute(
        select(tables.custodian).where(
            tables.custodian.c.population == population,
            tables.custodian.c.principal == caller.name,
        )
    ).first()
    if row is None:
        raise NotFoundError


def _refused_as_422(work: Callable[[], _T]) -> _T:
    try:
        return work()
    except CommandRefusedError as error:
        raise InvalidOptionError(str(error)) from None
