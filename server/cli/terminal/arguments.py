"""What commands are given: settings, losses, days; exit 2 where they do not serve."""

from datetime import date
from typing import Annotated, overload

import typer

from privacy.errors import InvalidLossError
from privacy.losses import Loss
from server.cli.terminal.output import USAGE, say
from server.configuration.settings import Settings, SettingsError, read_settings
from server.use_cases.services.lines import one_line


def settings_or_exit(**overrides: object) -> Settings:
    """Read the settings; exit with 2 and a sentence where they do not serve."""
    try:
        return read_settings(**overrides)
    except SettingsError as error:
        say(f"settings: {error}")
        raise typer.Exit(USAGE) from None


def read_loss(text: str) -> Loss:
    """Read a loss given on the command line; exit with 2 where it is none."""
    try:
        return Loss.parse(text)
    except InvalidLossError as error:
        say(f"{text!r}: {error.reason}")
        raise typer.Exit(USAGE) from None


@overload
def read_day(text: str) -> date: ...
@overload
def read_day(text: str | None) -> date | None: ...
def read_day(text: str | None) -> date | None:
    """Read a day given on the command line; exit with 2 where it is none."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        say(f"{text!r} is no date; write YYYY-MM-DD")
        raise typer.Exit(USAGE) from None


def check_line(parameter: typer.CallbackParam, text: str | None) -> str | None:
    """Return what an option was given; exit with 2 where it is not one line of text."""
    try:
        return None if text is None else one_line(text)
    except ValueError as error:
        say(f"{parameter.opts[0]}: {error}")
        raise typer.Exit(USAGE) from None


Reason = Annotated[
    str | None,
    typer.Option(
        "--reason", help="Why; recorded with the change.", callback=check_line
    ),
]
