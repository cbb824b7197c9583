"""What commands print: tables and sentences, or JSON; and how they exit."""

import json
import shlex
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from privacy.errors import CuratorError
from server.cli.carried import WHEELS
from server.use_cases.oversight.markdown import visible

REFUSED = 1
USAGE = 2
UNREACHABLE = 3
_OF_SEVERAL_LINES = frozenset({"derivation"})
"""Members that we write ourselves, in several lines; people's words are one line."""
_FOLDED = 100  # characters of a line of sentences
_WIDEST_TABLE = 10_000  # no id is cut short, whatever the terminal

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

_console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
_tables = Console(
    soft_wrap=True, highlight=False, markup=False, emoji=False, width=_WIDEST_TABLE
)
_errors = Console(
    stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False
)


def install_client(wheels: Path = WHEELS) -> str:
    """Say how to install the client: the wheel that is at hand, or the source."""
    for wheel in sorted(wheels.glob("*.whl")):
        return f'type "pip install {shlex.quote(str(wheel))}"'
    return "in the folder of Curator's source, type 'pip install ./clients/python'"


def show(document: Mapping[str, object], *, as_json: bool) -> None:
    """Print one thing: its members, a line each."""
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        if name in _OF_SEVERAL_LINES and isinstance(value, str):
            _console.print(Text.assemble((_plain(name), "bold"), ":"))
            for line in value.splitlines():
                _console.print(f"  {_plain(line)}")
        elif _is_deep(value):
            _console.print(Text.assemble((_plain(name), "bold"), ":"))
            _console.print(_indented(value))
        else:
            _console.print(Text.assemble((_plain(name), "bold"), ": ", _plain(value)))


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
        table.add_column(_plain(name))
    for item in items:
        table.add_row(*(_plain(value) for value in item.values()))
    _tables.print(table)


def print_json(value: object) -> None:
    """Print a value as JSON; what does not show is escaped, as JSON lets it be."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    typer.echo("\n".join(map(_escaped, text.split("\n"))))


def _escaped(line: str) -> str:
    shown = (one if one.isprintable() else json.dumps(one)[1:-1] for one in line)
    return "".join(shown)


def _plain(value: object) -> str:
    """Return a value as one line that no terminal takes for more than text."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return visible(value).replace("\n", r"\u{a}").replace("\t", r"\u{9}")


def _is_deep(value: object) -> bool:
    """Whether a value on one line could not be read: things inside things."""
    held = value.values() if isinstance(value, Mapping) else value
    if not isinstance(held, Iterable) or isinstance(held, str):
        return False
    return any(isinstance(item, Mapping | list) for item in held)


def _indented(value: object) -> str:
    import yaml  # noqa: PLC0415 - few commands show things inside things

    told = _each_plain(value)
    text = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100)
    return textwrap.indent(text.rstrip(), "  ")


def _each_plain(value: object) -> object:
    """Return things inside things with each text in them made plain."""
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, Mapping):
        return {_each_plain(name): _each_plain(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_each_plain(item) for item in value]
    return value


def write(line: str) -> None:
    """Print a line that is a result of its own."""
    _console.print(_plain(line))


def write_indented(line: str, *, is_folded: bool) -> None:
    """Print a line under a title; one that is folded is read, and not copied."""
    plain = f"  {_plain(line)}"
    parts = [plain]
    if is_folded:
        parts = textwrap.wrap(plain, _FOLDED, subsequent_indent="    ")
    for part in parts:
        _console.print(part)


def say(sentence: str) -> None:
    """Say something beside the result (on standard error)."""
    _errors.print(visible(sentence))


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
    """Turn refusals into a sentence and exit code 1; proposals also into JSON.

    A full disk refuses whatever writes, in whichever library it is noticed.
    """
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        # A command that meets no error starts without what tells errors apart.
        from server.use_cases.approvals.second_persons import (  # noqa: PLC0415
            ProposalOpenError,
        )
        from server.use_cases.services.space import want_of_space  # noqa: PLC0415

        if isinstance(error, ProposalOpenError) and as_json:
            print_json(error.proposal)
        sentence = want_of_space(error)
        if sentence is None and not isinstance(error, CuratorError):
            raise
        say(f"refused: {sentence or error}")
        raise typer.Exit(REFUSED) from None
