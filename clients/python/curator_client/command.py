"""The analyst's commands: plan, query, budget, history and metadata, over HTTP.

``curator-client plan ...`` where only the client is installed, ``curator plan ...``
where the server is: the same code. Exit codes: 0 done, 1 refused, 2 usage, 3
unreachable.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from curator_client.answers.answer import Answer
from curator_client.answers.history import PastQuery, with_short_sql
from curator_client.answers.losses import loss_in_column, loss_in_words
from curator_client.answers.refusals import CuratorRefusalError, CuratorUnreachableError
from curator_client.asking import add_question_options, question_of
from curator_client.client import Curator
from curator_client.connection.lines import say_on_stderr
from curator_client.tables.listing import Listing

DONE, REFUSED, USAGE, UNREACHABLE = range(4)
COMMANDS = ("plan", "query", "budget", "history", "metadata")
FORMATS = ("csvw", "croissant")
_SERVER = """\
Asks the server of CURATOR_URL with the key CURATOR_API_KEY, or those of the file
~/.config/curator/client.toml (elsewhere: CURATOR_CONFIG; url, key, dataset, project,
ca_file). Exit codes: 0 done, 1 refused, 2 usage, 3 unreachable."""
_EXAMPLES = {
    "plan": 'Example: %(prog)s "SELECT COUNT(*) FROM visits" --within 20',
    "query": "Example: %(prog)s --file wards.sql --epsilon 0.1 --csv > wards.csv",
    "budget": "Example: %(prog)s --epsilon 0.1",
    "history": "Example: %(prog)s --limit 5 --json",
    "metadata": "Example: %(prog)s --format croissant > hospital.json",
}
_HELP = {
    "plan": "Price a question: noise, half-widths, what is on offer; costs nothing.",
    "query": "Ask a question and pay for it, once.",
    "budget": "Show what may still be spent, and how many more questions that is.",
    "history": "List your past queries, newest first.",
    "metadata": "Print a dataset's public schema for catalogues: CSVW or Croissant.",
}


def main(
    arguments: Sequence[str] | None = None, program: str = "curator-client"
) -> int:
    """Run one command; return its exit code."""
    given = _parser(program).parse_args(arguments)
    try:
        with Curator(**_connection(given)) as curator:
            _RUN[given.command](curator, given)
    except CuratorUnreachableError as error:
        return _fail(error, UNREACHABLE)
    except CuratorRefusalError as refusal:
        return _fail_refused(refusal, as_json=given.json)
    except (ValueError, LookupError) as error:
        return _fail(error, USAGE)
    return DONE


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave with its exit code."""
    sys.exit(main(arguments))


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=_SERVER)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        one = commands.add_parser(
            name,
            help=_HELP[name],
            description=f"{_HELP[name]}\n\n{_SERVER}",
            epilog=_EXAMPLES[name],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        one.add_argument("--json", action="store_true", help="the server's document")
        _add_options(one, name)
    return parser


def _add_options(parser: argparse.ArgumentParser, command: str) -> None:
    if command in ("plan", "query"):
        parser.add_argument("sql", nargs="?", help="the question; else standard input")
        parser.add_argument("--file", type=Path, help="read the question from a file")
        add_question_options(parser)
    if command == "query":
        parser.add_argument("--csv", action="store_true", help="comma-separated values")
        parser.add_argument("--idempotency-key", metavar="KEY", help="of a try cut off")
    if command == "budget":
        parser.add_argument("--epsilon", metavar="E", help="how many at this price fit")
    if command == "history":
        parser.add_argument("--limit", type=int, default=20, help="default 20")
    if command == "metadata":
        parser.add_argument("--format", choices=FORMATS, default=FORMATS[0])
        parser.add_argument("--dataset", metavar="D", help="may be left out with one")


def _connection(given: argparse.Namespace) -> dict[str, Any]:
    return {
        "dataset": getattr(given, "dataset", None),
        "project": getattr(given, "project", None),
    }


def _plan(curator: Curator, given: argparse.Namespace) -> None:
    plan = curator.plan(_sql(given), **question_of(given))
    _print(plan.document if given.json else plan, as_json=given.json)


def _query(curator: Curator, given: argparse.Namespace) -> None:
    answer = curator.query(
        _sql(given),
        **question_of(given),
        idempotency_key=given.idempotency_key,
        probes=given.probes,
    )
    if given.csv and not given.json:
        sys.stdout.write(answer.to_csv() or "")
        say_on_stderr(_paid(answer))
        return
    _print(answer.document if given.json else answer, as_json=given.json)


def _budget(curator: Curator, given: argparse.Namespace) -> None:
    budget = curator.budget(given.epsilon)
    _print(budget.document if given.json else budget, as_json=given.json)


def _history(curator: Curator, given: argparse.Namespace) -> None:
    past = list(itertools.islice(curator.history(given.limit), max(given.limit, 0)))
    if given.json:
        document = {"items": [query.document for query in past], "next_cursor": None}
        _print(document, as_json=True)
    else:
        _print(_listed(past), as_json=False)


def _metadata(curator: Curator, given: argparse.Namespace) -> None:
    _print(curator.metadata(given.format), as_json=True)


_RUN = {
    "plan": _plan,
    "query": _query,
    "budget": _budget,
    "history": _history,
    "metadata": _metadata,
}


def _listed(past: Sequence[PastQuery]) -> Listing:
    titles = ["query_id", "time", "dataset", "state", "epsilon", "sql"]
    rows = [
        [q.query_id, q.time, q.dataset, q.state, _price(q), " ".join(q.sql.split())]
        for q in past
    ]
    return with_short_sql(Listing(titles, rows))


def _price(query: PastQuery) -> str:
    return "free" if query.charge["reused"] else loss_in_column(query.charge)


def _paid(answer: Answer) -> str:
    charge = answer.charge
    paid = "free" if charge["reused"] else f"paid {loss_in_words(charge)}"
    return f"{answer.query_id}: {paid}"


def _sql(given: argparse.Namespace) -> str:
    """Return the question: an argument, a file or standard input; one of them."""
    if given.sql is not None and given.file is not None:
        message = "give the question or --file, not both"
        raise ValueError(message)
    if given.file is not None:
        try:
            return str(given.file.read_text("utf-8"))
        except OSError as error:
            message = f"{given.file} cannot be read ({error.strerror})"
            raise ValueError(message) from error
    return sys.stdin.read() if given.sql in (None, "-") else str(given.sql)


def _print(value: object, *, as_json: bool) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2) if as_json else str(value)
    sys.stdout.write(f"{text}\n")


def _fail(error: Exception, code: int) -> int:
    say_on_stderr(str(error))
    key = getattr(error, "idempotency_key", None)
    if key is not None:
        say_on_stderr(
            f"ask again with --idempotency-key {key}: it is paid at most once"
        )
    return code


def _fail_refused(refusal: CuratorRefusalError, *, as_json: bool) -> int:
    """Say what was refused; for programs, the server's document as well."""
    if as_json:
        _print(refusal.problem, as_json=True)
    sys.stderr.write(f"refused: {refusal}\n")
    if refusal.query_id is not None and refusal.idempotency_key is not None:
        key = refusal.idempotency_key
        say_on_stderr(f"charged; ask again for nothing with --idempotency-key {key}")
    return REFUSED
