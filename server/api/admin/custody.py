"""/v1/admin: populations, datasets and projects, for their custodians."""

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
from server.use_cases.approvals.replies import ProposalShape
from server.use_cases.custody.administration import CustodyService
from server.use_cases.custody.projects import NewProject, ProjectChange
from server.use_cases.custody.replies import (
    ChangedProjectShape,
    GrantedDataset,
    GrantedPrincipal,
    HeldDatasetDetail,
    ListedDataset,
    MadeProjectShape,
    PopulationShape,
    ProjectShape,
    RevokedDataset,
    RevokedPrincipal,
)
from server.use_cases.identity.access import Caller
from server.use_cases.questions.requests import loss_of
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import ListOf

PROPOSED: dict[int | str, dict[str, object]] = {
    202: {
        "model": ProposalShape,
        "description": "Not done: another custodian must approve, then repeat it.",
    }
}


def add_custody_routes(app: FastAPI) -> None:
    """Add the routes of populations, datasets and projects."""
    _add_populations(app)
    _add_datasets(app)
    _add_project_readings(app)
    _add_project_changes(app)
    _add_grants(app)


def _service(request: Request, caller: Caller) -> CustodyService:
    return CustodyService(parts_of(request).services, caller)


def _add_populations(app: FastAPI) -> None:
    @app.get(
        "/v1/admin/populations",
        response_model=ListOf[PopulationShape],
        responses=READING,
        openapi_extra=PAGED,
        tags=["custody"],
    )
    def populations(request: Request) -> Response:
        """List your populations, newest first."""
        return read(
            request,
            lambda caller: _service(request, caller).populations(page_of(request)),
        )

    @app.get(
        "/v1/admin/populations/{population}",
        response_model=PopulationShape,
        responses=READING,
        tags=["custody"],
    )
    def one_population(population: str, request: Request) -> Response:
        """Describe a population: whom it protects, its cap, what is spent."""
        return read(
            request, lambda caller: _service(request, caller).population(population)
        )

    @app.patch(
        "/v1/admin/populations/{population}",
        response_model=PopulationShape,
        responses={**CHANGING, **PROPOSED},
        openapi_extra=body_of(wire.CapBody),
        tags=["custody"],
    )
    async def set_cap(population: str, request: Request) -> Response:
        """Set a population's cap; a higher one needs a second person."""

        def work(caller: Caller, body: wire.CapBody) -> Reply:
            cap = loss_of(body.epsilon_cap)
            return _service(request, caller).set_cap(population, cap, body.reason)

        return await change(request, wire.CapBody, work)


def _add_datasets(app: FastAPI) -> None:
    @app.get(
        "/v1/admin/datasets",
        response_model=ListOf[ListedDataset],
        responses=READING,
        openapi_extra=PAGED,
        tags=["custody"],
    )
    def held_datasets(request: Request) -> Response:
        """List the datasets of your populations, newest first."""
        return read(
            request, lambda caller: _service(request, caller).datasets(page_of(request))
        )

    @app.get(
        "/v1/admin/datasets/{dataset}",
        response_model=HeldDatasetDetail,
        responses=READING,
        tags=["custody"],
    )
    def held_dataset(dataset: str, request: Request) -> Response:
        """Describe a dataset with its snapshots."""
        return read(request, lambda caller: _service(request, caller).dataset(dataset))


def _add_project_readings(app: FastAPI) -> None:
    @app.get(
        "/v1/admin/projects",
        response_model=ListOf[ProjectShape],
        responses=READING,
        openapi_extra=PAGED,
        tags=["custody"],
    )
    def projects(request: Request) -> Response:
        """List the projects over your populations, newest first."""
        return read(
            request, lambda caller: _service(request, caller).projects(page_of(request))
        )

    @app.get(
        "/v1/admin/projects/{project}",
        response_model=ProjectShape,
        responses=READING,
        tags=["custody"],
    )
    def one_project(project: str, request: Request) -> Response:
        """Describe a project: who, what, why, until when, and what is left."""
        return read(request, lambda caller: _service(request, caller).project(project))


def _add_project_changes(app: FastAPI) -> None:
    @app.post(
        "/v1/admin/projects",
        status_code=201,
        response_model=MadeProjectShape,
        responses=CHANGING,
        openapi_extra=body_of(wire.ProjectBody),
        tags=["custody"],
    )
    async def create_project(request: Request) -> Response:
        """Create a project over datasets of one of your populations."""

        def work(caller: Caller, body: wire.ProjectBody) -> Reply:
            return _service(request, caller).create_project(_new_project(body))

        return await change(request, wire.ProjectBody, work, 201)

    @app.patch(
        "/v1/admin/projects/{project}",
        response_model=ChangedProjectShape,
        responses={**CHANGING, **PROPOSED},
        openapi_extra=body_of(wire.ProjectChangeBody),
        tags=["custody"],
    )
    async def change_project(project: str, request: Request) -> Response:
        """Change a project; more loss or more time needs a second person."""

        def work(caller: Caller, body: wire.ProjectChangeBody) -> Reply:
            return _service(request, caller).change_project(project, _wanted(body))

        return await change(request, wire.ProjectChangeBody, work)


def _add_grants(app: FastAPI) -> None:
    @app.post(
        "/v1/admin/projects/{project}/grants",
        response_model=GrantedPrincipal | GrantedDataset,
        responses={**CHANGING, **PROPOSED},
        openapi_extra=body_of(wire.GrantBody),
        tags=["custody"],
    )
    async def grant(project: str, request: Request) -> Response:
        """Let a principal or a dataset into a project."""

        def work(caller: Caller, body: wire.GrantBody) -> Reply:
            service = _service(request, caller)
            if body.principal is None:
                return service.grant_dataset(project, str(body.dataset))
            given = body.allotment
            loss = None if given is None else loss_of(given)
            return service.grant_principal(project, body.principal, loss, body.reason)

        return await change(request, wire.GrantBody, work)

    @app.delete(
        "/v1/admin/projects/{project}/grants/principals/{principal}",
        response_model=RevokedPrincipal,
        responses=CHANGING,
        tags=["custody"],
    )
    async def revoke_principal(
        project: str, principal: str, request: Request
    ) -> Response:
        """Take a principal out of a project; what it asked stays."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request, caller).revoke_principal(project, principal)

        return await change(request, wire.NoBody, work)

    @app.delete(
        "/v1/admin/projects/{project}/grants/datasets/{dataset}",
        response_model=RevokedDataset,
        responses=CHANGING,
        tags=["custody"],
    )
    async def revoke_dataset(project: str, dataset: str, request: Request) -> Response:
        """Take a dataset out of a project; its answers stay."""

        def work(caller: Caller, _: wire.NoBody) -> Reply:
            return _service(request, caller).revoke_dataset(project, dataset)

        return await change(request, wire.NoBody, work)


def _new_project(body: wire.ProjectBody) -> NewProject:
    return NewProject(
        name=body.name,
        datasets=tuple(body.datasets),
        principals=tuple(body.principals),
        allotment=loss_of(body.allotment),
        expires=body.expires,
        private_history=body.private_history,
        purpose=body.purpose,
        protocol=body.protocol,
    )


def _wanted(body: wire.ProjectChangeBody) -> ProjectChange:
    given = body.allotment
    never = "expires" in body.model_fields_set and body.expires is None
    return ProjectChange(
        allotment=None if given is None else loss_of(given),
        expires="never" if never else body.expires,
        purpose=body.purpose,
        protocol=body.protocol,
        reason=body.reason,
    )
