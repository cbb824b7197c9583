"""Open connections: how many there are, and how long they may keep a server waiting.

Nobody needs a key to connect, so connections that ask nothing must cost nobody
anything: one that sends no whole request in time is ended, as is one that does not read
its reply, and beyond the most that there may be, the one that waits longest makes room.
Times here are those of the network alone; none follows from what is asked.
"""

import asyncio
import contextlib
import fcntl
import resource
import socket
import sys
import termios
from dataclasses import dataclass
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST_CONNECTIONS: Final = 2_000
"""Of one process: of each at most 64 KiB of a header are held."""

REQUEST_SECONDS: Final = 10.0
"""In which a connection sends the whole header of a request; a body has 10 s more."""

READING_SECONDS: Final = 30.0
"""In which a client takes 16 KiB of what its reply still has, or all of it."""

_RESERVED_FILES: Final = 256  # that connections leave to snapshots, ledger and pipes
_MOST_FILES: Final = 65_536
_LEAST_CONNECTIONS: Final = 16
_MOST_AT_ONCE: Final = 32  # accepted in one turn of the loop
_LEAST_READ: Final = 16_384
_WITH_BODY: Final = 2.5  # times as long as a header alone
_LOOK_SECONDS: Final = 1.0


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


class Connections:
    """The connections of one process, from when they are accepted.

    Each of them waits for a request's bytes, is served, or has bytes of a reply that
    its client has not taken. Whoever is served is never ended.

    Args:
        most: So many are open at once.
        request_seconds: In which each sends a request's header; with its body it has
            more than twice as long.
        reading_seconds: In which each takes a part of a reply, or all of it.
    """

    def __init__(
        self,
        most: int,
        request_seconds: float = REQUEST_SECONDS,
        reading_seconds: float = READING_SECONDS,
    ) -> None:
        self.most = most
        self._request_seconds = request_seconds
        self._reading_seconds = reading_seconds
        self._open: dict[int, _Accepted] = {}
        self._speaking: dict[int, _Protocol] = {}
        self._waiting: dict[int, float] = {}  # since when, who waits longest first
        self._unread: dict[int, _Unread] = {}
        self._looks = False

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
        number = accepted.fileno()
        self._open[number] = accepted
        self._waiting[number] = asyncio.get_running_loop().time()
        if not self._looks:
            self._look_later()
        if len(self._open) > self.most:
            others = (n for n in (*self._waiting, *self._unread) if n != number)
            longest = next(others, number)
            self.end(longest)
            if longest == number:
                accepted.close()
                raise ConnectionAbortedError

    def is_overfull(self) -> bool:
        """Whether those that made room are still to be closed."""
        return len(self._open) >= self.most + _MOST_AT_ONCE

    def speak(self, number: int, protocol: "_Protocol") -> None:
        """Note what speaks on a connection."""
        self._speaking[number] = protocol

    def note(self, number: int, protocol: "_Protocol") -> None:
        """Note whether a connection waits now, is served, or has what is not read."""
        now = asyncio.get_running_loop().time()
        if self._speaking.get(number) is not protocol:  # it is gone, and another came
            return
        left = protocol.transport.get_write_buffer_size()
        if left:
            self._waiting.pop(number, None)
            if number not in self._unread:
                self._unread[number] = _Unread(left + _sent(number), now)
            return
        self._unread.pop(number, None)
        if protocol.is_waiting():
            self._waiting.setdefault(number, now)
        else:
            self._waiting.pop(number, None)

    def end(self, number: int) -> None:
        """End a connection: whoever speaks on it finds that nobody is there."""
        self._waiting.pop(number, None)
        self._unread.pop(number, None)
        accepted = self._open.get(number)
        if accepted is not None:
            with contextlib.suppress(OSError):  # it has gone
                accepted.shutdown(socket.SHUT_RDWR)
        protocol = self._speaking.get(number)
        if protocol is not None and protocol.transport.get_write_buffer_size():
            protocol.transport.abort()

    def forget(self, number: int) -> None:
        """Note that a connection is closed."""
        for known in (self._open, self._speaking, self._waiting, self._unread):
            known.pop(number, None)

    def _look_later(self) -> None:
        self._looks = True
        seconds = min(_LOOK_SECONDS, self._request_seconds / 4)
        asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """End those that keep the server waiting, and look again while any is open."""
        now = asyncio.get_running_loop().time()
        for number, protocol in list(self._speaking.items()):
            self.note(number, protocol)
        for number, since in list(self._waiting.items()):
            asks = self._speaking.get(number)  # none while TLS begins
            more = _WITH_BODY if asks is not None and asks.cycle_runs() else 1
            if now - since > more * self._request_seconds:
                self.end(number)
        for number, unread in list(self._unread.items()):
            left = self._speaking[number].transport.get_write_buffer_size()
            if unread.moves(left + _sent(number), now) - now < -self._reading_seconds:
                self.end(number)
        self._looks = False
        if self._open:
            self._look_later()


@dataclass(slots=True)
class _Unread:
    """Bytes of a reply that were not taken: how many there were, and when."""

    left: int
    since: float

    def moves(self, left: int, now: float) -> float:
        """Return since when the client takes nothing, or next to nothing.

        What grew was written after the client had taken enough for it.
        """
        if left > self.left or left <= self.left - _LEAST_READ:
            self.left, self.since = left, now
        return self.since


def _sent(number: int) -> int:
    """Return how much of what was sent the client has not taken; 0 if nobody knows.

    Megabytes may be on their way: the system takes more only once a third is there.
    """
    found = bytearray(4)
    try:
        fcntl.ioctl(number, termios.TIOCOUTQ, found)
    except OSError:
        return 0
    return int.from_bytes(found, sys.byteorder)


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

    def connection_made(  # type: ignore[override] # as the base does
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self._number = transport.get_extra_info("socket").fileno()
        self.noted.speak(self._number, self)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.noted.note(self._number, self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.noted.note(self._number, self)

    def cycle_runs(self) -> bool:
        """Whether a request's header has come, and its reply is not whole."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def is_waiting(self) -> bool:
        """Whether bytes of a request are what is waited for, or nothing will come."""
        is_sending = self.conn.their_state is h11.SEND_BODY
        return not self.cycle_runs() or is_sending or self.transport.is_closing()
