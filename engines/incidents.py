"""Counts of executions that failed: the operator's alarm, never an analyst's."""

import logging
from threading import Lock
from typing import Final

KILLED: Final = "Killed"
"""An executor that the system ended, which it does where memory runs out."""
CRASHED: Final = "Crashed"
TIMED_OUT: Final = "TimeoutError"

LIMITS: Final = frozenset(
    {"OutOfMemoryException", "MemoryError", KILLED, "InterruptException", TIMED_OUT}
)
"""What is raised where the memory limit or the deadline was met, by name."""

_log = logging.getLogger("curator.engine")


class Incidents:
    """How many executions failed, and how many of them met a limit."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.failed = 0
        self.at_limit = 0

    def count(self, name: str) -> None:
        """Count one failure and log its kind.

        Args:
            name: Of the kind of error; its words may quote a value, and stay behind.
        """
        is_limit = name in LIMITS
        with self._lock:
            self.failed += 1
            self.at_limit += is_limit
        if is_limit:
            _log.error("execution met a limit", extra={"error": name})
        else:
            _log.error("execution failed", extra={"error": name})
