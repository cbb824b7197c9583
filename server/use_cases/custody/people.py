"""People and their keys: who may come in, and as what."""

import secrets
from collections.abc import Iterable

from sqlalchemy import Connection, Row, select

from budget.ledger import RecordedTransaction
from privacy.times import shown_time
from server.persistence import tables
from server.use_cases.custody.replies import (
    CustodianShape,
    DisabledShape,
    IssuedKeyShape,
    KeyShape,
    MadeShape,
    PrincipalShape,
    RemovedCustodianShape,
    RevokedKeyShape,
)
from server.use_cases.identity.access import (
    ENABLED,
    TOKEN_PREFIX,
    populations_of,
    token_digest,
)
from server.use_cases.identity.catalogue import check_name, existing, holds, refuse_used
from server.use_cases.identity.revocations import (
    concerns,
    end_jobs,
    end_proposals,
    revoke_keys,
)
from server.use_cases.identity.roles import ROLES
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.services import Services, now_text, random_id


class PeopleService:
    """Creates principals, custodians and keys; each change is one chain entry."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor

    def create_principal(
        self, name: str, role: str, populations: Iterable[str] = ()
    ) -> MadeShape:
        """Create a principal without a key, as a custodian of ``populations``.

        Its role never changes.
        """
        check_name(name, "principal")
        if role not in ROLES:
            message = f"{role!r} is no role; roles are {', '.join(ROLES)}"
            raise CommandRefusedError(message)
        identifier = random_id("p")
        row: dict[str, str | bool] = {
            "name": name,
            "id": identifier,
            "role": role,
            "disabled": False,
            "created": now_text(),
            "created_by": self._actor,
        }
        with self._services.ledger.recorded("principal.create", self._actor) as change:
            refuse_used(change.connection, tables.principal, name)
            change.insert(tables.principal, row)
            for population in dict.fromkeys(populations):
                make_custodian(change, population, name)
        return {"id": identifier, "name": name}

    def add_custodian(self, population: str, principal: str) -> CustodianShape:
        """Make a custodian one of a population's; nobody makes themselves one."""
        with self._services.ledger.recorded("custodian.add", self._actor) as change:
            if principal == self._actor:
                message = "nobody makes themselves a custodian"
                raise CommandRefusedError(message)
            make_custodian(change, population, principal)
        return {"population": population, "principal": principal}

    def remove_custodian(
        self, population: str, principal: str
    ) -> RemovedCustodianShape:
        """Take a custodian from a population; approvals of theirs end with it."""
        row = {"population": population, "principal": principal}
        with self._services.ledger.recorded("custodian.remove", self._actor) as change:
            existing(change.connection, tables.population, population)
            if not holds(change.connection, tables.custodian, row):
                message = f"{principal!r} is no custodian of {population!r}"
                raise NoSuchThingError(message)
            change.delete(tables.custodian, row)
        return {"population": population, "principal": principal, "removed": True}

    def disable_principal(self, name: str) -> DisabledShape:
        """Disable a principal: its keys stop at the next request."""
        with self._services.ledger.recorded("principal.disable", self._actor) as change:
            existing(change.connection, tables.principal, name)
            change.update(tables.principal, {"name": name}, {"disabled": True})
        return {"name": name, "disabled": True}

    def enable_principal(self, name: str) -> DisabledShape:
        """Enable a disabled principal, without its keys and what it left waiting.

        Its tokens stay shut too until a new key is issued to it.

        Raises:
            NoSuchThingError: There is no such principal.
            CommandRefusedError: It is not disabled.
        """
        with self._services.ledger.recorded(ENABLED, self._actor) as change:
            if not existing(change.connection, tables.principal, name).disabled:
                message = f"{name} is not disabled: nothing was changed"
                raise CommandRefusedError(message)
            change.update(tables.principal, {"name": name}, {"disabled": False})
            revoke_keys(change, tables.key.c.principal == name)
            end_proposals(change, concerns(name))
            end_jobs(change, name)
        return {"name": name, "disabled": False}

    def principals(self) -> list[PrincipalShape]:
        """List the principals with their roles."""
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(
                select(tables.principal).order_by(tables.principal.c.name)
            ).all()
            return [principal_document(connection, row) for row in rows]

    def create_key(self, principal: str) -> IssuedKeyShape:
        """Issue an API key: 256 random bits, shown once, kept as a hash.

        Raises:
            NoSuchThingError: There is no such principal.
            CommandRefusedError: It is disabled.
        """
        token = TOKEN_PREFIX + secrets.token_urlsafe(32)
        identifier = random_id("k")
        row: dict[str, str | bool] = {
            "id": identifier,
            "principal": principal,
            "digest": token_digest(token),
            "revoked": False,
            "created": now_text(),
            "issued_by": self._actor,
        }
        with self._services.ledger.recorded("key.create", self._actor) as change:
            if existing(change.connection, tables.principal, principal).disabled:
                message = (
                    f"{principal} is disabled, and a key would open nothing: type "
                    f"'curator principal enable {principal}' first"
                )
                raise CommandRefusedError(message)
            change.insert(tables.key, row)
        return {"id": identifier, "key": token}

    def revoke_key(self, key_id: str) -> RevokedKeyShape:
        """Revoke a key at once."""
        with self._services.ledger.recorded("key.revoke", self._actor) as change:
            if key_id not in {key["id"] for key in _keys(change.connection)}:
                message = f"there is no key {key_id!r}; see 'curator key list'"
                raise NoSuchThingError(message)
            change.update(tables.key, {"id": key_id}, {"revoked": True})
        return {"id": key_id, "revoked": True}

    def keys(self) -> list[KeyShape]:
        """List the keys, never their tokens."""
        with self._services.databases.reader.connect() as connection:
            return _keys(connection)


def make_custodian(
    change: RecordedTransaction, population: str, principal: str
) -> None:
    """Make a principal of that role a custodian of a population.

    Proposals of an earlier time as one stay ended.

    Raises:
        CommandRefusedError: One of them is not there, or has another role.
    """
    existing(change.connection, tables.population, population)
    if existing(change.connection, tables.principal, principal).role != "custodian":
        message = f"{principal!r} has not the role of a custodian; roles never change"
        raise CommandRefusedError(message)
    row = {"population": population, "principal": principal}
    if not holds(change.connection, tables.custodian, row):
        end_proposals(
            change, concerns(principal), tables.proposal.c.population == population
        )
        change.insert(tables.custodian, row)


def principal_document(
    connection: Connection, row: Row[tuple[object, ...]]
) -> PrincipalShape:
    """Describe a principal, with the populations that it is a custodian of."""
    return {
        "name": row.name,
        "id": row.id,
        "role": row.role,
        "disabled": row.disabled,
        "populations": sorted(populations_of(connection, row.name)),
        "created": shown_time(row.created),
        "created_by": row.created_by,
    }


def key_document(row: Row[tuple[object, ...]]) -> KeyShape:
    """Describe a key, never its token."""
    return {
        "id": row.id,
        "principal": row.principal,
        "revoked": row.revoked,
        "created": shown_time(row.created),
        "issued_by": row.issued_by,
    }


def _keys(connection: Connection) -> list[KeyShape]:
    rows = connection.execute(select(tables.key).order_by(tables.key.c.created)).all()
    return [key_document(row) for row in rows]
