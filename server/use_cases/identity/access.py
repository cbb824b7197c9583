"""Who is asking, and what of: keys, roles, grants and expiry."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from sqlalchemy import Connection, Row, Select, select

from budget.reading import statements as books
from privacy.errors import InvalidOptionError
from privacy.measures import Measure
from server.persistence import tables
from server.use_cases.losses.measures import measure_of
from server.use_cases.services.errors import NotFoundError, UnauthenticatedError
from server.use_cases.services.services import today

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
ENABLED = "principal.enable"  # the action of an entry
TOKEN_PREFIX = "cur_"  # noqa: S105 - marks our keys for secret scanners


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated principal."""

    name: str
    role: str
    credential: Literal["key", "token"] = "key"


@dataclass(frozen=True, slots=True)
class Project:
    """A project that the caller belongs to and that has not expired."""

    name: str
    population: str
    expires: str | None
    private_history: bool
    datasets: tuple[str, ...]
    confirm_above: str | None = None  # a share of its allotment, "2%"


@dataclass(frozen=True, slots=True)
class Grant:
    """The project under which a caller asks one dataset."""

    project: Project
    dataset: str
    snapshot: str
    population: str
    schema: str  # public, JSON
    measure: Measure  # of the population


def token_digest(token: str) -> str:
    """Return what is stored of an API key: a hash (the key has 256 random bits)."""
    return hashlib.sha256(token.encode()).hexdigest()


def bearer_token(authorization: str | None) -> str | None:
    """Return what an ``Authorization: Bearer ...`` header carries."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.isascii() else None


def authenticate(
    connection: Connection, authorization: str | None, claimed: str | None = None
) -> Caller:
    """Find the principal of an ``Authorization: Bearer`` header.

    Args:
        connection: To the catalogue.
        authorization: The header.
        claimed: Whom its token named, where it was a good token of the issuer.

    Raises:
        UnauthenticatedError: No key, an unknown or revoked one, a disabled owner, or a
            token of somebody whom nobody let in again after a restore or an enabling.
    """
    token = bearer_token(authorization)
    caller = None
    if claimed is not None:
        caller = _claimed(connection, claimed)
    elif token is not None:
        caller = _owner_of_key(connection, token)
    if caller is None:
        message = "send a valid key as 'Authorization: Bearer KEY'"
        raise UnauthenticatedError(message)
    return caller


def _owner_of_key(connection: Connection, token: str) -> Caller | None:
    digest = token_digest(token)
    row = connection.execute(
        select(tables.key.c.digest, tables.principal.c.name, tables.principal.c.role)
        .join(tables.principal, tables.principal.c.name == tables.key.c.principal)
        .where(
            tables.key.c.digest == digest,
            tables.key.c.revoked.is_(False),
            tables.principal.c.disabled.is_(False),
        )
    ).one_or_none()
    if row is None or not hmac.compare_digest(row.digest, digest):
        return None
    return Caller(row.name, row.role)


def _claimed(connection: Connection, name: str) -> Caller | None:
    if _NAME.fullmatch(name) is None:
        return None
    row = connection.execute(
        select(tables.principal.c.name, tables.principal.c.role).where(
            tables.principal.c.name == name, tables.principal.c.disabled.is_(False)
        )
    ).one_or_none()
    if row is None or not _let_in_since(connection, name):
        return None
    return Caller(row.name, row.role, credential="token")


def _let_in_since(connection: Connection, name: str) -> bool:
    """Whether somebody let a principal in since its keys last ended all at once.

    A restore revives principals that were disabled since, and an enabled one was
    disabled for a reason. Reconciling and enabling end every key, but a token ends
    with its principal alone: so who comes by token must have been created afterwards,
    or hold a key, which somebody issued afterwards.
    """
    ended = max(books.last_reconciled(connection) or 0, _last_enabled(connection, name))
    if not ended:
        return True
    held = select(tables.key.c.id).where(
        tables.key.c.principal == name, tables.key.c.revoked.is_(False)
    )
    if connection.execute(held).first() is not None:
        return True
    return any(
        _creates(entry.body, name)
        for entry in books.read_entries(connection, "admin", after=ended)
    )


def _last_enabled(connection: Connection, name: str) -> int:
    """Return the sequence of the entry that last enabled a principal, or 0."""
    entries = books.read_entries(connection, "admin", naming=ENABLED)
    return max(
        (entry.seq for entry in entries if _enables(entry.body, name)), default=0
    )


def _enables(body: Mapping[str, object], name: str) -> bool:
    changes = body.get("changes")
    return (
        body.get("action") == ENABLED
        and isinstance(changes, list)
        and any(
            change["table"] == tables.principal.name
            and change.get("key", {}).get("name") == name
            for change in changes
        )
    )


def _creates(body: Mapping[str, object], name: str) -> bool:
    changes = body.get("changes")
    return isinstance(changes, list) and any(
        change["table"] == tables.principal.name
        and change.get("insert", {}).get("name") == name
        for change in changes
    )


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
    return _open_projects(connection, _projects_of(principal))


def _projects_of(principal: str) -> Select[tuple[object, ...]]:
    return (
        select(tables.project)
        .join(tables.project_principal)
        .where(tables.project_principal.c.principal == principal)
    )


def _open_projects(
    connection: Connection, wanted: Select[tuple[object, ...]]
) -> list[Project]:
    """Return the wanted projects that have not expired, by name, in two statements."""
    rows = connection.execute(wanted.order_by(tables.project.c.name)).all()
    held = tables.project_dataset
    names = wanted.with_only_columns(tables.project.c.name)
    datasets: dict[str, list[str]] = {row.name: [] for row in rows}
    for project, dataset in connection.execute(
        select(held.c.project, held.c.dataset)
        .where(held.c.project.in_(names))
        .order_by(held.c.dataset)
    ):
        datasets[project].append(dataset)
    return [
        _project(row, datasets[row.name]) for row in rows if not is_expired(row.expires)
    ]


def is_expired(expires: str | None) -> bool:
    """Whether a project's access has ended: ``expires`` is its first day without."""
    return expires is not None and today() >= date.fromisoformat(expires)


def _project(row: Row[tuple[object, ...]], datasets: Sequence[str]) -> Project:
    return Project(
        row.name,
        row.population,
        row.expires,
        row.private_history,
        tuple(datasets),
        row.confirm_above,
    )


def find_grant(
    connection: Connection, caller: Caller, dataset: str, project: str | None
) -> Grant:
    """Return the grant under which ``caller`` may ask ``dataset``.

    Raises:
        NotFoundError: Unknown, not granted, expired: one answer for all.
        InvalidOptionError: Several projects fit and none is named.
    """
    held = tables.project_dataset
    wanted = _projects_of(caller.name).join(held).where(held.c.dataset == dataset)
    if project is not None:
        wanted = wanted.where(tables.project.c.name == project)
    fitting = _open_projects(connection, wanted)
    if not fitting:
        raise NotFoundError
    if len(fitting) > 1:
        message = f"several projects fit, name one of: {', '.join(_names(fitting))}"
        raise InvalidOptionError(message)
    row = dataset_row(connection, dataset)
    return Grant(
        fitting[0],
        dataset,
        row.active_snapshot,
        row.population,
        row.schema,
        measure_of(connection, row.population),
    )


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
    held = tables.project_dataset
    datasets = connection.execute(
        select(held.c.dataset).where(held.c.project == project).order_by(held.c.dataset)
    ).scalars()
    return Grant(
        _project(project_row, tuple(datasets)),
        row.dataset,
        snapshot,
        row.population,
        row.schema,
        measure_of(connection, row.population),
    )
