"""Who is asking, and what of: keys, roles, grants and expiry."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, Row, select

from privacy.errors import InvalidOptionError
from server.persistence import tables
from server.use_cases.errors import NotFoundError, UnauthenticatedError
from server.use_cases.services import today

TOKEN_PREFIX = "cur_"  # noqa: S105 - marks our keys for secret scanners


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated principal."""

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Project:
    """A project that the caller belongs to and that has not expired."""

    name: str
    population: str
    expires: str | None
    private_history: bool
    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grant:
    """The project under which a caller asks one dataset."""

    project: Project
    dataset: str
    snapshot: str
    population: str
    schema: str  # public, JSON


def token_digest(token: str) -> str:
    """Return what is stored of an API key: a hash (the key has 256 random bits)."""
    return hashlib.sha256(token.encode()).hexdigest()


def authenticate(connection: Connection, authorization: str | None) -> Caller:
    """Find the principal of an ``Authorization: Bearer KEY`` header.

    Raises:
        UnauthenticatedError: No key, an unknown or revoked one, or a disabled owner.
    """
    scheme, _, token = (authorization or "").partition(" ")
    row = None
    if scheme.lower() == "bearer" and token.isascii():
        digest = token_digest(token.strip())
        row = connection.execute(
            select(
                tables.key.c.digest, tables.principal.c.name, tables.principal.c.role
            )
            .join(tables.principal, tables.principal.c.name == tables.key.c.principal)
            .where(
                tables.key.c.digest == digest,
                tables.key.c.revoked.is_(False),
                tables.principal.c.disabled.is_(False),
            )
        ).one_or_none()
        if row is not None and not hmac.compare_digest(row.digest, digest):
            row = None
    if row is None:
        message = "send a valid key as 'Authorization: Bearer KEY'"
        raise UnauthenticatedError(message)
    return Caller(row.name, row.role)


def custodians_of(connection: Connection, population: str | None) -> set[str]:
    """Return a population's enabled custodians; of any where None."""
    query = select(tables.principal.c.name).where(
        tables.principal.c.role == "custodian", tables.principal.c.disabled.is_(False)
    )
    if population is not None:
        query = query.join(
            tables.custodian, tables.custodian.c.principal == tables.principal.c.name
        ).where(tables.custodian.c.population == population)
    return set(connection.execute(query).scalars())


def populations_of(connection: Connection, custodian: str) -> set[str]:
    """Return the populations that a principal is a custodian of."""
    return set(
        connection.execute(
            select(tables.custodian.c.population).where(
                tables.custodian.c.principal == custodian
            )
        ).scalars()
    )


def projects_of(connection: Connection, principal: str) -> list[Project]:
    """Return the caller's unexpired projects, by name."""
    rows = connection.execute(
        select(tables.project)
        .join(tables.project_principal)
        .where(tables.project_principal.c.principal == principal)
        .order_by(tables.project.c.name)
    ).all()
    return [_project(connection, row) for row in rows if not is_expired(row.expires)]


def is_expired(expires: str | None) -> bool:
    """Whether a project's access has ended: ``expires`` is its first day without."""
    return expires is not None and today() >= date.fromisoformat(expires)


def _project(connection: Connection, row: Row[tuple[object, ...]]) -> Project:
    datasets = connection.execute(
        select(tables.project_dataset.c.dataset)
        .where(tables.project_dataset.c.project == row.name)
        .order_by(tables.project_dataset.c.dataset)
    ).scalars()
    return Project(
        row.name, row.population, row.expires, row.private_history, tuple(datasets)
    )


def find_grant(
    connection: Connection, caller: Caller, dataset: str, project: str | None
) -> Grant:
    """Return the grant under which ``caller`` may ask ``dataset``.

    Raises:
        NotFoundError: Unknown, not granted, expired: one answer for all.
        InvalidOptionError: Several projects fit and none is named.
    """
    fitting = [
        candidate
        for candidate in projects_of(connection, caller.name)
        if dataset in candidate.datasets and project in {None, candidate.name}
    ]
    if not fitting:
        raise NotFoundError
    if len(fitting) > 1:
        message = f"several projects fit, name one of: {', '.join(_names(fitting))}"
        raise InvalidOptionError(message)
    row = dataset_row(connection, dataset)
    return Grant(fitting[0], dataset, row.active_snapshot, row.population, row.schema)


def _names(things: Sequence[Project]) -> list[str]:
    return [thing.name for thing in things]


def dataset_row(connection: Connection, dataset: str) -> Row[str, str, str, str, str]:
    """Return a dataset with the schema of its active snapshot.

    Raises:
        NotFoundError: There is none of that name.
    """
    row = connection.execute(
        select(
            tables.dataset.c.name,
            tables.dataset.c.population,
            tables.dataset.c.active_snapshot,
            tables.snapshot.c.schema,
            tables.snapshot.c.display,
        )
        .join(tables.snapshot, tables.snapshot.c.id == tables.dataset.c.active_snapshot)
        .where(tables.dataset.c.name == dataset)
    ).one_or_none()
    if row is None:
        raise NotFoundError
    return row


def snapshot_grant(connection: Connection, *, project: str, snapshot: str) -> Grant:
    """Return the grant of an earlier charge, whether or not it would be given today."""
    project_row = connection.execute(
        select(tables.project).where(tables.project.c.name == project)
    ).one()
    row = connection.execute(
        select(
            tables.snapshot.c.dataset,
            tables.snapshot.c.schema,
            tables.dataset.c.population,
        )
        .join(tables.dataset, tables.dataset.c.name == tables.snapshot.c.dataset)
        .where(tables.snapshot.c.id == snapshot)
    ).one()
    return Grant(
        _project(connection, project_row),
        row.dataset,
        snapshot,
        row.population,
        row.schema,
    )
