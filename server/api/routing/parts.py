"""What routes beside questions are made of."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

from server.use_cases.datasets.reading import AnalystReader
from server.use_cases.identity.access import Caller
from server.use_cases.identity.roles import Gate
from server.use_cases.jobs.jobs import JobService
from server.use_cases.releases.asked import ReleaseQueryService
from server.use_cases.services.services import Services


@dataclass(frozen=True, slots=True)
class Parts:
    """What routes beside questions are made of."""

    reading: AnalystReader
    authenticate: Callable[[str | None], Caller]
    gate: Gate
    services: Services
    jobs: JobService
    release_queries: ReleaseQueryService
    ready: Callable[[], str]  # "ok", or the code of what is wrong


def parts_of(request: Request) -> Parts:
    """Return the parts that the application was given."""
    parts: Parts = request.app.state.parts
    return parts
