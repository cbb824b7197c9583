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
          [--plan] [--into X] [--study S]
with the question's SQL in the cell, or after the options in a line (%curator).
%curator alone shows the budget. --study S keeps the cell's question in the list S;
%curator --study S asks all of them for one charge, with --plan prices them. Asks
through the variable `curator` where it is a Curator, else through CURATOR_URL and
CURATOR_API_KEY or the configuration file."""


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
        variable. ``%curator`` alone shows the budget. ``--study name`` collects a
        cell's question in a list; without a text it asks all that were collected.
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
        if given.study:
            return self._studied(curator, sql, given)
        if not sql:
            return curator.budget(given.epsilon)
        question = question_of(given)
        if given.plan:
            return curator.plan(sql, **question)
        return curator.query(sql, **question, probes=given.probes)

    def _studied(self, curator: Curator, sql: str, given: argparse.Namespace) -> Any:
        """Keep a cell's question for a study; without a text ask or price all."""
        kept = self._names.setdefault(given.study, [])
        if not isinstance(kept, list):
            message = f"{given.study} is a variable already, and no list of questions"
            raise ValueError(message)  # noqa: TRY004 - shown, as all that is typed wrong
        if sql:
            return _collected(kept, sql, given)
        where = {"dataset": given.dataset, "project": given.project}
        total = {"epsilon": given.epsilon, "rho": given.rho}
        asking = curator.plan_study if given.plan else curator.study
        return asking(kept, **where, **total)

    def _connection(self) -> Curator:
        found = self._names.get(_VARIABLE)
        if isinstance(found, Curator):
            return found
        if self._own is None:
            self._own = Curator()
        return self._own


def _collected(kept: list[Any], sql: str, given: argparse.Namespace) -> str:
    """Add a question to a study; one with the same text takes its place."""
    wish = question_of(given)
    options = {
        name: value
        for name, value in (wish["options"] or {}).items()
        if name in {"weights", "bounds"}
    }
    named = {name: wish[name] for name in ("epsilon", "rho", "accuracy")}
    told = {"sql": sql, **named, "options": options}
    question = {name: value for name, value in told.items() if value}
    places = [n for n, one in enumerate(kept) if one["sql"] == sql]
    if places:
        kept[places[0]] = question
    else:
        kept.append(question)
    return f"{given.study} has {len(kept)}: %curator --study {given.study} asks them"


def _parser() -> _Parser:
    parser = _Parser(prog="%%curator", add_help=False)
    add_question_options(parser)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--into", metavar="NAME")
    parser.add_argument("--study", metavar="NAME")
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
