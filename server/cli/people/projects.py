"""``curator project``."""

from collections.abc import Callable
from typing import Annotated

import typer

from server.cli.terminal.arguments import Reason, check_line, read_day, read_loss
from server.cli.terminal.output import USAGE, Json, refusals, say, show, show_list
from server.use_cases.custody.projects import (
    NewProject,
    ProjectChange,
    ProjectService,
    require_ahead,
)


def project_commands(service: Callable[[], ProjectService]) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(help="Who may ask which datasets, until when, for how much.")
    _add_making(cli, service)
    _add_changing(cli, service)
    _add_grants(cli, service)
    _add_reading(cli, service)
    return cli


def _add_making(cli: typer.Typer, service: Callable[[], ProjectService]) -> None:
    @cli.command()
    def create(
        name: str,
        *,
        dataset: Annotated[list[str], typer.Option(help="May be repeated.")],
        principal: Annotated[list[str], typer.Option(help="May be repeated.")],
        allotment: Annotated[
            str, typer.Option(help="Epsilon (or rho) that it may spend.")
        ],
        expires: Annotated[
            str | None, typer.Option(help="First day without access, YYYY-MM-DD.")
        ] = None,
        private_history: Annotated[
            bool, typer.Option(help="Offer its answers to no other project.")
        ] = False,
        purpose: Annotated[
            str | None,
            typer.Option(help="What it is for, a sentence.", callback=check_line),
        ] = None,
        protocol: Annotated[
            str | None,
            typer.Option(help="Number at the ethics board.", callback=check_line),
        ] = None,
        confirm_above: Annotated[
            str | None,
            typer.Option(help="Share of the allotment above which to confirm: 2%."),
        ] = None,
        json: Json = False,
    ) -> None:
        """Create a project.

        Example: curator project create sepsis --dataset hospital --principal ada
        --allotment 3 --expires 2027-06-30 --purpose "sepsis mortality" --protocol
        EC-2026-17
        """
        new = NewProject(
            name=name,
            datasets=tuple(dataset),
            principals=tuple(principal),
            allotment=read_loss(allotment),
            expires=read_day(expires),
            private_history=private_history,
            purpose=purpose,
            protocol=protocol,
            confirm_above=confirm_above,
        )
        with refusals(as_json=json):
            require_ahead(new.expires)
            show(service().create_project(new), as_json=json)


def _add_grants(cli: typer.Typer, service: Callable[[], ProjectService]) -> None:
    @cli.command()
    def grant(
        name: str,
        *,
        principal: Annotated[str | None, typer.Option()] = None,
        allotment: Annotated[str | None, typer.Option()] = None,
        dataset: Annotated[str | None, typer.Option()] = None,
        reason: Reason = None,
        json: Json = False,
    ) -> None:
        """Let a principal or a dataset into a project.

        Example: curator project grant sepsis --principal grace --allotment 1
        """
        if (principal is None) == (dataset is None):
            say("give exactly one of --principal and --dataset")
            raise typer.Exit(USAGE)
        if reason is not None and allotment is None:
            say("--reason is of an --allotment")
            raise typer.Exit(USAGE)
        loss = None if allotment is None else read_loss(allotment)
        with refusals(as_json=json):
            if principal is not None:
                granted = service().grant_principal(name, principal, loss, reason)
                show(granted, as_json=json)
            else:
                show(service().grant_dataset(name, str(dataset)), as_json=json)


def _add_changing(cli: typer.Typer, service: Callable[[], ProjectService]) -> None:
    @cli.command()
    def change(
        name: str,
        *,
        allotment: Annotated[
            str | None, typer.Option(help="Epsilon (or rho) that it may spend.")
        ] = None,
        expires: Annotated[
            str | None,
            typer.Option(help="First day without access, YYYY-MM-DD, or never."),
        ] = None,
        purpose: Annotated[str | None, typer.Option(callback=check_line)] = None,
        protocol: Annotated[str | None, typer.Option(callback=check_line)] = None,
        confirm_above: Annotated[
            str | None,
            typer.Option(help="Share of it above which to confirm: 2%, or never."),
        ] = None,
        reason: Reason = None,
        json: Json = False,
    ) -> None:
        """Change a project; more epsilon or more time needs two persons.

        A day that has begun as --expires ends its access now; what it asked stays.

        Example: curator project change sepsis --allotment 4 --reason "a second aim"
        """
        wanted = ProjectChange(
            allotment=None if allotment is None else read_loss(allotment),
            expires="never" if expires == "never" else read_day(expires),
            purpose=purpose,
            protocol=protocol,
            confirm_above=confirm_above,
            reason=reason,
        )
        if wanted == ProjectChange(reason=reason):
            say(
                "give what to change: --allotment, --expires, --purpose, --protocol, "
                "--confirm-above"
            )
            raise typer.Exit(USAGE)
        with refusals(as_json=json):
            show(service().change_project(name, wanted), as_json=json)

    @cli.command()
    def revoke(
        name: str,
        *,
        principal: Annotated[str | None, typer.Option()] = None,
        dataset: Annotated[str | None, typer.Option()] = None,
        json: Json = False,
    ) -> None:
        """Take a principal or a dataset out of a project.

        Example: curator project revoke sepsis --principal grace
        """
        if (principal is None) == (dataset is None):
            say("give exactly one of --principal and --dataset")
            raise typer.Exit(USAGE)
        with refusals(as_json=json):
            if principal is not None:
                show(service().revoke_principal(name, principal), as_json=json)
            else:
                show(service().revoke_dataset(name, str(dataset)), as_json=json)


def _add_reading(cli: typer.Typer, service: Callable[[], ProjectService]) -> None:
    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the projects."""
        with refusals():
            show_list(service().projects(), as_json=json)

    @cli.command("show")
    def show_one(name: str, *, json: Json = False) -> None:
        """Show one project."""
        with refusals():
            show(service().project(name), as_json=json)
