"""The command ``curator``.

Its families are read when one of their commands is named: an analyst's commands, and
the list of all, start without the server.
"""

from typing import Annotated, Final

import typer

from server.cli.carried import reach_client
from server.commands.lazy import Told, lazy_group
from server.version import VERSION

COMMANDS: Final[dict[str, Told]] = {
    "plan": ("server.cli.analyst", "Price a question over HTTP; costs nothing."),
    "query": ("server.cli.analyst", "Ask a question over HTTP and pay for it, once."),
    "budget": ("server.cli.analyst", "Show over HTTP what you may still spend."),
    "history": (
        "server.cli.analyst",
        "List your past queries over HTTP, newest first.",
    ),
    "metadata": (
        "server.cli.analyst",
        "Print over HTTP a dataset's public schema for catalogues: CSVW or Croissant.",
    ),
    "doctor": (
        "server.commands.installation",
        "Look at settings, files, ledger and data; exit 1 where something is wrong.",
    ),
    "init": (
        "server.commands.installation",
        "Make a new installation in CURATOR_DATA with its anchor at CURATOR_ANCHOR.",
    ),
    "serve": (
        "server.commands.serving",
        "Serve questions over HTTP until stopped; refuse unsafe configurations.",
    ),
    "worker": (
        "server.commands.serving",
        "Run jobs until stopped; a job that is running goes back into the queue.",
    ),
    "demo": (
        "server.commands.demos",
        "Load a synthetic hospital, publish a cube of it, ask both, say what to try.",
    ),
    "openapi": (
        "server.commands.serving",
        "Print the OpenAPI document of the HTTP interface.",
    ),
    "population": (
        "server.commands.populations",
        "People who share an identifier space, and their cap.",
    ),
    "dataset": ("server.commands.datasets", "Tables behind the query interface."),
    "project": (
        "server.commands.people",
        "Who may ask which datasets, until when, for how much.",
    ),
    "principal": ("server.commands.people", "People and programs that hold keys."),
    "key": ("server.commands.people", "API keys."),
    "proposal": (
        "server.commands.proposals",
        (
            "Changes that need a second person. All commands on the host are one "
            "person: another custodian approves or rejects over HTTP, with their own "
            "key."
        ),
    ),
    "manifest": ("server.commands.data", "Write and check manifests, before any load."),
    "job": (
        "server.commands.serving",
        "Work that goes on in the background; see 'curator worker'.",
    ),
    "release": (
        "server.commands.releases",
        "Private cubes and sequences: paid once, then free to ask.",
    ),
    "text": (
        "server.commands.texts",
        "Notes: raw data of custodians, which analysts never see.",
    ),
    "model": (
        "server.commands.texts",
        "Models of texts: raw data, never given to analysts.",
    ),
    "linkage": (
        "server.commands.linkage",
        "Which records are one patient's: for custodians alone.",
    ),
    "anonymize": (
        "server.commands.anonymization",
        "Copies for others: no differential privacy; for custodians.",
    ),
    "ledger": (
        "server.commands.installation",
        "The append-only record of every charge and change.",
    ),
    "backup": (
        "server.commands.maintenance",
        "Copies of the whole installation but for its anchor.",
    ),
    "db": ("server.commands.installation", "The catalogue database's schema."),
}
"""Each with the module that holds it, and its own first sentence."""

cli = typer.Typer(
    cls=lazy_group(COMMANDS), no_args_is_help=True, pretty_exceptions_enable=False
)


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands it so
    if wanted:
        typer.echo(f"curator {VERSION}")
        raise typer.Exit


@cli.callback()
def _main(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say the version."
        ),
    ] = False,
) -> None:
    """A differentially private query server for medical data."""


def main() -> None:
    """Run the command line."""
    reach_client()
    cli()


if __name__ == "__main__":
    main()
