"""Requests of thousands of lines or pieces are refused before they are read."""

import socket

import h11
import pytest

from server.processes.framing import (
    MOST_HEADER_BYTES,
    MOST_HEADER_LINES,
    MOST_PARAMETERS,
    MOST_PIECES,
    BoundedRequests,
)
from tests.unit.server.processes.test_connections import is_ended, served

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def events(wire, at_once=4_096):
    """Return the kinds of events, and how many bytes came before it was refused."""
    conn, found = BoundedRequests(), []
    for start in range(0, len(wire), at_once):
        conn.receive_data(wire[start : start + at_once])
        while True:
            try:
                event = conn.next_event()
            except h11.RemoteProtocolError:
                return [*found, "refused"], start
            if event is h11.NEED_DATA or event is h11.PAUSED:
                break
            found.append(type(event).__name__)
    return found, len(wire)


def test_a_header_has_so_many_lines_and_no_more():
    lines = b"a: b\r\n" * (MOST_HEADER_LINES - 2)
    assert events(GET + lines + b"\r\n")[0] == ["Request", "EndOfMessage"]
    assert events(GET + lines + b"a: b\r\n\r\n")[0] == ["refused"]
    assert events(GET + b"a:\n" * 60_000 + b"\r\n") == (["refused"], 0)
    assert events(GET + lines + b"a: b\r\n", at_once=1)[0] == ["refused"]


def test_lines_of_what_follows_are_not_counted():
    found, _ = events((GET + b"\r\n") * 100)
    assert found == ["Request", "EndOfMessage"]  # the next when this has its reply
    body = b"\n" * 4_000
    length = b"Content-Length: 4000\r\n\r\n"
    assert events(b"POST / HTTP/1.1\r\nHost: x\r\n" + length + body)[0][-1] == (
        "EndOfMessage"
    )


def test_a_long_header_is_refused_before_it_is_there():
    wire = GET + b"a: " + b"b" * 300_000 + b"\r\n\r\n"
    found, read = events(wire)
    assert found == ["refused"]
    assert read <= MOST_HEADER_BYTES


def test_a_url_has_so_many_parameters_and_no_more():
    few, many = (b"a&" * count for count in (MOST_PARAMETERS - 1, MOST_PARAMETERS))
    for query, found in ((few, ["Request", "EndOfMessage"]), (many, ["refused"])):
        wire = GET.replace(b"/ ", b"/?" + query + b"a ", 1) + b"\r\n"
        assert events(wire)[0] == found


def test_a_trailer_has_so_many_lines_too():
    """Of one that is there at once, what is fed at once is read."""
    lines = b"a: b\r\n" * (MOST_HEADER_LINES - 1)
    few = POST + b"1\r\na\r\n0\r\n" + lines + b"\r\n"
    assert events(few)[0] == ["Request", "Data", "EndOfMessage"]
    assert events(few, at_once=1)[0] == ["Request", "Data", "EndOfMessage"]
    found, read = events(POST + b"0\r\n" + b"a:\n" * 5_000 + b"\r\n")
    assert (found, read) == (["Request", "refused"], 0)


def test_a_body_comes_in_so_many_pieces_and_two_more_a_kib():
    few = POST + b"1\r\na\r\n" * MOST_PIECES + b"0\r\n\r\n"
    assert events(few)[0].count("Data") == MOST_PIECES
    many = POST + b"1\r\na\r\n" * 100_000
    found, read = events(many)
    assert found.count("Data") == MOST_PIECES
    assert (found[-1], read) == ("refused", 0)
    large = POST + b"400\r\n" + b"a" * 1_024 + b"\r\n"
    thousand = POST + (b"400\r\n" + b"a" * 1_024 + b"\r\n") * 1_000 + b"0\r\n\r\n"
    assert events(large)[0] == ["Request", "Data"]
    assert events(thousand)[0][-1] == "EndOfMessage"


@pytest.mark.parametrize(
    ("wire", "told"),
    [
        (POST + b"1\r\na\r\n" * 1_000, b"too many pieces: send it in one"),
        (GET + b"a: b\r\n" * 200 + b"\r\n", b"100 header lines at most"),
        (GET.replace(b"/ ", b"/?" + b"a&" * 100 + b" ") + b"\r\n", b"100 parameters"),
    ],
)
def test_who_is_refused_is_told_why_and_its_connection_ends(wire, told):
    with served(seconds=20) as port:
        with socket.create_connection(("127.0.0.1", port), 10) as one:
            one.sendall(wire)
            reply = b""
            while part := one.recv(65_536):
                reply += part
        assert reply.startswith(b"HTTP/1.1 400 ")
        assert told in reply


def test_pieces_after_the_reply_end_the_connection_and_no_other(caplog):
    with served(seconds=20) as port:
        with socket.create_connection(("127.0.0.1", port), 10) as one:
            one.sendall(
                POST.replace(b"/body", b"/")
            )  # replies before the body is there
            reply = one.recv(65_536)
            while not reply.endswith(b"xx"):
                reply += one.recv(65_536)
            one.sendall(b"1\r\na\r\n" * 1_000)
            assert is_ended(one, 30)
        with socket.create_connection(("127.0.0.1", port), 10) as one:
            one.sendall(GET + b"\r\n")
            assert one.recv(65_536).startswith(b"HTTP/1.1 200 ")
    assert "Traceback" not in caplog.text
