"""What readyz says: found beside the requests, so that asking touches nothing.

A request reads what the last check found. It takes no lock and no thread that work on
questions holds, so how long it takes tells nothing of that work (PRIVACY 6).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from privacy.errors import CuratorError, ExecutionError

OK = "ok"
STALE_SECONDS = 60.0
"""A check that has told nothing for so long is held up: nothing can be answered."""
_log = logging.getLogger("curator")


class ExecutorUnavailableError(CuratorError):
    """No process can execute a question; nothing was charged."""

    code = "executor_unavailable"

    def __init__(self) -> None:
        super().__init__("no question can be executed now; see 'curator doctor'")


@dataclass(slots=True)
class Check:
    """One thing that must hold for questions to be answered.

    Attributes:
        run: Raises a CuratorError where it does not hold; its code is shown.
        every_seconds: How long to wait between two runs.
        until_run: What is shown before the first run, and when runs are held up.
        found: ``OK``, or the code of what is wrong.
        at: When that was found, on the monotonic clock.
    """

    run: Callable[[], None]
    every_seconds: float
    until_run: str
    found: str = field(default="", init=False)
    at: float = field(default=-STALE_SECONDS, init=False)

    def look(self) -> None:
        """Run once, and keep what was found."""
        try:
            self.run()
        except ExecutionError:
            found = ExecutorUnavailableError.code
        except CuratorError as error:
            found = error.code
        except Exception as error:  # noqa: BLE001 - its words could quote anything
            facts = {"error": type(error).__name__}
            _log.error("a check of readiness met a bug", extra=facts)
            found = self.until_run
        else:
            found = OK
        self.found, self.at = found, time.monotonic()

    def state(self) -> str:
        """Return what was found last."""
        is_stale = time.monotonic() - self.at >= STALE_SECONDS
        return self.until_run if is_stale else self.found


class Readiness:
    """Named checks, each run in a thread at a fixed interval of its own."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = tuple(checks)

    def state(self) -> str:
        """Return ``OK``, or the code of the first check that does not hold."""
        states = (check.state() for check in self._checks)
        return next((state for state in states if state != OK), OK)

    def unready(self) -> dict[str, int]:
        """Return what could be wrong, by its code: 1 where it is, else 0."""
        states = [check.state() for check in self._checks]
        could_be = dict.fromkeys((check.until_run for check in self._checks), 0)
        return could_be | {state: 1 for state in states if state != OK}

    def look(self) -> None:
        """Run every check once."""
        for check in self._checks:
            check.look()

    async def watch(self) -> None:
        """Run every check at its interval, until cancelled."""
        await asyncio.gather(*(_repeat(check) for check in self._checks))


async def _repeat(check: Check) -> None:
    while True:
        await asyncio.sleep(check.every_seconds)
        await asyncio.to_thread(check.look)
