"""Parsing in a child process that can be killed: one warm, one spare.

The child returns our own tree as JSON, never a pickle. A text that makes the parser
spin or die is refused; the spare takes over at once and a new spare is started.
"""

import contextlib
import logging
import queue
import threading

from engines.processes.json_children import JsonChild
from privacy import errors
from privacy.errors import CuratorError, QueryError
from query_lang.reading.limits import check_size
from query_lang.syntax.nodes import Position, Query
from query_lang.syntax.refusals import refusing_depth
from query_lang.syntax.wire import Json, from_json
from server.children.parser_child import STARTED

PARSE_SECONDS = 5.0
"""More than ten times what any text within the limits takes, on a busy machine too."""
START_SECONDS = 30.0
"""How long a child may take to start; measured: 0.3 s, and 3 s on a busy machine."""
_SPARE_AFTER_SECONDS = 5.0
"""The first spare starts once the server is ready: both wait for the processors."""
_START = Position(1, 1)
_PROBE = "SELECT COUNT(*) FROM t"
_log = logging.getLogger("curator.parser")
_REFUSALS = {
    refusal.__name__: refusal
    for refusal in (
        errors.SqlSyntaxError,
        errors.SqlNotAllowedError,
        errors.UnknownColumnError,
        errors.NoPublicDomainError,
        errors.TooManyGroupsError,
    )
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
            try:
                reply = self._warm.ask((sql, sequences), self._timeout_seconds)
            except Exception as error:  # no file or memory is left to wait with
                self._replace()
                raise ParserUnavailableError from error
            if reply is None:
                self._replace()
                raise ParserUnavailableError
        if "fault" in reply:
            message = f"a text could not be parsed: {reply['fault']}"
            raise RuntimeError(message)
        if "error" in reply:
            raise _refusal(reply)
        with refusing_depth(_START):
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


class _Child(JsonChild):
    """A parsing process, which says in its first line that it can parse."""

    def __init__(self) -> None:
        super().__init__("server.children.parser_child")
        self._has_started = False

    def has_started(self) -> bool:
        """Whether it can parse; waits for its first line once."""
        if not self._has_started:
            self._has_started = self.line(START_SECONDS) == STARTED
        return self._has_started


def _refusal(reply: dict[str, Json]) -> QueryError:
    facts = reply["facts"]
    if not isinstance(facts, dict):
        raise TypeError
    words = {name: str(facts[name]) for name in ("rule", "detail", "hint")}
    line, column = facts["line"], facts["column"]
    if not isinstance(line, int) or not isinstance(column, int):
        raise TypeError
    return _REFUSALS[str(reply["error"])](line=line, column=column, **words)
