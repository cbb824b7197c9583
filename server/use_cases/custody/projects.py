"""Projects: who may ask which datasets, why, until when, and how much of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from sqlalchemy import Connection, Row, Table, select

from budget.ledger import Scope
from privacy.losses import Loss
from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.approvals.changes import Action, Altered, Change, Subject, because
from server.use_cases.approvals.second_persons import (
    asking_second_person,
    require_second_person,
)
from server.use_cases.custody.replies import (
    BeyondCap,
    ChangedProjectShape,
    GrantedDataset,
    GrantedPrincipal,
    MadeProjectShape,
    ProjectShape,
    RevokedDataset,
    RevokedPrincipal,
)
from server.use_cases.identity.access import is_expired
from server.use_cases.identity.catalogue import check_name, existing, holds, refuse_used
from server.use_cases.losses.caps import blocks_of, caps_in
from server.use_cases.losses.shares import share_of
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.services import Services, now_text, random_id

_ACTION: Action = "project.change"


@dataclass(frozen=True, slots=True)
class NewProject:
    """What ``project create`` is given."""

    name: str
    datasets: tuple[str, ...]
    principals: tuple[str, ...]
    allotment: Loss
    expires: date | None = None
    private_history: bool = False
    purpose: str | None = None
    protocol: str | None = None  # of the ethics board, or whoever approved it
    confirm_above: str | None = None  # a share of the allotment, "2%"


@dataclass(frozen=True, slots=True)
class ProjectChange:
    """What is to change of a project; None leaves a fact as it is."""

    allotment: Loss | None = None
    expires: date | Literal["never"] | None = None
    purpose: str | None = None
    protocol: str | None = None
    confirm_above: str | None = None  # as above, or "never"
    reason: str | None = None  # of the change itself, on record with it


class ProjectService:
    """Creates and changes projects; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def create_project(self, new: NewProject) -> MadeProjectShape:
        """Create a project over datasets of one population."""
        check_name(new.name, "project")
        _check_share(new.confirm_above)
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
                    "purpose": new.purpose,
                    "protocol": new.protocol,
                    "confirm_above": new.confirm_above,
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
        note = self._beyond_cap(population, new.allotment)
        return {"id": identifier, "name": new.name, **note}

    def _beyond_cap(self, population: str, allotment: Loss) -> BeyondCap:
        """Return a note where a project may spend more than its population can."""
        with self._services.databases.reader.connect() as connection:
            held = caps_in(connection, population, blocks_of(connection, population))
        if held.blocks or allotment <= held.cap:
            return {}  # a project may spend the cap of every block
        note = (
            f"the allotment {allotment} is more than the cap {held.cap} of "
            f"{population}, which wins: at most {held.remaining} can still be spent, "
            "by all projects together"
        )
        return {"note": note}

    def grant_principal(
        self,
        project: str,
        principal: str,
        allotment: Loss | None,
        reason: str | None = None,
    ) -> GrantedPrincipal:
        """Let a principal into a project, with an allotment of its own if given."""
        scope = Scope.principal(project, principal)
        with (
            asking_second_person(self._services, self._actor),
            self._services.ledger.recorded(
                "project.grant", self._actor, because(reason)
            ) as change,
        ):
            owner = existing(change.connection, tables.project, project)
            existing(change.connection, tables.principal, principal)
            row = {"project": project, "principal": principal}
            if not holds(change.connection, tables.project_principal, row):
                change.insert(tables.project_principal, row)
            if allotment is not None:
                held = self._services.ledger.limit(scope)
                if held is not None and allotment > held:
                    raised = Altered.limit(scope, held, allotment)
                    wanted = Change(_ACTION, owner.population, (raised,), reason)
                    require_second_person(change, self._actor, wanted)
                change.set_limit(scope, allotment)
        return {"project": project, "principal": principal}

    def grant_dataset(self, project: str, dataset: str) -> GrantedDataset:
        """Let a project ask one more dataset of its population."""
        with self._services.ledger.recorded("project.grant", self._actor) as change:
            owner = existing(change.connection, tables.project, project)
            if _one_population(change.connection, [dataset]) != owner.population:
                message = f"{dataset!r} is of another population than {project!r}"
                raise CommandRefusedError(message)
            row = {"project": project, "dataset": dataset}
            if not holds(change.connection, tables.project_dataset, row):
                change.insert(tables.project_dataset, row)
        return {"project": project, "dataset": dataset}

    def revoke_principal(self, project: str, principal: str) -> RevokedPrincipal:
        """Take a principal out of a project; what it asked stays."""
        row = {"project": project, "principal": principal}
        self._revoke(tables.project_principal, row)
        return {"project": project, "principal": principal, "revoked": True}

    def revoke_dataset(self, project: str, dataset: str) -> RevokedDataset:
        """Take a dataset out of a project; its answers stay."""
        row = {"project": project, "dataset": dataset}
        self._revoke(tables.project_dataset, row)
        return {"project": project, "dataset": dataset, "revoked": True}

    def _revoke(self, table: Table, row: dict[str, str]) -> None:
        with self._services.ledger.recorded("project.revoke", self._actor) as change:
            existing(change.connection, tables.project, row["project"])
            if not holds(change.connection, table, row):
                member = next(name for name in row if name != "project")
                message = f"{row[member]!r} is not in the project {row['project']!r}"
                raise NoSuchThingError(message)
            change.delete(table, row)

    def change_project(self, name: str, wanted: ProjectChange) -> ChangedProjectShape:
        """Change a project; more loss or more time needs two persons."""
        if wanted.confirm_above != "never":
            _check_share(wanted.confirm_above)
        with (
            asking_second_person(self._services, self._actor),
            self._services.ledger.recorded(
                _ACTION, self._actor, because(wanted.reason)
            ) as change,
        ):
            row = existing(change.connection, tables.project, name)
            held = self._services.ledger.limit(Scope.project(name)) or Loss(0)
            values = _new_values(wanted)
            altered = _altered(name, row, held, wanted)
            if _is_extended(row.expires, wanted.expires) or (
                wanted.allotment is not None and wanted.allotment > held
            ):
                needed = Change(_ACTION, row.population, altered, wanted.reason)
                require_second_person(change, self._actor, needed)
            if values:
                change.update(tables.project, {"name": name}, values)
            if wanted.allotment is not None:
                change.set_limit(Scope.project(name), wanted.allotment)
        note = self._beyond_cap(row.population, wanted.allotment or Loss(0))
        return {**self.project(name), **note}

    def projects(self) -> list[ProjectShape]:
        """List the projects with what they may spend and have spent."""
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(
                select(tables.project).order_by(tables.project.c.name)
            ).all()
            return [self.described(connection, row) for row in rows]

    def project(self, name: str) -> ProjectShape:
        """Describe one project."""
        with self._services.databases.reader.connect() as connection:
            return self.described(
                connection, existing(connection, tables.project, name)
            )

    def described(
        self, connection: Connection, row: Row[tuple[object, ...]]
    ) -> ProjectShape:
        """Describe the project of one row."""
        scope = Scope.project(row.name)
        limit = self._services.ledger.limit(scope) or Loss(0)
        spent = self._services.ledger.spent(scope)
        return {
            "name": row.name,
            "id": row.id,
            "population": row.population,
            "expires": row.expires,
            "private_history": row.private_history,
            "purpose": row.purpose,
            "protocol": row.protocol,
            "confirm_above": row.confirm_above,
            "created": shown_time(row.created),
            "created_by": row.created_by,
            "datasets": _members(connection, tables.project_dataset, row.name),
            "principals": _members(connection, tables.project_principal, row.name),
            "allotment": str(limit),
            "spent": str(spent),
            "remaining": str(limit.minus_floor_zero(spent)),
        }


