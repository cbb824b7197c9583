"""Servers in processes that are started fast, killed hard, and asked byte by byte."""

import contextlib
import json
import os
import signal
import socket
import time
from dataclasses import dataclass, field

from tests.support.installations.harness import free_port
from tests.support.installations.warm import WARM

READY_SECONDS = 60


class Nursery:
    """Forks servers from one warm process; see ``tests.crash.instruments.zygote``."""

    def start(self, installation, environment=None, *, worker=False):
        """Serve an installation; return once it is ready."""
        port = free_port()
        beside = "--worker" if worker else "--no-worker"
        arguments = ["serve", beside, "--port", str(port)]
        pid = self._fork(installation, environment, arguments=arguments)
        server = ServerProcess(pid, port)
        server.wait_until_ready()
        return server

    def start_worker(self, installation, **lease):
        """Run an installation's jobs; return at once."""
        return ServerProcess(self._fork(installation, lease=lease), 0)

    def _fork(self, installation, environment=None, **order):
        names = {
            name: value
            for name, value in installation.environment.items()
            if name.startswith("CURATOR_")
        }
        order["environment"] = {**names, **(environment or {})}
        order["log"] = str(installation.folder / "server.log")
        return WARM.fork(order)

    @contextlib.contextmanager
    def serving(self, installation, **more):
        """Serve for the length of a block, then end the whole group."""
        server = self.start(installation, **more)
        try:
            yield server
        finally:
            server.kill()


@dataclass
class ServerProcess:
    """One running ``curator serve``, or worker, and its group."""

    pid: int
    port: int

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def alive(self):
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def wait_until_ready(self):
        """Wait for 200 of /readyz.

        Raises:
            RuntimeError: The process ended, or took too long.
        """
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if not self.alive:
                message = "the server ended at its start; see server.log"
                raise RuntimeError(message)
            if get(self.port, "/readyz") == 200:
                return
            time.sleep(0.01)
        message = "the server did not become ready"
        raise RuntimeError(message)

    def ask_to_end(self):
        """Send SIGTERM to the process alone, and wait until it is gone."""
        os.kill(self.pid, signal.SIGTERM)
        self._wait_until_gone()

    def kill_alone(self):
        """SIGKILL the process, but none of its children."""
        os.kill(self.pid, signal.SIGKILL)
        self._wait_until_gone()

    def kill(self):
        """SIGKILL the whole group, and wait until its leader is gone."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._wait_until_gone()

    def _wait_until_gone(self):
        deadline = time.monotonic() + 30
        while self.alive and time.monotonic() < deadline:
            time.sleep(0.001)


def get(port, path):
    """Return the status of a GET, None where nobody listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as held:
            held.sendall(
                f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
            )
            return int(held.recv(64).split()[1])
    except (OSError, IndexError):
        return None


def becomes(port, path, status):
    """Whether a GET brings this status soon: readiness is looked at each second."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if get(port, path) == status:
            return True
        time.sleep(0.05)
    return False


@dataclass(frozen=True)
class Response:
    """What came back, whole."""

    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


@dataclass
class Line:
    """One connection that asks question after question, as bytes."""

    port: int
    key: str
    timeout: float = 60
    reconnects: bool = False  # where no server is killed, a closed line was idle
    _held: socket.socket | None = None
    _rest: bytes = b""
    _whole: bytes = field(default=b"", repr=False)

    def hold(self, body=None, *, idempotency_key=None, dataset="clinic"):
        """Send a question but for its last byte; ``body`` is JSON or bytes."""
        if body is None:
            body = question()
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        extra = (
            "" if idempotency_key is None else f"Idempotency-Key: {idempotency_key}\r\n"
        )
        head = (
            f"POST /v1/datasets/{dataset}/queries HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {self.key}\r\nContent-Type: application/json\r\n"
            f"{extra}Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        self._whole = head + body
        if self._held is None:
            self._connect()
        try:
            self._held.sendall(self._whole[:-1])
        except ConnectionError:  # kept alive for too long
            self._reconnect()
            self._held.sendall(self._whole[:-1])
        return self

    def _reconnect(self):
        if not self.reconnects:
            raise ConnectionError
        self._connect()

    def _connect(self):
        if self._held is not None:
            self._held.close()
        self._held = socket.create_connection(
            ("127.0.0.1", self.port), timeout=self.timeout
        )
        self._held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def release(self):
        """Send the last byte: now the question has arrived."""
        try:
            self._held.sendall(self._whole[-1:])
        except ConnectionError:  # it closed before the question was whole: ask anew
            self._reconnect()
            self._held.sendall(self._whole)
        return self

    def read(self):
        """Return the response; None where the connection broke before its end."""
        try:
            return self._read()
        except (ConnectionError, _CutShort):
            return None

    def _read(self):
        while b"\r\n\r\n" not in self._rest:
            self._more()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        length = int(headers["content-length"])
        while len(self._rest) < length:
            self._more()
        body, self._rest = self._rest[:length], self._rest[length:]
        return Response(int(first.split()[1]), headers, body)

    def _more(self):
        received = self._held.recv(65536)
        if not received:
            raise _CutShort
        self._rest += received

    def ask(self, body=None, **more):
        """Ask, and wait for the response."""
        return self.hold(body, **more).release().read()

    def insist(self, body=None, **more):
        """Ask again while the key's first request is being answered."""
        deadline = time.monotonic() + READY_SECONDS
        response = self.ask(body, **more)
        while response is not None and response.status == 409:
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
            response = self.ask(body, **more)
        return response

    def close(self):
        """Hang up, at whatever point."""
        if self._held is not None:
            self._held.close()
            self._held = None
            self._rest = b""


class _CutShort(Exception):  # noqa: N818 - it never leaves this file
    """The connection ended inside a response."""


@contextlib.contextmanager
def lines(port, key, count):
    """Hold ``count`` connections."""
    held = [Line(port, key) for _ in range(count)]
    try:
        yield held
    finally:
        for line in held:
            line.close()


def question(epsilon="1", sql="SELECT COUNT(*) FROM visits", reuse="never", **more):
    """Return the body of a question."""
    return {"sql": sql, "epsilon": epsilon, "options": {"reuse": reuse}, **more}
