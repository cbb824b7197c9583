"""Connections to PostgreSQL that give up a server which says nothing.

The kernel of a frozen server acknowledges what is sent, so no timeout of TCP fires, and
a server that does not run ends no statement either: only the client can.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen

Clock = Callable[[], float]
Seconds = Callable[[], float | None]


class SilentError(Exception):
    """Nothing was heard for too long."""


class SilenceWatchedConnection(psycopg.Connection[Any]):
    """A connection that closes itself where a statement brings nothing for too long."""

    silent_seconds: Seconds = staticmethod(lambda: None)

    def wait(self, gen: PQGen[RV], *args: Any, **more: Any) -> RV:  # noqa: ANN401 - as psycopg's
        """Wait as any connection does, but not for ever.

        Raises:
            OperationalError: Nothing came; whether a commit came through is unknown.
        """
        seconds = self.silent_seconds()
        if seconds is None:
            return super().wait(gen, *args, **more)
        try:
            return super().wait(heard(gen, seconds), *args, **more)
        except SilentError:
            self.close()
            message = f"the server said nothing for {seconds:g} seconds"
            raise psycopg.OperationalError(message) from None


def connect_bounded(
    arguments: Sequence[Any], options: Mapping[str, Any], silent_seconds: Seconds
) -> SilenceWatchedConnection:
    """Return a connection; ``silent_seconds`` is asked at each statement."""
    connection = SilenceWatchedConnection.connect(*arguments, **options)
    connection.silent_seconds = silent_seconds
    return connection


def heard(gen: PQGen[RV], seconds: float, clock: Clock = time.monotonic) -> PQGen[RV]:
    """Do what a generator of psycopg does, unless nothing is heard for so long.

    It is woken now and then though nothing came: by a state that is false.

    Raises:
        SilentError: Nothing was.
    """
    last = clock()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                last = clock()
            elif clock() - last > seconds:
                raise SilentError
            wanted = gen.send(ready)
    except StopIteration as ended:
        result: RV = ended.value
        return result
