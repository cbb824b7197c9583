"""``%curator`` and ``%%curator``: a question in a cell, its answer below it."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class

from curator_client.answers.refusals import CuratorError
from curator_client.asking import add_question_options, question_of
from curator_client.client import Curator

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_VARIABLE = "curator"
_USAGE = """\
%%curator [--epsilon E | --rho R | --within W [--confidence C]] [--dataset D]
          [--plan] [--into X]
with the question's SQL in the cell, or after the options in a line (%curator).
%curator alone shows the budget. Asks through the variable `curator` where it is a
Curator, else through CURATOR_URL and CURATOR_API_KEY or the configuration file."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in the notebook, and does not end the kernel."""

    def error(self, message: str) -> NoReturn:
        text = f"{message}\n{_USAGE}"
        raise UsageError(text)


@magics_class
class CuratorMagics(Magics):
    """The magic and the connection that it keeps."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._names: dict[str, Any] = shell.user_ns
        self._own: Curator | None = None

    @line_cell_magic  # type: ignore[untyped-decorator,unused-ignore]
    def curator(self, line: str, cell: str | None = None) -> Any:
        """Ask the cell's SQL of a Curator server, and show answer or refusal.

        ``%%curator --epsilon 0.1`` or ``%%curator --within 20`` with the question in
        the cell; ``--plan`` prices it only; ``--into name`` keeps what came in a
        variable. ``%curator`` alone shows the budget.
        """
        try:
            words = shlex.split(line, posix=False)  # a quoted text keeps its quotes
            given = _parser().parse_args(words)
            if cell is not None:
                given.sql = [cell]
            shown = self._answer(given)
        except (CuratorError, ValueError, LookupError) as error:
            sys.stderr.write(f"{error}\n")
            return None
        if given.into:
            self._names[given.into] = shown
        return shown

    def close(self) -> None:
        """Close the magic's own connection, where it made one."""
        if self._own is not None:
            self._own.close()

    def _answer(self, given: argparse.Namespace) -> Any:
        curator = self._connection()
        sql = " ".join(given.sql).strip()
        if not sql:
            return curator.budget(given.epsilon)
        question = question_of(given)
        if given.plan:
            return curator.plan(sql, **question)
        return curator.query(sql, **question)

    def _connection(self) -> Curator:
        found = self._names.get(_VARIABLE)
        if isinstance(found, Curator):
            return found
        if self._own is None:
            self._own = Curator()
        return self._own


def _parser() -> _Parser:
    parser = _Parser(prog="%%curator", add_help=False)
    add_question_options(parser)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--into", metavar="NAME")
    parser.add_argument("sql", nargs=argparse.REMAINDER)
    return parser


def register(shell: InteractiveShell) -> None:
    """Add the magic to a shell."""
    shell.register_magics(CuratorMagics(shell))


def unregister(shell: InteractiveShell) -> None:
    """Close the connection that the magic keeps, and take the magic away."""
    registry = shell.magics_manager.registry
    made = registry.pop(CuratorMagics.__name__, None)
    if isinstance(made, CuratorMagics):
        made.close()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("curator", None)
