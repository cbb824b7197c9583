"""People, keys and projects: who may ask what, and how much of it."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, Row, Table, select

from budget.ledger import Scope
from privacy.losses import Loss
from server.persistence import tables
from server.use_cases.access import TOKEN_PREFIX, token_digest
from server.use_cases.answers import Document
from server.use_cases.errors import CommandRefusedError
from server.use_cases.services import Services, now_text, random_id

ROLES = ("analyst", "custodian", "auditor", "admin")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class NewProject:
    """What ``project create`` is given."""

    name: str
    datasets: tuple[str, ...]
    principals: tuple[str, ...]
    allotment: Loss
    expires: date | None = None
    private_history: bool = False


def check_name(name: str, what: str) -> str:
    """Return a name that may be used.

    Raises:
        CommandRefusedError: It does not match ``[a-z][a-z0-9_]{0,62}``.
    """
    if _NAME.fullmatch(name) is None:
        message = (
            f"{name!r} cannot name a {what}: start with a lower-case letter, then "
            "letters, digits and underscores, 63 characters at most"
        )
        raise CommandRefusedError(message)
    return name


def existing(
    connection: Connection, table: Table, name: str
) -> Row[tuple[object, ...]]:
    """Return the row of that name.

    Raises:
        CommandRefusedError: There is none.
    """
    row = connection.execute(select(table).where(table.c.name == name)).one_or_none()
    if row is None:
        message = f"there is no {table.name} {name!r}"
        raise CommandRefusedError(message)
    return row


def refuse_used(connection: Connection, table: Table, name: str) -> None:
    """Refuse a name that is taken; names are never used again.

    Raises:
        CommandRefusedError: The name is taken.
    """
    taken = connection.execute(select(table.c.name).where(table.c.name == name)).first()
    if taken is not None:
        message = f"the {table.name} {name!r} exists; names are never used again"
        raise CommandRefusedError(message)


class PeopleOffice:
    """Creates principals, keys and projects; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def create_principal(self, name: str, role: str) -> Document:
        """Create a principal without a key."""
        check_name(name, "principal")
        if role not in ROLES:
            message = f"{role!r} is no role; roles are {', '.join(ROLES)}"
            raise CommandRefusedError(message)
        row: dict[str, str | bool] = {
            "name": name,
            "id": random_id("p"),
            "role": role,
            "disabled": False,
            "created": now_text(),
            "created_by": self._actor,
        }
        with self._services.ledger.recorded("principal.create", self._actor) as change:
            refuse_used(change.connection, tables.principal, name)
            change.insert(tables.principal, row)
        return {"id": row["id"], "name": name}

    def disable_principal(self, name: str) -> Document:
        """Disable a principal: its keys stop at the next request."""
        with self._services.ledger.recorded("principal.disable", self._actor) as change:
            existing(change.connection, tables.principal, name)
            change.update(tables.principal, {"name": name}, {"disabled": True})
        return {"name": name, "disabled": True}

    def create_key(self, principal: str) -> Document:
        """Issue an API key: 256 random bits, shown once, kept as a hash."""
        token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        row: dict[str, str | bool] = {
            "id": random_id("k"),
            "principal": principal,
            "digest": token_digest(token),
            "revoked": False,
            "created": now_text(),
            "issued_by": self._actor,
        }
        with self._services.ledger.recorded("key.create", self._actor) as change:
            existing(change.connection, tables.principal, principal)
            change.insert(tables.key, row)
        return {"id": row["id"], "key": token}

    def revoke_key(self, key_id: str) -> Document:
        """Revoke a key at once."""
        with self._services.ledger.recorded("key.revoke", self._actor) as change:
            if key_id not in {key["id"] for key in _keys(change.connection)}:
                message = f"there is no key {key_id!r}; see 'curator key list'"
                raise CommandRefusedError(message)
            change.update(tables.key, {"id": key_id}, {"revoked": True})
        return {"id": key_id, "revoked": True}

    def keys(self) -> list[Document]:
        """List the keys, never their tokens."""
        with self._services.databases.reader.connect() as connection:
            return _keys(connection)

    def create_project(self, new: NewProject) -> Document:
        """Create a project over datasets of one population."""
        check_name(new.name, "project")
        if not new.datasets or not new.principals:
            message = "a project needs at least one --dataset and one --principal"
            raise CommandRefusedError(message)
        identifier = random_id("j")
        with self._services.ledger.recorded("project.create", self._actor) as change:
            refuse_used(change.connection, tables.project, new.name)
            population = _one_population(change.connection, new.datasets)
            for principal in new.principals:
                existing(change.connection, tables.principal, principal)
            change.insert(
                tables.project,
                {
                    "name": new.name,
                    "id": identifier,
                    "population": population,
                    "expires": None if new.expires is None else new.expires.isoformat(),
                    "private_history": new.private_history,
                    "created": now_text(),
                    "created_by": self._actor,
                },
            )
            for dataset in dict.fromkeys(new.datasets):
                change.insert(
                    tables.project_dataset, {"project": new.name, "dataset": dataset}
                )
            for principal in dict.fromkeys(new.principals):
                change.insert(
                    tables.project_principal,
                    {"project": new.name, "principal": principal},
                )
            change.set_limit(Scope.project(new.name), new.allotment)
        return {"id": identifier, "name": new.name}

    def grant_principal(
        self, project: str, principal: str, allotment: Loss | None
    ) -> Document:
        """Let a principal into a project, with an allotment of its own if given."""
        scope = Scope.principal(project, principal)
        with self._services.ledger.recorded("project.grant", self._actor) as change:
            existing(change.connection, tables.project, project)
            existing(change.connection, tables.principal, principal)
            row = {"project": project, "principal": principal}
            if not _holds(change.connection, tables.project_principal, row):
                change.insert(tables.project_principal, row)
            if allotment is not None:
                self._refuse_raise(self._services.ledger.limit(scope), allotment)
                change.set_limit(scope, allotment)
        return {"project": project, "principal": principal}

    def grant_dataset(self, project: str, dataset: str) -> Document:
        """Let a project ask one more dataset of its population."""
        with self._services.ledger.recorded("project.grant", self._actor) as change:
            owner = existing(change.connection, tables.project, project)
            if _one_population(change.connection, [dataset]) != owner.population:
                message = f"{dataset!r} is of another population than {project!r}"
                raise CommandRefusedError(message)
            row = {"project": project, "dataset": dataset}
            if not _holds(change.connection, tables.project_dataset, row):
                change.insert(tables.project_dataset, row)
        return {"project": project, "dataset": dataset}

    def _refuse_raise(self, limit: Loss | None, allotment: Loss) -> None:
        if limit is not None and allotment > limit:
            require_single_custodian(self._services, "raising an allotment")

    def projects(self) -> list[Document]:
        """List the projects with what they may spend and have spent."""
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(
                select(tables.project).order_by(tables.project.c.name)
            ).all()
            return [self._described(connection, row) for row in rows]

    def project(self, name: str) -> Document:
        """Describe one project."""
        with self._services.databases.reader.connect() as connection:
            return self._described(
                connection, existing(connection, tables.project, name)
            )

    def _described(
        self, connection: Connection, row: Row[tuple[object, ...]]
    ) -> Document:
        scope = Scope.project(row.name)
        limit = self._services.ledger.limit(scope) or Loss(0)
        spent = self._services.ledger.spent(scope)
        return {
            "name": row.name,
            "id": row.id,
            "population": row.population,
            "expires": row.expires,
            "private_history": row.private_history,
            "datasets": _members(connection, tables.project_dataset, row.name),
            "principals": _members(connection, tables.project_principal, row.name),
            "allotment": str(limit),
            "spent": str(spent),
            "remaining": str(limit.minus_floor_zero(spent)),
        }


