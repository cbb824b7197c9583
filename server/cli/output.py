"""What commands print: tables and sentences, or JSON; and how they exit."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from privacy.errors import CuratorError
from server.use_cases.second_persons import ProposalOpenError

REFUSED = 1
USAGE = 2
_WIDEST_TABLE = 10_000  # no id is cut short, whatever the terminal

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

_console = Console(soft_wrap=True, highlight=False)
_tables = Console(soft_wrap=True, highlight=False, width=_WIDEST_TABLE)
_errors = Console(stderr=True, soft_wrap=True, highlight=False)


def show(document: Mapping[str, object], *, as_json: bool) -> None:
    """Print one thing: its members, a line each."""
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        _console.print(f"[bold]{name}[/]: {_plain(value)}", markup=True)


def show_list(items: Sequence[Mapping[str, object]], *, as_json: bool) -> None:
    """Print several things of one kind as a table."""
    if as_json:
        print_json({"items": list(items), "next_cursor": None})
        return
    if not items:
        _console.print("none")
        return
    table = Table(box=None, header_style="bold")
    for name in items[0]:
        table.add_column(name)
    for item in items:
        table.add_row(*(_plain(value) for value in item.values()))
    _tables.print(table)


def print_json(value: object) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value.replace("[", r"\[")
    return json.dumps(value, ensure_ascii=False).replace("[", r"\[")


def say(sentence: str) -> None:
    """Say something beside the result (on standard error)."""
    _errors.print(sentence, markup=False)


@contextmanager
def refusals(*, as_json: bool = False) -> Iterator[None]:
    """Turn refusals into a sentence and exit code 1; proposals also into JSON."""
    try:
        yield
    except ProposalOpenError as error:
        if as_json:
            print_json(error.proposal)
        say(f"refused: {error}")
        raise typer.Exit(REFUSED) from None
    except CuratorError as error:
        say(f"refused: {error}")
        raise typer.Exit(REFUSED) from None
