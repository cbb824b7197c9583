"""Parsing in a child process that can be killed: one warm, one spare.

The child returns our own tree as JSON, never a pickle. A text that makes the parser
spin or die is refused; the spare takes over at once and a new spare is started.
"""

import contextlib
import json
import logging
import queue
import selectors
import subprocess
import threading
from typing import IO

from engines.child_processes import NEUTRAL_FOLDER, bare_environment, child_command
from privacy import errors
from privacy.errors import CuratorError, QueryError
from query_lang.limits import check_size
from query_lang.syntax import Query
from query_lang.syntax_json import Json, from_json
from server.parser_child import STARTED

PARSE_SECONDS = 5.0
"""More than ten times what any text within the limits takes, on a busy machine too."""
START_SECONDS = 30.0
"""How long a child may take to start; measured: 0.3 s, and 3 s on a busy machine."""
_SPARE_AFTER_SECONDS = 5.0
"""The first spare starts once the server is ready: both wait for the processors."""
_PROBE = "SELECT COUNT(*) FROM t"
_log = logging.getLogger("curator.parser")
_REFUSALS = {
    "SqlSyntaxError": errors.SqlSyntaxError,
    "SqlNotAllowedError": errors.SqlNotAllowedError,
}


class ParserUnavailableError(CuratorError):
    """No child process can parse; nothing was charged."""

    code = "parser_unavailable"

    def __init__(self) -> None:
        super().__init__(
            "texts cannot be read now: the operator finds why with 'curator doctor'; "
            "ask again later"
        )


class ParserPool:
    """Parses texts in children; safe for use by many threads."""

    def __init__(self, *, timeout_seconds: float = PARSE_SECONDS) -> None:
        self._timeout_seconds = timeout_seconds
        self._spares: queue.Queue[_Child] = queue.Queue()
        self._lock = threading.Lock()
        self._is_closed = False
        self._warm = _Child()
        self._first = threading.Timer(_SPARE_AFTER_SECONDS, self._start_spare)
        self._first.daemon = True
        self._first.start()

    def parse(self, sql: str, *, sequences: bool = False) -> Query:
        """Return the tree of ``sql``.

        Args:
            sql: The text.
            sequences: As of ``parse_query``.

        Raises:
            QueryError: The text is too large, is no SQL, or is outside the language.
            ParserUnavailableError: No child can be started, or one died or hung: no
                text within the limits can make it, so time decides no refusal.
        """
        check_size(sql)
        with self._lock:
            if self._is_closed or not self._warm.has_started():
                self._replace()
                raise ParserUnavailableError
            reply = self._warm.ask((sql, sequences), self._timeout_seconds)
            if reply is None:
                self._replace()
                raise ParserUnavailableError
        if "error" in reply:
            raise _refusal(reply)
        return from_json(reply["tree"])

    def check(self) -> None:
        """Parse one query, as a question's text is.

        Raises:
            CuratorError: No child process can.
        """
        self.parse(_PROBE)

    def _replace(self) -> None:
        if self._is_closed:
            return
        _log.error("a parser child was killed")
        self._warm.kill()
        try:
            self._warm = self._spares.get_nowait()
        except queue.Empty:
            try:
                self._warm = _Child()
            except OSError:  # no process or file is left for one
                raise ParserUnavailableError from None
        threading.Thread(target=self._start_spare, daemon=True).start()

    def _start_spare(self) -> None:
        with contextlib.suppress(OSError), self._lock:  # a replacement starts its own
            if not self._is_closed and self._spares.empty():
                self._spares.put(_Child())

    def close(self) -> None:
        """End the children."""
        with self._lock:
            self._is_closed = True
            self._first.cancel()
            self._warm.kill()
            while not self._spares.empty():
                self._spares.get().kill()


class _Child:
    """One parsing process: a line of JSON in, a line of JSON out."""

    def __init__(self) -> None:
        self._has_started = False
        self._process = subprocess.Popen(  # noqa: S603 - ours
            child_command("server.parser_child"),
            cwd=NEUTRAL_FOLDER,
            env=bare_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a dying parser may quote its text
        )

    def has_started(self) -> bool:
        """Whether it can parse: it says so in its first line, once."""
        if not self._has_started:
            self._has_started = self._line(START_SECONDS) == STARTED
        return self._has_started

    def ask(
        self, asked: tuple[str, bool], timeout_seconds: float
    ) -> dict[str, Json] | None:
        """Return the child's reply, or None where it died or took too long."""
        stdin, _ = _pipes(self._process)
        try:
            stdin.write(json.dumps(asked).encode() + b"\n")
            stdin.flush()
        except OSError:
            return None
        line = self._line(timeout_seconds)
        reply: dict[str, Json] | None = json.loads(line) if line else None
        return reply

    def _line(self, timeout_seconds: float) -> bytes:
        """Return the child's next line, empty where it died or took too long."""
        _, stdout = _pipes(self._process)
        if stdout.closed:
            return b""
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            if not selector.select(timeout_seconds):
                return b""
        return stdout.readline()

    def kill(self) -> None:
        """End the child and reap it."""
        self._has_started = False
        self._process.kill()
        stdin, stdout = _pipes(self._process)
        with contextlib.suppress(OSError):  # what was not flushed has no reader
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