def require_single_custodian(services: Services, action: str) -> None:
    """Refuse what needs two persons, unless the installation has but one.

    Raises:
        CommandRefusedError: The installation was not made with --single-custodian.
    """
    with services.databases.reader.connect() as connection:
        single = connection.execute(
            select(tables.installation.c.value).where(
                tables.installation.c.name == "single_custodian"
            )
        ).scalar_one()
    if single != "true":
        message = (
            f"{action} needs two persons, and this version cannot yet ask the second "
            "one; only an installation made with 'curator init --single-custodian' "
            "may do it with one"
        )
        raise CommandRefusedError(message)


def _keys(connection: Connection) -> list[Document]:
    rows = connection.execute(select(tables.key).order_by(tables.key.c.created)).all()
    shown = ("id", "principal", "revoked", "created", "issued_by")
    return [{name: getattr(row, name) for name in shown} for row in rows]


def _members(connection: Connection, table: Table, project: str) -> list[str]:
    member = next(column for column in table.c if column.name != "project")
    return list(
        connection.execute(
            select(member).where(table.c.project == project).order_by(member)
        ).scalars()
    )


def _holds(connection: Connection, table: Table, row: Mapping[str, str]) -> bool:
    conditions = [table.c[name] == value for name, value in row.items()]
    return connection.execute(select(table).where(*conditions)).first() is not None


def _one_population(connection: Connection, datasets: Sequence[str]) -> str:
    populations = {
        str(existing(connection, tables.dataset, name).population) for name in datasets
    }
    if len(populations) > 1:
        message = (
            "a project asks datasets of one population; these have "
            f"{', '.join(sorted(populations))}"
        )
        raise CommandRefusedError(message)
    return populations.pop()
