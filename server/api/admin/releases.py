"""/v1/admin/releases: custodians plan, publish, verify and withdraw cubes."""

from server.api.routing.operations import Asked, Operations
from server.api.schemas.releases import ReleaseBody, WithdrawBody
from server.use_cases.jobs.replies import JobDetail
from server.use_cases.publishing.planner import ReleasePlanner
from server.use_cases.publishing.releases import ReleaseService
from server.use_cases.publishing.replies import (
    AdminRelease,
    AdminReleaseItem,
    ReleasePlanShape,
    VerifiedShape,
)
from server.use_cases.services.documents import Reply

RELEASES = Operations("publishing")
_PATH = "/v1/admin/releases"
_ONE = f"{_PATH}/{{release}}"


@RELEASES.changes(f"POST {_PATH}/plan", ReleasePlanShape, ReleaseBody)
def plan_release(asked: Asked, body: ReleaseBody) -> Reply:
    """Price a release and predict each strategy's error; touches no data."""
    return ReleasePlanner(asked.services).plan(asked.viewer, {"release": body.release})


@RELEASES.changes(f"POST {_PATH}", JobDetail, ReleaseBody, status=202)
def publish_release(asked: Asked, body: ReleaseBody) -> Reply:
    """Queue the job that publishes a release; it charges the population once.

    A public release needs a second person: the job then fails with the proposal
    that somebody else approves, and is submitted again.
    """
    told = {"release": body.release}
    return asked.parts.jobs.submit(asked.viewer, "release.publish", told)


@RELEASES.lists(_PATH, AdminReleaseItem)
def list_held_releases(asked: Asked) -> Reply:
    """List the releases of your populations, newest first."""
    return ReleaseService(asked.services).page(asked.viewer, asked.page())


@RELEASES.reads(_ONE, AdminRelease)
def show_held_release(asked: Asked, release: str) -> Reply:
    """Return a release of yours, by id or name: state, readers, spec, manifest."""
    return ReleaseService(asked.services).show(asked.viewer, release)


@RELEASES.reads(f"{_ONE}/verify", VerifiedShape)
def verify_release(asked: Asked, release: str) -> Reply:
    """Check a release's files: complete, unchanged, signed."""
    return ReleaseService(asked.services).verify(asked.viewer, release)


@RELEASES.changes(f"POST {_ONE}/withdraw", AdminRelease, WithdrawBody)
def withdraw_release(asked: Asked, body: WithdrawBody, release: str) -> Reply:
    """Hide a release from its readers, for good; its charge stays spent."""
    service = ReleaseService(asked.services)
    return service.withdraw(asked.viewer, release, body.reason)
