"""The commands ``curator dataset snapshot ...``."""

from collections.abc import Callable
from typing import Annotated

import typer

from server.cli.terminal.arguments import check_line
from server.cli.terminal.output import (
    Json,
    refusals,
    show,
    show_list,
)
from server.use_cases.datasets.snapshots import SnapshotService


def snapshot_commands(service: Callable[[], SnapshotService]) -> typer.Typer:
    """Return ``curator dataset snapshot ...``."""
    cli = typer.Typer(help="The versions of a dataset: switch, or erase one.")

    @cli.command("list")
    def list_all(dataset: str, *, json: Json = False) -> None:
        """List the snapshots of a dataset, oldest first.

        Example: curator dataset snapshot list hospital
        """
        with refusals():
            show_list(service().snapshots(dataset), as_json=json)

    @cli.command()
    def activate(
        snapshot: str,
        *,
        reason: Annotated[
            str | None,
            typer.Option(
                help="Why, where declarations differ; recorded.", callback=check_line
            ),
        ] = None,
        override_overlap: Annotated[
            bool,
            typer.Option(
                "--override-overlap",
                help="Let people of another population be named in public.",
            ),
        ] = False,
        json: Json = False,
    ) -> None:
        """Answer from this snapshot, from the next request on.

        What it publishes is compared with who is recorded by now, as a load's is.

        Example: curator dataset snapshot activate s_0123456789ab
        """
        with refusals():
            done = service().activate(
                snapshot, reason=reason, override_overlap=override_overlap
            )
            show(done, as_json=json)

    @cli.command()
    def remove(snapshot: str, *, json: Json = False) -> None:
        """Erase a snapshot's file; its answers, charges and overlap ids stay.

        Example: curator dataset snapshot remove s_0123456789ab
        """
        with refusals():
            show(service().remove(snapshot), as_json=json)

    return cli