def _new_values(wanted: ProjectChange) -> dict[str, str | None]:
    """Return the columns that a change sets."""
    texts = {"purpose": wanted.purpose, "protocol": wanted.protocol}
    values: dict[str, str | None] = {
        name: text for name, text in texts.items() if text is not None
    }
    if wanted.confirm_above is not None:
        share = wanted.confirm_above
        values["confirm_above"] = None if share == "never" else share
    if wanted.expires is None:
        return values
    return {"expires": _day(wanted.expires), **values}


def _check_share(confirm_above: str | None) -> None:
    """Refuse what is no share, as "2%" is.

    Raises:
        CommandRefusedError: It is none.
    """
    if confirm_above is not None and share_of(confirm_above) is None:
        message = (
            f"confirm_above {confirm_above!r} is no share of the allotment: write one "
            'such as "2%", at most "100%"'
        )
        raise CommandRefusedError(message)


def _altered(
    name: str, row: Row[tuple[object, ...]], held: Loss, wanted: ProjectChange
) -> tuple[Altered, ...]:
    """Return all that a change alters: whoever approves it sees the whole."""
    old = {
        "expires": row.expires,
        "purpose": row.purpose,
        "protocol": row.protocol,
        "confirm_above": row.confirm_above,
    }
    altered = [
        Altered(
            f"{fact} of {name}", old[fact], new, Subject("project_fact", name, fact)
        )
        for fact, new in _new_values(wanted).items()
    ]
    if wanted.allotment is not None:
        altered.append(Altered.limit(Scope.project(name), held, wanted.allotment))
    return tuple(altered)


def require_ahead(expires: date | None) -> None:
    """Check the first day without access of a project that begins now.

    Raises:
        CommandRefusedError: It has begun: nobody could ask anything.
    """
    if expires is not None and is_expired(expires.isoformat()):
        message = f"expires {expires}: nobody could ask; give a day that has not begun"
        raise CommandRefusedError(message)


def _is_extended(expires: str | None, wanted: date | Literal["never"] | None) -> bool:
    if wanted is None or expires is None:
        return False  # what never ends cannot last longer
    return wanted == "never" or wanted > date.fromisoformat(expires)


def _day(expires: date | Literal["never"] | None) -> str | None:
    return expires.isoformat() if isinstance(expires, date) else None


def _members(connection: Connection, table: Table, project: str) -> list[str]:
    member = next(column for column in table.c if column.name != "project")
    return list(
        connection.execute(
            select(member).where(table.c.project == project).order_by(member)
        ).scalars()
    )


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
