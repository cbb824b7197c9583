"""/v1/admin: populations, datasets and projects, for their custodians."""

from server.api.routing.operations import Asked, Operations
from server.api.schemas import admin as wire
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
from server.use_cases.questions.requests import loss_of
from server.use_cases.services.documents import Reply

CUSTODY = Operations("custody")
_POPULATIONS = "/v1/admin/populations"
_DATASETS = "/v1/admin/datasets"
_PROJECTS = "/v1/admin/projects"
_GRANTS = f"{_PROJECTS}/{{project}}/grants"


def _service(asked: Asked) -> CustodyService:
    return CustodyService(asked.services, asked.caller)


@CUSTODY.lists(_POPULATIONS, PopulationShape)
def list_populations(asked: Asked) -> Reply:
    """List your populations, newest first."""
    return _service(asked).populations(asked.page())


@CUSTODY.reads(f"{_POPULATIONS}/{{population}}", PopulationShape)
def show_population(asked: Asked, population: str) -> Reply:
    """Describe a population: whom it protects, its cap, what is spent."""
    return _service(asked).population(population)


@CUSTODY.changes(
    f"PATCH {_POPULATIONS}/{{population}}", PopulationShape, wire.CapBody, may_wait=True
)
def set_cap(asked: Asked, body: wire.CapBody, population: str) -> Reply:
    """Set a population's cap; a higher one needs a second person."""
    word, cap = body.cap
    return _service(asked).set_cap(population, loss_of(cap), body.reason, word=word)


@CUSTODY.lists(_DATASETS, ListedDataset)
def list_held_datasets(asked: Asked) -> Reply:
    """List the datasets of your populations, newest first."""
    return _service(asked).datasets(asked.page())


@CUSTODY.reads(f"{_DATASETS}/{{dataset}}", HeldDatasetDetail)
def show_held_dataset(asked: Asked, dataset: str) -> Reply:
    """Describe a dataset with its snapshots."""
    return _service(asked).dataset(dataset)


@CUSTODY.lists(_PROJECTS, ProjectShape)
def list_projects(asked: Asked) -> Reply:
    """List the projects over your populations, newest first."""
    return _service(asked).projects(asked.page())


@CUSTODY.reads(f"{_PROJECTS}/{{project}}", ProjectShape)
def show_project(asked: Asked, project: str) -> Reply:
    """Describe a project: who, what, why, until when, and what is left."""
    return _service(asked).project(project)


@CUSTODY.changes(f"POST {_PROJECTS}", MadeProjectShape, wire.ProjectBody, status=201)
def create_project(asked: Asked, body: wire.ProjectBody) -> Reply:
    """Create a project over datasets of one of your populations."""
    return _service(asked).create_project(_new_project(body))


@CUSTODY.changes(
    f"PATCH {_PROJECTS}/{{project}}",
    ChangedProjectShape,
    wire.ProjectChangeBody,
    may_wait=True,
)
def change_project(asked: Asked, body: wire.ProjectChangeBody, project: str) -> Reply:
    """Change a project; more loss or more time needs a second person."""
    return _service(asked).change_project(project, _wanted(body))


@CUSTODY.changes(
    f"POST {_GRANTS}", GrantedPrincipal | GrantedDataset, wire.GrantBody, may_wait=True
)
def create_grant(asked: Asked, body: wire.GrantBody, project: str) -> Reply:
    """Let a principal or a dataset into a project."""
    service = _service(asked)
    if body.principal is None:
        return service.grant_dataset(project, str(body.dataset))
    loss = None if body.allotment is None else loss_of(body.allotment)
    return service.grant_principal(project, body.principal, loss, body.reason)


@CUSTODY.changes(f"DELETE {_GRANTS}/principals/{{principal}}", RevokedPrincipal)
def revoke_principal_grant(asked: Asked, project: str, principal: str) -> Reply:
    """Take a principal out of a project; what it asked stays."""
    return _service(asked).revoke_principal(project, principal)


@CUSTODY.changes(f"DELETE {_GRANTS}/datasets/{{dataset}}", RevokedDataset)
def revoke_dataset_grant(asked: Asked, project: str, dataset: str) -> Reply:
    """Take a dataset out of a project; its answers stay."""
    return _service(asked).revoke_dataset(project, dataset)


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
        confirm_above=body.confirm_above,
    )


def _wanted(body: wire.ProjectChangeBody) -> ProjectChange:
    given = body.allotment
    never = "expires" in body.model_fields_set and body.expires is None
    named = "confirm_above" in body.model_fields_set
    unconfirmed = named and body.confirm_above is None
    return ProjectChange(
        allotment=None if given is None else loss_of(given),
        expires="never" if never else body.expires,
        purpose=body.purpose,
        protocol=body.protocol,
        confirm_above="never" if unconfirmed else body.confirm_above,
        reason=body.reason,
    )
