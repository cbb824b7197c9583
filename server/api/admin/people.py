"""/v1/admin: principals, keys, and who holds a population; for admins."""

from fastapi import FastAPI, Request
from starlette.responses import Response

from server.api.routing.admission import (
    CHANGING,
    PAGED,
    READING,
    body_of,
    change,
    page_of,
    read,
)
from server.api.routing.parts import parts_of
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
from server.use_cases.identity.access import Caller
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import ListOf


def add_people_routes(app: FastAPI) -> None:
    """Add the routes of principals, keys and custodians."""
    _add_principals(app)
    _add_keys(app)
    _add_custodians(app)


def _service(request: Request, caller: Caller) -> PeopleService:
    return PeopleService(parts_of(request).services, caller.name)


def _add_principals(app: FastAPI) -> None:
    @app.get(
        "/v1/admin/principals",
        response_model=ListOf[PrincipalShape],
        responses=READING,
        openapi_extra=PAGED,
        tags=["people"],
    )
    def principals(request: Request) -> Response:
        """List the principals, newest first."""
        services = parts_of(request).services
        return read(request, lambda _: principals_page(services, page_of(request)))

    @app.post(
        "/v1/admin/principals",
        status_code=201,
        response_model=MadeShape,
        responses=CHANGING,
        openapi_extra=body_of(wire.PrincipalBody),
        tags=["people"],
    )
    async def create_principal(request: Request) -> Response:
        """Create a principal without a key; its role never changes."""

        def work(caller: Caller, body: wire.PrincipalBody) -> Reply:
            service = _service(request, caller)
            return service.create_principal(body.name, body.role, body.populations)

        return await change(request, wire.PrincipalBody, work, 201)

    @app.post(
        "/v1/admin/principals/{principal}/disable",
        response_model=DisabledShape,
        responses=CHANGING,
        tags=["people"],
    )
    async def disable_principal(principal: str, request: Request) -> Response:
        """Disable a principal: its keys stop at the next request."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request, caller).disable_principal(principal)

        return await change(request, wire.NoBody, work)

    @app.post(
        "/v1/admin/principals/{principal}/enable",
        response_model=DisabledShape,
        responses=CHANGING,
        tags=["people"],
    )
    async def enable_principal(principal: str, request: Request) -> Response:
        """Enable a disabled principal; its keys stay revoked, so issue a new one."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request, caller).enable_principal(principal)

        return await change(request, wire.NoBody, work)


def _add_keys(app: FastAPI) -> None:
    @app.get(
        "/v1/admin/keys",
        response_model=ListOf[KeyShape],
        responses=READING,
        openapi_extra=PAGED,
        tags=["people"],
    )
    def keys(request: Request) -> Response:
        """List the keys, newest first; never their tokens."""
        services = parts_of(request).services
        return read(request, lambda _: keys_page(services, page_of(request)))

    @app.post(
        "/v1/admin/keys",
        status_code=201,
        response_model=IssuedKeyShape,
        responses=CHANGING,
        openapi_extra=body_of(wire.KeyBody),
        tags=["people"],
    )
    async def create_key(request: Request) -> Response:
        """Issue a key; its token is shown this once."""

        def work(caller: Caller, body: wire.KeyBody) -> Reply:
            return _service(request, caller).create_key(body.principal)

        return await change(request, wire.KeyBody, work, 201)

    @app.delete(
        "/v1/admin/keys/{key}",
        response_model=RevokedKeyShape,
        responses=CHANGING,
        tags=["people"],
    )
    async def revoke_key(key: str, request: Request) -> Response:
        """Revoke a key at once."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request, caller).revoke_key(key)

        return await change(request, wire.NoBody, work)


def _add_custodians(app: FastAPI) -> None:
    @app.post(
        "/v1/admin/populations/{population}/custodians",
        response_model=CustodianShape,
        responses=CHANGING,
        openapi_extra=body_of(wire.CustodianBody),
        tags=["people"],
    )
    async def add_custodian(population: str, request: Request) -> Response:
        """Make a principal of the role custodian one of a population's."""

        def work(caller: Caller, body: wire.CustodianBody) -> Reply:
            return _service(request, caller).add_custodian(population, body.principal)

        return await change(request, wire.CustodianBody, work)

    @app.delete(
        "/v1/admin/populations/{population}/custodians/{principal}",
        response_model=RemovedCustodianShape,
        responses=CHANGING,
        tags=["people"],
    )
    async def remove_custodian(
        population: str, principal: str, request: Request
    ) -> Response:
        """Take a custodian from a population; approvals of theirs end with it."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request, caller).remove_custodian(population, principal)

        return await change(request, wire.NoBody, work)
