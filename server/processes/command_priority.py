"""A command that works on rows leaves processors to a server, as jobs do.

How long a route without slots takes must not tell that, and how, rows are worked on
beside it (PRIVACY 6, "Other routes"). Where nobody serves, a load has the machine.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from budget.charging import server_processes
from budget.storage.databases import Databases
from engines.processes.processors import (
    Processors,
    keep_process_to,
    set_niceness,
    usable_processors,
)
from privacy.errors import CuratorError
from server.processes.job_worker import NICENESS

_LOOK_SECONDS = 1.0
_log = logging.getLogger("curator")


def is_served(databases: Databases) -> bool:
    """Return whether a server of this installation is up, or was seconds ago."""
    try:
        with (
            databases.unchecked(),
            databases.reader.connect() as connection,
        ):
            return bool(server_processes.serving(connection))
    except (CuratorError, SQLAlchemyError) as error:
        _log.warning("who serves is not known", extra={"error": type(error).__name__})
        return True


@contextmanager
def yielding_to_server(served: Callable[[], bool]) -> Iterator[None]:
    """Leave processors to a server from when there is one, to the end of a block.

    Args:
        served: Whether there is; asked at once, and every second until so.
    """
    usable, niceness = usable_processors(), os.getpriority(os.PRIO_PROCESS, 0)
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            if served():
                _yield_processors(usable)
                return

    looking = threading.Thread(target=look, daemon=True)
    if served():
        _yield_processors(usable)
    else:
        looking.start()
    try:
        yield
    finally:
        ended.set()
        if looking.ident is not None:
            looking.join()
        keep_process_to(usable)
        set_niceness(niceness)


def _yield_processors(usable: frozenset[int]) -> None:
    set_niceness(max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    keep_process_to(Processors.divided(usable).executors)
