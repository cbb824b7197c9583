"""Logs by an allow-list: JSON lines that can hold nothing a patient or caller wrote.

A line has the keys of ``_ALLOWED`` alone, each of a fixed form. Of our own loggers the
event is the constant text in the code, of libraries only the place that spoke; what
was to be filled in, and every exception's text, is dropped. Lines from inside a request
wait until its reply has left (PRIVACY 6), so that no line's time tells what it took.
"""

import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

import structlog

OWN = "curator"
MAX_EVENT = 80
_ALLOWED: Mapping[str, Callable[[object], bool]] = {
    "request_id": lambda value: _matches(r"r_[0-9a-f]{24}", value),
    "method": lambda value: _matches(r"[A-Z]{3,7}", value),
    "route": lambda value: _matches(r"/[a-z0-9_{}/.-]{0,100}|unknown", value),
    "status": lambda value: isinstance(value, int) and 100 <= value <= 599,  # noqa: PLR2004 - HTTP's range
    "principal": lambda value: _matches(r"[a-z][a-z0-9_]{0,62}", value),
    "code": lambda value: _matches(r"[a-z_]{1,40}", value),
    "outcome": lambda value: _matches(r"[a-z_]{1,40}", value),
    "query_id": lambda value: _matches(r"q_[0-9a-f]{24}", value),
    "job": lambda value: _matches(r"[a-z]{1,4}_[0-9a-f]{24}", value),
    "kind": lambda value: _matches(r"[a-z_.]{1,40}", value),
    "stage": lambda value: _matches(r"[a-z_ ]{1,40}", value),
    "error": lambda value: _matches(r"[A-Za-z_]{1,60}", value),  # a type's name
    "host": lambda value: _matches(r"[A-Za-z0-9.-]{1,253}", value),  # of a server
    "port": lambda value: isinstance(value, int),
    "count": lambda value: isinstance(value, int),
}
_held: ContextVar[list[logging.LogRecord] | None] = ContextVar("held", default=None)
_notes: ContextVar[dict[str, object] | None] = ContextVar("notes", default=None)


def note(**facts: object) -> None:
    """Add facts to the access line of the request at hand, if there is one."""
    notes = _notes.get()
    if notes is not None:
        notes.update(facts)


@contextmanager
def noting() -> Iterator[dict[str, object]]:
    """Collect what is noted inside the block; its threads must copy the context."""
    notes: dict[str, object] = {}
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


class HeldLines:
    """Lines that wait until a reply has left."""

    def __init__(self) -> None:
        self._records: list[logging.LogRecord] = []

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold every line from inside the block; its threads must copy the context."""
        token = _held.set(self._records)
        try:
            yield
        finally:
            _held.reset(token)

    def write(self) -> None:
        """Write what was held, as of now."""
        records, self._records[:] = list(self._records), []
        for record in records:
            for handler in logging.getLogger().handlers:
                if isinstance(handler, SlotHandler):
                    handler.write(record)


class SlotHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes lines, or holds them where a request asks for it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line, unless it has to wait."""
        held = _held.get()
        if held is None:
            super().emit(record)
        else:
            held.append(record)

    def write(self, record: logging.LogRecord) -> None:
        """Write a line that waited."""
        with self.lock or threading.RLock():
            super().emit(record)


def configure_logs(level: str) -> None:
    """Send every log line of this process through the allow-list, to standard error.

    Also what Python writes by itself when a thread or the program dies of an error.
    """
    handler = SlotHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                allow_listed,
                structlog.processors.JSONRenderer(serializer=json.dumps),
            ],
            use_get_message=False,
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    logging.raiseExceptions = False  # a line that cannot be written is not shown raw
    sys.excepthook = _on_death
    sys.unraisablehook = lambda hook: _on_death(hook.exc_type, None, None)
    threading.excepthook = lambda hook: _on_death(hook.exc_type, None, None)


def allow_listed(
    _: object, __: str, event: MutableMapping[str, object]
) -> Mapping[str, object]:
    """Keep what is on the list and of the right form; everything else is dropped."""
    record = event.get("_record")
    if not isinstance(record, logging.LogRecord):
        return {"event": "unknown", "level": "error"}
    line: dict[str, object] = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "level": record.levelname.lower(),
        "event": _event(record),
    }
    if not _is_own(record):
        line["place"] = f"{record.name}:{record.module}:{record.lineno}"[:MAX_EVENT]
        return line
    facts = vars(record)
    line |= {key: facts[key] for key in _ALLOWED if _fits(key, facts.get(key))}
    if record.exc_info and record.exc_info[0]:
        line["error"] = record.exc_info[0].__name__
    return line


def _fits(key: str, value: object) -> bool:
    return value is not None and _ALLOWED[key](value)


def _event(record: logging.LogRecord) -> str:
    return str(record.msg)[:MAX_EVENT] if _is_own(record) else "library"


def _is_own(record: logging.LogRecord) -> bool:
    return record.name == OWN or record.name.startswith(OWN + ".")


def _matches(pattern: str, value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _on_death(kind: type[BaseException], _: object, __: object) -> None:
    """Say that something died, of what type; never with what words."""
    if not issubclass(kind, SystemExit | KeyboardInterrupt):
        logging.getLogger(OWN).error("died", extra={"error": kind.__name__})
