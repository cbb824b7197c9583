"""Parsing in a child process that can be killed: one warm, one spare.

The child returns our own tree as JSON, never a pickle. A text that makes the parser
spin or die is refused; the spare takes over at once and a new spare is started.
"""

import json
import logging
import queue
import selectors
import subprocess
import sys
import threading
from typing import IO

from privacy import errors
from privacy.errors import QueryError, SqlNotAllowedError
from query_lang.limits import check_size
from query_lang.syntax import Query
from query_lang.syntax_json import Json, from_json

PARSE_SECONDS = 5.0
_log = logging.getLogger("curator.parser")
_REFUSALS = {
    "SqlSyntaxError": errors.SqlSyntaxError,
    "SqlNotAllowedError": errors.SqlNotAllowedError,
}


class ParserPool:
    """Parses texts in children; safe for use by many threads."""

    def __init__(self, *, timeout_seconds: float = PARSE_SECONDS) -> None:
        self._timeout_seconds = timeout_seconds
        self._spares: queue.Queue[_Child] = queue.Queue()
        self._lock = threading.Lock()
        self._warm = _Child()
        self._spares.put(_Child())

    def parse(self, sql: str, *, sequences: bool = False) -> Query:
        """Return the tree of ``sql``.

        Args:
            sql: The text.
            sequences: As of ``parse_query``.

        Raises:
            QueryError: The text is too large, is no SQL, or is outside the language.
        """
        check_size(sql)
        with self._lock:
            reply = self._warm.ask((sql, sequences), self._timeout_seconds)
            if reply is None:
                self._replace()
                raise SqlNotAllowedError(
                    rule="too_complex",
                    line=1,
                    column=1,
                    detail="the text is too complex to be read",
                    hint="ask a shorter question",
                )
        if "error" in reply:
            raise _refusal(reply)
        return from_json(reply["tree"])

    def _replace(self) -> None:
        _log.warning("a parser child was killed")
        self._warm.kill()
        self._warm = self._spares.get()
        threading.Thread(target=lambda: self._spares.put(_Child()), daemon=True).start()

    def close(self) -> None:
        """End the children."""
        with self._lock:
            self._warm.kill()
            while not self._spares.empty():
                self._spares.get().kill()


class _Child:
    """One parsing process: a line of JSON in, a line of JSON out."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "server.parser_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a dying parser may quote its text
        )

    def ask(
        self, asked: tuple[str, bool], timeout_seconds: float
    ) -> dict[str, Json] | None:
        """Return the child's reply, or None where it died or took too long."""
        stdin, stdout = _pipes(self._process)
        try:
            stdin.write(json.dumps(asked).encode() + b"\n")
            stdin.flush()
        except OSError:
            return None
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            if not selector.select(timeout_seconds):
                return None
        line = stdout.readline()
        reply: dict[str, Json] | None = json.loads(line) if line else None
        return reply

    def kill(self) -> None:
        """End the child and reap it."""
        self._process.kill()
        stdin, stdout = _pipes(self._process)
        stdin.close()
        stdout.close()
        self._process.wait()


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise AssertionError
    return process.stdin, process.stdout


def _refusal(reply: dict[str, Json]) -> QueryError:
    facts = reply["facts"]
    if not isinstance(facts, dict):
        raise TypeError
    words = {name: str(facts[name]) for name in ("rule", "detail", "hint")}
    line, column = facts["line"], facts["column"]
    if not isinstance(line, int) or not isinstance(column, int):
        raise TypeError
    return _REFUSALS[str(reply["error"])](line=line, column=column, **words)
