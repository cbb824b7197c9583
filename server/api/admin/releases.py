"""/v1/admin/releases: custodians plan, publish, verify and withdraw cubes."""

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
from server.api.schemas import releases as wire
from server.use_cases.identity.access import Caller
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.jobs.replies import JobDetail
from server.use_cases.publishing.releases import ReleaseService
from server.use_cases.publishing.replies import (
    AdminRelease,
    AdminReleaseItem,
    ReleasePlanShape,
    VerifiedShape,
)
from server.use_cases.services.documents import Reply
from server.use_cases.services.paging import ListOf

_PATH = "/v1/admin/releases"
_ONE = f"{_PATH}/{{release}}"


def add_admin_release_routes(app: FastAPI) -> None:
    """Add the routes."""
    _add_making(app)
    _add_reading(app)
    _add_withdrawing(app)


def _service(request: Request) -> ReleaseService:
    return ReleaseService(parts_of(request).services)


def _viewer(request: Request, caller: Caller) -> Viewer:
    return parts_of(request).jobs.viewer(caller)


def _add_making(app: FastAPI) -> None:
    @app.post(
        f"{_PATH}/plan",
        response_model=ReleasePlanShape,
        responses=CHANGING,
        openapi_extra=body_of(wire.ReleaseBody),
        tags=["publishing"],
    )
    async def plan(request: Request) -> Response:
        """Price a release and predict each strategy's error; touches no data."""

        def work(caller: Caller, body: wire.ReleaseBody) -> Reply:
            viewer = _viewer(request, caller)
            return _service(request).plan(viewer, {"release": body.release})

        return await change(request, wire.ReleaseBody, work)

    @app.post(
        _PATH,
        status_code=202,
        response_model=JobDetail,
        responses=CHANGING,
        openapi_extra=body_of(wire.ReleaseBody),
        tags=["publishing"],
    )
    async def publish(request: Request) -> Response:
        """Queue the job that publishes a release; it charges the population once.

        A public release needs a second person: the job then fails with the proposal
        that somebody else approves, and is submitted again.
        """

        def work(caller: Caller, body: wire.ReleaseBody) -> Reply:
            told = {"release": body.release}
            jobs = parts_of(request).jobs
            return jobs.submit(jobs.viewer(caller), "release.publish", told)

        return await change(request, wire.ReleaseBody, work, 202)


def _add_reading(app: FastAPI) -> None:
    @app.get(
        _PATH,
        response_model=ListOf[AdminReleaseItem],
        responses=READING,
        openapi_extra=PAGED,
        tags=["publishing"],
    )
    def page(request: Request) -> Response:
        """List the releases of your populations, newest first."""

        def work(caller: Caller) -> Reply:
            viewer = _viewer(request, caller)
            return _service(request).page(viewer, page_of(request))

        return read(request, work)

    @app.get(_ONE, response_model=AdminRelease, responses=READING, tags=["publishing"])
    def one(release: str, request: Request) -> Response:
        """Return a release, by id or name: state, readers, spec, manifest."""
        return read(
            request,
            lambda caller: _service(request).show(_viewer(request, caller), release),
        )

    @app.get(
        f"{_ONE}/verify",
        response_model=VerifiedShape,
        responses=READING,
        tags=["publishing"],
    )
    def verify(release: str, request: Request) -> Response:
        """Check a release's files: complete, unchanged, signed."""
        return read(
            request,
            lambda caller: _service(request).verify(_viewer(request, caller), release),
        )


def _add_withdrawing(app: FastAPI) -> None:
    @app.post(
        f"{_ONE}/withdraw",
        response_model=AdminRelease,
        responses=CHANGING,
        openapi_extra=body_of(wire.WithdrawBody),
        tags=["publishing"],
    )
    async def withdraw(release: str, request: Request) -> Response:
        """Hide a release from its readers, for good; its charge stays spent."""

        def work(caller: Caller, body: wire.WithdrawBody) -> Reply:
            viewer = _viewer(request, caller)
            return _service(request).withdraw(viewer, release, body.reason)

        return await change(request, wire.WithdrawBody, work)
