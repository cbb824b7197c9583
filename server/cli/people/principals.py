"""``curator principal`` and ``curator key``."""

from collections.abc import Callable
from typing import Annotated

import typer

from server.cli.terminal.output import Json, refusals, show, show_list
from server.use_cases.custody.people import PeopleService


def principal_commands(service: Callable[[], PeopleService]) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(help="People and programs that hold keys.")

    @cli.command()
    def create(
        name: str,
        *,
        role: Annotated[
            str, typer.Option(help="analyst, custodian, auditor or admin.")
        ],
        population: Annotated[
            list[str] | None,
            typer.Option(help="Of a custodian; may be repeated."),
        ] = None,
        json: Json = False,
    ) -> None:
        """Create a principal; its role never changes.

        Example: curator principal create ada --role analyst

        Example: curator principal create carol --role custodian --population hospital
        """
        with refusals():
            show(service().create_principal(name, role, population or ()), as_json=json)

    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the principals with their roles."""
        with refusals():
            show_list(service().principals(), as_json=json)

    @cli.command()
    def disable(name: str, *, json: Json = False) -> None:
        """Disable a principal; its keys stop at the next request.

        Example: curator principal disable ada
        """
        with refusals():
            show(service().disable_principal(name), as_json=json)

    @cli.command()
    def enable(name: str, *, json: Json = False) -> None:
        """Enable a disabled principal; its keys stay revoked, so issue a new one.

        Example: curator principal enable ada
        """
        with refusals():
            show(service().enable_principal(name), as_json=json)

    return cli


def key_commands(service: Callable[[], PeopleService]) -> typer.Typer:
    """Return the commands."""
    cli = typer.Typer(help="API keys.")

    @cli.command()
    def create(principal: str, *, json: Json = False) -> None:
        """Issue a key; it is shown once and kept as a hash.

        Example: curator key create ada --json
        """
        with refusals():
            show(service().create_key(principal), as_json=json)

    @cli.command("list")
    def list_all(*, json: Json = False) -> None:
        """List the keys, never their secrets."""
        with refusals():
            show_list(service().keys(), as_json=json)

    @cli.command()
    def revoke(key: str, *, json: Json = False) -> None:
        """Revoke a key at once, by its id.

        Example: curator key revoke k_0123456789ab
        """
        with refusals():
            show(service().revoke_key(key), as_json=json)

    return cli
