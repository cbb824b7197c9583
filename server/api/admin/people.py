"""/v1/admin: principals, keys, and who holds a population; for admins."""

from server.api.routing.operations import Asked, Operations
from server.api.schemas import admin as wire
from server.use_cases.custody.administration import keys_page, principals_page
from server.use_cases.custody.people import PeopleService
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
from server.use_cases.services.documents import Reply

PEOPLE = Operations("people")
_PRINCIPALS = "/v1/admin/principals"
_KEYS = "/v1/admin/keys"
_CUSTODIANS = "/v1/admin/populations/{population}/custodians"


def _service(asked: Asked) -> PeopleService:
    return PeopleService(asked.services, asked.caller.name)


@PEOPLE.lists(_PRINCIPALS, PrincipalShape)
def list_principals(asked: Asked) -> Reply:
    """List the principals, newest first."""
    return principals_page(asked.services, asked.page())


@PEOPLE.changes(f"POST {_PRINCIPALS}", MadeShape, wire.PrincipalBody, status=201)
def create_principal(asked: Asked, body: wire.PrincipalBody) -> Reply:
    """Create a principal without a key; its role never changes."""
    return _service(asked).create_principal(body.name, body.role, body.populations)


@PEOPLE.changes(f"POST {_PRINCIPALS}/{{principal}}/disable", DisabledShape)
def disable_principal(asked: Asked, principal: str) -> Reply:
    """Disable a principal: its keys stop at the next request."""
    return _service(asked).disable_principal(principal)


@PEOPLE.changes(f"POST {_PRINCIPALS}/{{principal}}/enable", DisabledShape)
def enable_principal(asked: Asked, principal: str) -> Reply:
    """Enable a disabled principal; its keys stay revoked, so issue a new one."""
    return _service(asked).enable_principal(principal)


@PEOPLE.lists(_KEYS, KeyShape)
def list_keys(asked: Asked) -> Reply:
    """List the keys, newest first; never their tokens."""
    return keys_page(asked.services, asked.page())


@PEOPLE.changes(f"POST {_KEYS}", IssuedKeyShape, wire.KeyBody, status=201)
def create_key(asked: Asked, body: wire.KeyBody) -> Reply:
    """Issue a key; its token is shown this once."""
    return _service(asked).create_key(body.principal)


@PEOPLE.changes(f"DELETE {_KEYS}/{{key}}", RevokedKeyShape)
def revoke_key(asked: Asked, key: str) -> Reply:
    """Revoke a key at once."""
    return _service(asked).revoke_key(key)


@PEOPLE.changes(f"POST {_CUSTODIANS}", CustodianShape, wire.CustodianBody)
def add_custodian(asked: Asked, body: wire.CustodianBody, population: str) -> Reply:
    """Add a custodian to a population: a principal of that role."""
    return _service(asked).add_custodian(population, body.principal)


@PEOPLE.changes(f"DELETE {_CUSTODIANS}/{{principal}}", RemovedCustodianShape)
def remove_custodian(asked: Asked, population: str, principal: str) -> Reply:
    """Take a custodian from a population; approvals of theirs end with it."""
    return _service(asked).remove_custodian(population, principal)
