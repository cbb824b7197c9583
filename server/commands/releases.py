"""``curator release``."""

from typing import TYPE_CHECKING

import typer

from server.cli.releases.parts import ReleaseParts
from server.cli.releases.published import release_commands
from server.commands.wired import WIRING
from server.use_cases.publishing.releases import ReleaseService

if TYPE_CHECKING:
    from server.use_cases.publishing.advising import ReleaseAdviser
    from server.use_cases.publishing.announcing import ReleaseAnnouncer
    from server.use_cases.publishing.planner import ReleasePlanner


def _planner() -> "ReleasePlanner":
    from server.use_cases.publishing.planner import ReleasePlanner  # noqa: PLC0415

    return ReleasePlanner(WIRING.services())


def _adviser() -> "ReleaseAdviser":
    from server.use_cases.publishing.advising import ReleaseAdviser  # noqa: PLC0415

    return ReleaseAdviser(WIRING.services())


def _announcer() -> "ReleaseAnnouncer":
    from server.use_cases.publishing.announcing import ReleaseAnnouncer  # noqa: PLC0415

    return ReleaseAnnouncer(WIRING.services())


cli = typer.Typer()
cli.add_typer(
    release_commands(
        ReleaseParts(
            service=lambda: ReleaseService(WIRING.services()),
            jobs=WIRING.job_service,
            viewer=WIRING.operator,
            runner=WIRING.runner,
            planner=_planner,
            adviser=_adviser,
            announcer=_announcer,
        )
    ),
    name="release",
)
