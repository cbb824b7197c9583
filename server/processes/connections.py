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
from asyncio.sslproto import SSLProtocol
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from server.processes.framing import BoundedRequests

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

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
_MOST_ENCIPHERED: Final = 32_768  # bytes before any of a request; a record has 16 KiB
_MOST_AROUND: Final = 8  # bytes of TLS for each of requests
_TLS_BUFFER: Final = 4_096  # of each connection, and read at once; asyncio has 256 KiB
_FED_AT_ONCE: Final = 4_096  # bytes, so that what is too much is seen before it is read
_WITH_BODY: Final = 2.5  # times as long as a header alone
_LOOK_SECONDS: Final = 1.0
_ENDING_SECONDS: Final = 5.0  # until who is told to end is cut off


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

    A connection is served, or it is idle: it waits for bytes of a request, or for its
    client to take those of a reply. Whoever is served is never ended.

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
        self._idle: dict[int, _Idle] = {}  # who is idle for longest first
        self._ending: dict[int, float] = {}  # since when, until they are closed
        self._looks = False

    def listener(self, bound: socket.socket) -> socket.socket:
        """Return what accepts connections in the place of a bound socket."""
        SSLProtocol.max_size = _TLS_BUFFER
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
        if len(self._open) - len(self._ending) > self.most:
            longest = self._longest_idle()
            if longest is None:
                accepted.close()
                raise ConnectionAbortedError
            self.end(longest)
        self._idle[number] = _Idle(asyncio.get_running_loop().time())
        if not self._looks:
            self._look_later()

    def _longest_idle(self) -> int | None:
        """Return who is idle for longest, also by what the system holds now."""
        for number in list(self._idle):
            protocol = self._speaking.get(number)  # none while TLS begins
            if protocol is not None:
                self.note(number, protocol)
            if next(iter(self._idle), None) == number:
                return number
        return next(iter(self._idle), None)  # each has just taken a part of its reply

    def is_overfull(self) -> bool:
        """Whether those that made room are still to be closed."""
        return len(self._open) >= self.most + _MOST_AT_ONCE

    def speak(self, number: int, protocol: "_Protocol") -> None:
        """Note what speaks on a connection."""
        self._speaking[number] = protocol

    def took(self, number: int, count: int) -> None:
        """Note bytes of requests that came on a connection."""
        if number in self._open:
            self._open[number].plain += count

    def note(self, number: int, protocol: "_Protocol") -> None:
        """Note whether a connection is served now, or idle."""
        if self._speaking.get(number) is not protocol:  # it is gone, and another came
            return
        if number in self._ending:
            return
        unread = protocol.buffered() + _sent(number)
        if protocol.is_served() and unread < _LEAST_READ:  # the rest is on its way
            self._idle.pop(number, None)
            return
        now = asyncio.get_running_loop().time()
        idle = self._idle.setdefault(number, _Idle(now))
        if idle.has_moved(unread, now):
            self._idle[number] = self._idle.pop(number)

    def end(self, number: int) -> None:
        """End a connection: whoever speaks on it finds that nobody is there."""
        self._idle.pop(number, None)
        accepted, protocol = self._open.get(number), self._speaking.get(number)
        self._ending.setdefault(number, asyncio.get_running_loop().time())
        with contextlib.suppress(OSError):  # it has gone
            if accepted is not None:
                accepted.shutdown(socket.SHUT_RDWR)
        if protocol is not None and protocol.buffered():
            protocol.transport.abort()

    def forget(self, number: int) -> None:
        """Note that a connection is closed."""
        for known in (self._open, self._speaking, self._idle, self._ending):
            known.pop(number, None)

    def _look_later(self) -> None:
        self._looks = True
        seconds = min(_LOOK_SECONDS, self._request_seconds / 4)
        asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """End those that keep the server waiting, and look again while any is open."""
        now = asyncio.get_running_loop().time()
        try:
            for number, protocol in list(self._speaking.items()):
                self.note(number, protocol)
                if now - self._ending.get(number, now) > _ENDING_SECONDS:
                    protocol.transport.abort()
            for number, idle in list(self._idle.items()):
                if now - idle.moved > self._seconds(number, idle):
                    self.end(number)
        finally:
            self._looks = False
            if self._open:
                self._look_later()

    def _seconds(self, number: int, idle: "_Idle") -> float:
        """Return for how long a connection may be idle as it is."""
        if idle.unread:
            return self._reading_seconds
        protocol = self._speaking.get(number)  # none while TLS begins
        has_header = protocol is not None and protocol.cycle_runs()
        return self._request_seconds * (_WITH_BODY if has_header else 1)


@dataclass(slots=True)
class _Idle:
    """What a connection that is not served waits for.

    Attributes:
        moved: When it last took a part of its reply, or all of it; else since when it
            is idle.
        unread: Bytes of a reply that its client has not taken.
    """

    moved: float
    unread: int = 0

    def has_moved(self, unread: int, now: float) -> bool:
        """Note how much is unread now; say whether it waits from now on.

        What grew was written after enough was taken.
        """
        has_taken = unread <= self.unread - _LEAST_READ or (self.unread and not unread)
        if unread > self.unread or has_taken:
            self.unread, self.moved = unread, now
            return True
        return False


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
    """A connection, of which TLS may be little more than what requests need.

    Attributes:
        connections: It is one of these.
        enciphered: Bytes of TLS that were received.
        plain: Bytes of requests that were in them.
    """

    connections: Connections
    enciphered = 0
    plain = 0

    def recv_into(
        self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0
    ) -> int:
        """Receive bytes of TLS.

        Raises:
            ConnectionAbortedError: They are of nothing: each new key that a client
                asks for is answered, and thousands of them are a few KiB.
        """
        taken = super().recv_into(buffer, nbytes, flags)
        self.enciphered += taken
        if self.enciphered > _MOST_ENCIPHERED + _MOST_AROUND * self.plain:
            raise ConnectionAbortedError
        return taken

    def close(self) -> None:
        if self.fileno() >= 0:
            self.connections.forget(self.fileno())
        super().close()


class _Protocol(H11Protocol):
    """HTTP on a connection, which is noted to wait or to be served.

    What is costly to read is refused, and ends the connection.
    """

    noted: Connections
    conn: BoundedRequests
    _number = -1

    def connection_made(  # type: ignore[override] # as the base does
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self.conn = BoundedRequests()
        self._number = transport.get_extra_info("socket").fileno()
        self.noted.speak(self._number, self)

    def data_received(self, data: bytes) -> None:
        self.noted.took(self._number, len(data))
        for start in range(0, len(data), _FED_AT_ONCE):
            super().data_received(data[start : start + _FED_AT_ONCE])
            if self._is_closing():
                break  # the request is refused: what follows is not read
        self.noted.note(self._number, self)

    def send_400_response(self, msg: str) -> None:
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(self.conn.refusal or msg)
        else:  # its reply has begun, or is there
            self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.noted.note(self._number, self)

    def cycle_runs(self) -> bool:
        """Whether a request's header has come, and its reply is not whole."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def is_served(self) -> bool:
        """Whether a request has come whole, and its reply is still to be made."""
        is_sending = self.conn.their_state is h11.SEND_BODY
        return self.cycle_runs() and not is_sending and not self._is_closing()

    def _is_closing(self) -> bool:
        try:
            return self.transport.is_closing()
        except AttributeError:  # TLS that is closed
            return True

    def buffered(self) -> int:
        """Return what is to be handed to the system, as far as that is known.

        Of TLS what is below it is not told, nor anything once it is closed.
        """
        try:
            return self.transport.get_write_buffer_size()
        except AttributeError:
            return 0
