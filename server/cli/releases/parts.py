"""What the commands about releases work with."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each command reads what it needs
    from server.use_cases.jobs.jobs import JobService, Viewer
    from server.use_cases.jobs.running import JobRunner
    from server.use_cases.publishing.advising import ReleaseAdviser
    from server.use_cases.publishing.announcing import ReleaseAnnouncer
    from server.use_cases.publishing.planner import ReleasePlanner
    from server.use_cases.publishing.releases import ReleaseService


@dataclass(frozen=True, slots=True)
class ReleaseParts:
    """What the commands work with.

    Attributes:
        service: Lists, shows, verifies and withdraws.
        jobs: Submits.
        viewer: Whoever works on this host.
        runner: Runs jobs in this process, until its event is set.
        planner: Prices.
        adviser: Reads what was asked.
        announcer: Says what is planned.
    """

    service: Callable[[], "ReleaseService"]
    jobs: Callable[[], "JobService"]
    viewer: Callable[[], "Viewer"]
    runner: Callable[[threading.Event], "JobRunner"]
    planner: Callable[[], "ReleasePlanner"]
    adviser: Callable[[], "ReleaseAdviser"]
    announcer: Callable[[], "ReleaseAnnouncer"]
