"""Open connections: how many there are, and how long they may keep a server waiting.

Nobody needs a key to connect, so connections that ask nothing must cost nobody
anything: one that sends no whole request in time is ended, as is one that does not read
its reply, and beyond the most that there may be, the one that waits longest makes room.
Times here are those of the network alone; none follows from what is asked.
"""

import asyncio
import contextlib
import resource
import socket
from dataclasses import dataclass, field
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST_CONNECTIONS: Final = 2_000
"""Of one process: of each at most 64 KiB of a header are held."""

REQUEST_SECONDS: Final = 10.0
"""In which a connection sends the whole header of a request; a body has 10 s more."""

READING_SECONDS: Final = 30.0
"""In which a client reads so much of its reply that more can be sent."""

_RESERVED_FILES: Final = 256  # that connections leave to snapshots, ledger and pipes
_MOST_FILES: Final = 65_536
_LEAST_CONNECTIONS: Final = 16
_MOST_AT_ONCE: Final = 32  # accepted in one turn of the loop


def connections_that_fit(most: int = MOST_CONNECTIONS) -> int:
    """Raise this process's limit of files; return how many connections it holds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    infinity = resource.RLIM_INFINITY
    wanted = _MOST_FILES if hard == infinity else min(hard, _MOST_FILES)
    if soft != infinity and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # as the system forbids
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    files = _MOST_FILES if soft == infinity else soft
    return max(_LEAST_CONNECTIONS, min(most, files - _RESERVED_FILES))


@dataclass(slots=True)
class Connections:
    """The connections of one process, from when they are accepted.

    Attributes:
        most: So many are open at once.
        request_seconds: In which each sends a request.
        reading_seconds: In which each reads what was sent to it.
    """

    most: int
    request_seconds: float = REQUEST_SECONDS
    reading_seconds: float = READING_SECONDS
    _open: dict[int, "_Accepted"] = field(default_factory=dict)
    _waiting: dict[int, asyncio.TimerHandle] = field(default_factory=dict)

    def listener(self, bound: socket.socket) -> socket.socket:
        """Return what accepts connections in the place of a bound socket."""
        found = _Listener(fileno=bound.detach())
        found.connections = self
        return found

    def protocol(self) -> type[asyncio.Protocol]:
        """Return what speaks HTTP on them."""
        return type("_NotedProtocol", (_Protocol,), {"noted": self})

    def add(self, accepted: "_Accepted") -> None:
        """Note a new connection; another one makes room, if it must.

        Raises:
            ConnectionAbortedError: All are being served; the new one is closed.
        """
        self._open[accepted.fileno()] = accepted
        self.wait(accepted.fileno())
        if len(self._open) > self.most:
            longest = next(iter(self._waiting))
            self.end(longest)
            if longest == accepted.fileno():
                accepted.close()
                raise ConnectionAbortedError

    def is_overfull(self) -> bool:
        """Whether those that made room are still to be closed."""
        return len(self._open) >= self.most + _MOST_AT_ONCE

    def wait(self, number: int) -> None:
        """Note that a connection has to send a request; it may know so already."""
        if number in self._open and number not in self._waiting:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(self.request_seconds, self.end, number)
            self._waiting[number] = timer

    def serve(self, number: int) -> None:
        """Note that a connection's request is being served."""
        timer = self._waiting.pop(number, None)
        if timer is not None:
            timer.cancel()

    def end(self, number: int) -> None:
        """End a connection: whoever speaks on it finds that nobody is there."""
        self.serve(number)
        accepted = self._open.get(number)
        if accepted is not None:
            with contextlib.suppress(OSError):  # it has gone
                accepted.shutdown(socket.SHUT_RDWR)

    def forget(self, number: int) -> None:
        """Note that a connection is closed."""
        self.serve(number)
        self._open.pop(number, None)


class _Listener(socket.socket):
    connections: Connections
    _taken = 0

    def accept(self) -> tuple[socket.socket, Any]:
        if self._taken >= _MOST_AT_ONCE or self.connections.is_overfull():
            raise BlockingIOError  # those that made room are closed meanwhile
        if self._taken == 0:
            asyncio.get_running_loop().call_soon(self._take_anew)
        self._taken += 1
        plain, address = super().accept()
        accepted = _Accepted(fileno=plain.detach())
        accepted.connections = self.connections
        self.connections.add(accepted)
        return accepted, address

    def _take_anew(self) -> None:
        self._taken = 0


class _Accepted(socket.socket):
    connections: Connections

    def close(self) -> None:
        if self.fileno() >= 0:
            self.connections.forget(self.fileno())
        super().close()


class _Protocol(H11Protocol):
    """HTTP on a connection, which is noted to wait or to be served."""

    noted: Connections
    _number = -1
    _unread: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override] # as the base does
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self._number = transport.get_extra_info("socket").fileno()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_reading_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_reading_timer()
        seconds = self.noted.reading_seconds
        self._unread = self.loop.call_later(seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_reading_timer()
        super().resume_writing()

    def _stop_reading_timer(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _note(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self.noted.serve(self._number)
        else:
            self.noted.wait(self._number)
