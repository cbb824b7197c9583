"""The analyst's commands: they speak HTTP, and need neither data nor anchor.

They are the client's own (``curator_client.command``), so that an analyst without a
server has the same words as ``curator-client``.
"""

from collections.abc import Callable

import typer

from server.cli.terminal.output import USAGE, Json, install_client, say

_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


cli = typer.Typer()

Command = Callable[..., None]


def _command(function: Command) -> Command:
    """Leave every word but --json, --help too, to the client's own parser."""
    add = cli.command(context_settings=_PASSED_ON, add_help_option=False)
    return add(function)


@_command
def plan(context: typer.Context, *, json: Json = False) -> None:
    """Price a question over HTTP; costs nothing.

    Example: curator plan "SELECT COUNT(*) FROM visits" --within 20
    """
    _run("plan", context, as_json=json)


@_command
def query(context: typer.Context, *, json: Json = False) -> None:
    """Ask a question over HTTP and pay for it, once.

    Example: curator query --file wards.sql --epsilon 0.1 --csv
    """
    _run("query", context, as_json=json)


@_command
def budget(context: typer.Context, *, json: Json = False) -> None:
    """Show over HTTP what you may still spend.

    Example: curator budget --epsilon 0.1
    """
    _run("budget", context, as_json=json)


@_command
def history(context: typer.Context, *, json: Json = False) -> None:
    """List your past queries over HTTP, newest first.

    Example: curator history --limit 5
    """
    _run("history", context, as_json=json)


@_command
def metadata(context: typer.Context, *, json: Json = False) -> None:
    """Print over HTTP a dataset's public schema for catalogues: CSVW or Croissant.

    Example: curator metadata --format croissant --dataset hospital
    """
    _run("metadata", context, as_json=json)


def _run(name: str, context: typer.Context, *, as_json: bool) -> None:
    try:
        from curator_client.command import main  # noqa: PLC0415 - its own package
    except ImportError:
        say(f"this command asks through the client: {install_client()}")
        raise typer.Exit(USAGE) from None
    flags = ["--json"] if as_json else []
    raise typer.Exit(main([name, *flags, *context.args], program="curator"))
