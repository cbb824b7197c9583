"""Connections that ask nothing make room, and none keeps a server waiting for long."""

import asyncio
import contextlib
import resource
import socket
import ssl
import threading
import time

import httpx
import pytest
import uvicorn

import server.processes.connections
from server.processes.connections import (
    MOST_CONNECTIONS,
    Connections,
    connections_that_fit,
)
from tests.support.certificates import certificate
from tests.support.installations.harness import free_port

MOST, SECONDS = 20, 0.5


HELD, GO_ON = [], threading.Event()
"""Requests that are served until they may go on."""


async def app(scope, receive, send):
    """Reply with two bytes, with many (``/big``), or after a while (``/slow``)."""
    if scope["path"] == "/held":
        HELD.append(scope)
        while not GO_ON.is_set():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(0.01)
    if scope["path"] == "/body":
        while (await receive()).get("more_body"):
            pass
    if scope["path"] == "/slow":
        await asyncio.sleep(2 * SECONDS)
    body = b"x" * (8_000_000 if scope["path"] == "/big" else 2)
    length = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": body})


@contextlib.contextmanager
def served(most=MOST, seconds=SECONDS, reading=SECONDS, **more):
    connections = Connections(most, request_seconds=seconds, reading_seconds=reading)
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=free_port(),
        http=connections.protocol(),
        loop="asyncio",
        lifespan="off",
        timeout_graceful_shutdown=2,
        log_level="error",
        **more,
    )
    runner = uvicorn.Server(config)
    sockets = [connections.listener(config.bind_socket())]
    thread = threading.Thread(target=lambda: runner.run(sockets=sockets), daemon=True)
    thread.start()
    while not runner.started:
        time.sleep(0.01)
    try:
        yield config.port
    finally:
        runner.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def opened():
    """Return what opens connections, says something on each, and closes all at last."""
    with contextlib.ExitStack() as held:

        def open_all(port, count, said=b""):
            at = ("127.0.0.1", port)
            found = [
                held.enter_context(socket.create_connection(at, 10))
                for _ in range(count)
            ]
            for one in found:
                with contextlib.suppress(OSError):  # it made room already
                    one.sendall(said)
            return found

        yield open_all


@contextlib.contextmanager
def held_requests(port, count):
    """Have so many requests served within the block; lend what is answered at last."""
    GO_ON.clear()
    HELD.clear()
    answers = []

    def ask():
        answers.append(httpx.get(f"http://127.0.0.1:{port}/held", timeout=120).text)

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        while len(HELD) < count:
            time.sleep(0.01)
        yield answers
    finally:
        GO_ON.set()
        for thread in threads:
            thread.join(60)


def is_ended(one, seconds):
    one.settimeout(seconds)
    try:
        return one.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def are_ended(idle, least):
    """Whether so many of them are ended within twenty seconds."""
    until = time.monotonic() + 20
    left = list(idle)
    while len(idle) - len(left) < least and time.monotonic() < until:
        left = [one for one in left if not is_ended(one, 0.01)]
    return len(idle) - len(left) >= least


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_idle_connections_make_room_for_whoever_asks(said, opened):
    with served(seconds=60) as port:
        idle = opened(port, 20 * MOST, said)
        for _ in range(3):
            assert httpx.get(f"http://127.0.0.1:{port}/", timeout=60).text == "xx"
        assert are_ended(idle, 19 * MOST)
        assert not any(is_ended(one, 0.01) for one in idle[-MOST + 4 :])


def test_handshakes_that_nobody_begins_make_room_too(tmp_path, opened):
    public, private = certificate(tmp_path)
    with served(seconds=60, ssl_certfile=public, ssl_keyfile=private) as port:
        idle = opened(port, 10 * MOST)
        trusted = ssl.create_default_context(cafile=public)
        url = f"https://127.0.0.1:{port}/"
        assert httpx.get(url, verify=trusted, timeout=60).text == "xx"
        assert are_ended(idle, 9 * MOST)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_a_connection_sends_its_request_in_time(said, opened):
    with served() as port:
        (one,) = opened(port, 1, said)
        assert is_ended(one, 20)


def test_what_is_served_is_not_ended(opened):
    with served() as port, held_requests(port, 1) as answers:
        opened(port, 5 * MOST)
        time.sleep(2 * SECONDS)
    assert answers == ["xx"]


