"""What commands print: tables and sentences, or JSON; and how they exit."""

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.table import Table

from privacy.errors import CuratorError
from server.use_cases.second_persons import ProposalOpenError

REFUSED = 1
USAGE = 2
UNREACHABLE = 3
_WIDEST_TABLE = 10_000  # no id is cut short, whatever the terminal

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Reason = Annotated[
    str | None, typer.Option("--reason", help="Why; recorded with the change.")
]

_console = Console(soft_wrap=True, highlight=False)
_tables = Console(soft_wrap=True, highlight=False, width=_WIDEST_TABLE)
_errors = Console(stderr=True, soft_wrap=True, highlight=False)


def show(document: Mapping[str, object], *, as_json: bool) -> None:
    """Print one thing: its members, a line each."""
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        if _is_deep(value):
            _console.print(f"[bold]{name}[/]:")
            _console.print(_indented(value), markup=False)
        else:
            _console.print(f"[bold]{name}[/]: {_plain(value)}", markup=True)


def show_list(items: Iterable[Mapping[str, object]], *, as_json: bool) -> None:
    """Print several things of one kind as a table."""
    items = list(items)
    if as_json:
        print_json({"items": items, "next_cursor": None})
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


def _is_deep(value: object) -> bool:
    """Whether a value on one line could not be read: things inside things."""
    held = value.values() if isinstance(value, Mapping) else value
    if not isinstance(held, Iterable) or isinstance(held, str):
        return False
    return any(isinstance(item, Mapping | list) for item in held)


def _indented(value: object) -> str:
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
    return textwrap.indent(text.rstrip(), "  ")


def say(sentence: str) -> None:
    """Say something beside the result (on standard error)."""
    _errors.print(sentence, markup=False)


def confirm(consequence: str) -> None:
    """Ask on a terminal before what stops everybody; a script is taken at its word.

    Raises:
        typer.Exit: The person did not say yes; exit code 1.
    """
    if not sys.stdin.isatty():
        return
    say(f"{consequence}. Go on? [y/N] (--yes: do not ask)")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        say("nothing was changed")
        raise typer.Exit(REFUSED)


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