def test_a_kept_connection_goes_on_asking():
    with (
        served() as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        for _ in range(4):
            assert http.get("/slow").text == "xx"


def test_who_does_not_read_is_ended_and_who_reads_gets_all(opened):
    with served() as port:
        (one,) = opened(port, 1, b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(3 * SECONDS)
        one.settimeout(20)
        read = 0
        with contextlib.suppress(ConnectionError):
            while some := one.recv(2**20):
                read += len(some)
        assert read < 8_000_000
        assert (
            len(httpx.get(f"http://127.0.0.1:{port}/big", timeout=60).content)
            == 8_000_000
        )


@pytest.mark.parametrize("of_tls", [False, True])
def test_who_reads_slowly_gets_all(opened, tmp_path, of_tls):
    """A reply is handed on whole: its end is not when its client has taken it."""
    public, private = certificate(tmp_path)
    files = {"ssl_certfile": public, "ssl_keyfile": private} if of_tls else {}
    with contextlib.ExitStack() as held:
        port = held.enter_context(served(reading=5, **files))
        (one,) = opened(port, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        if of_tls:
            trusted = ssl.create_default_context(cafile=public)
            one = held.enter_context(
                trusted.wrap_socket(one, server_hostname="127.0.0.1")
            )
        one.sendall(b"GET /big HTTP/1.0\r\nHost: x\r\n\r\n")
        read, began = 0, time.monotonic()
        while some := one.recv(65_536):
            read += len(some)
            time.sleep(max(0, began + read / 1_200_000 - time.monotonic()))
        assert read > 8_000_000
        assert time.monotonic() - began > 5


def test_who_goes_on_reading_makes_no_room(opened):
    """Of those that wait, it took a part of its reply last."""
    with served(seconds=60, reading=60) as port:
        (one,) = opened(port, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        one.sendall(b"GET /big HTTP/1.0\r\nHost: x\r\n\r\n")
        read = 0
        while some := one.recv(65_536):
            read += len(some)
            opened(port, 1)  # idle; twenty are kept
            time.sleep(0.01)
        assert read > 8_000_000


def test_what_is_refused_and_not_read_is_ended_too(opened):
    with served() as port:
        (one,) = opened(port, 1, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 20_000)
        chunk = (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n"
        )
        with contextlib.suppress(OSError):
            one.sendall(chunk)
        time.sleep(6 * SECONDS)
        one.settimeout(20)
        with contextlib.suppress(ConnectionError):
            while one.recv(2**20):
                pass


def test_a_closed_connection_of_tls_stops_nobody_from_looking(opened, tmp_path):
    """Its transport knows nothing any more: one such kept all others for ever."""
    public, private = certificate(tmp_path)
    chunked = b"Transfer-Encoding: chunked\r\n\r\nZZZ\r\n"
    trusted = ssl.create_default_context(cafile=public)
    with contextlib.ExitStack() as held:
        port = held.enter_context(served(ssl_certfile=public, ssl_keyfile=private))
        (plain,) = opened(port, 1)
        one = trusted.wrap_socket(plain, server_hostname="127.0.0.1")
        held.enter_context(one)
        one.sendall(b"POST /body HTTP/1.1\r\nHost: x\r\n" + chunked)
        time.sleep(4 * SECONDS)
        assert all(is_ended(idle, 20) for idle in opened(port, 3))


def test_who_does_not_read_makes_room_before_who_came_later(opened, monkeypatch):
    monkeypatch.setattr(server.processes.connections, "_LOOK_SECONDS", 0.05)
    with served(seconds=60, reading=60) as port:
        first = opened(port, MOST - 1, b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(4 * SECONDS)  # until looks find that they take no more
        later = opened(port, MOST // 2)
        time.sleep(SECONDS)
        assert not any(is_ended(one, 0.01) for one in later)
        for one in first:
            one.close()
        time.sleep(SECONDS)


def test_a_body_that_does_not_come_makes_room_and_is_ended(opened):
    said = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
    with served(seconds=60) as port:
        idle = opened(port, 5 * MOST, said.replace(b"POST /", b"POST /body"))
        assert httpx.get(f"http://127.0.0.1:{port}/", timeout=60).text == "xx"
        assert are_ended(idle, 4 * MOST)
        for one in idle:
            one.close()
    with served() as port:
        (one,) = opened(port, 1, said.replace(b"POST /", b"POST /body"))
        assert is_ended(one, 20)


def test_what_is_of_tls_alone_ends_a_connection(opened, tmp_path):
    """A message of 128 KiB that begins TLS: nobody says hello at such length."""
    public, private = certificate(tmp_path)
    part = b"\x16\x03\x01\x40\x00"  # a record of 16 KiB
    hello = b"\x01\x01\xff\xff" + bytes(16_380)
    with served(seconds=60, ssl_certfile=public, ssl_keyfile=private) as port:
        (one,) = opened(port, 1, part + hello)
        assert not is_ended(one, 0.5)
        with contextlib.suppress(ConnectionError):
            one.sendall((part + bytes(16_384)) * 3)
        assert is_ended(one, 30)


def test_tls_may_be_so_much_more_than_what_it_holds():
    here, there = socket.socketpair()
    with here, there:
        accepted = server.processes.connections._Accepted(fileno=here.detach())
        accepted.connections = Connections(1)
        there.sendall(bytes(40_000))
        assert accepted.recv_into(bytearray(32_768)) == 32_768
        accepted.plain += 100
        assert accepted.recv_into(bytearray(800)) == 800
        with pytest.raises(ConnectionAbortedError):
            accepted.recv_into(bytearray(1))
        accepted.close()


def test_where_all_are_served_a_new_one_is_closed(opened):
    with served(most=2) as port, held_requests(port, 2) as answers:
        (one,) = opened(port, 1)
        assert is_ended(one, 60)
    assert answers == ["xx", "xx"]


def test_connections_leave_files_to_the_rest(monkeypatch):
    limits = {"now": (1_024, 4_096)}
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(
        resource, "setrlimit", lambda _, wanted: limits.update(now=wanted)
    )
    assert connections_that_fit() == MOST_CONNECTIONS
    assert limits["now"] == (4_096, 4_096)
    limits["now"] = (1_024, 1_024)
    assert connections_that_fit() == 1_024 - 256
    limits["now"] = (100, 100)
    assert connections_that_fit() == 16
