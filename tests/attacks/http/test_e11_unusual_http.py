"""Odd but possible HTTP: never a server error, never news about what exists."""

import http.client
import socket
from itertools import product
from urllib.parse import urlsplit

import pytest

from tests.support.installations.arms import shape
from tests.support.installations.harness import ask, client

pytestmark = pytest.mark.thorough

GOOD = b'{"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}'
PATHS = (
    "/v1/datasets/{}", "/v1/datasets/{}/", "/v1//datasets/{}", "//v1/datasets/{}",
    "/v1/datasets/{}/plan", "/v1/datasets/{}/queries", "/v1/datasets/{}/sample",
    "/v1/datasets/{}%00", "/v1/datasets/%00{}/plan", "/v1/datasets/{}%0d%0aX-Y:%20z",
    "/v1/datasets/{}%2fplan", "/v1/datasets/{}%2Fqueries", "/v1/datasets/x%2f..%2f{}",
    "/v1/datasets/x/../{}", "/v1/./datasets/{}", "/v1/datasets/./{}",
    "/v1/datasets/{};v=1", "/v1/datasets/{}?x=%00", "/v1/datasets/{}%20",
    "/v1/datasets/{}%c0%ae", "/v1/datasets/{}%ff", "/v1/datasets/%7b{}%7d",
    "/V1/datasets/{}", "/v1/datasets/{}.json", "/v1/datasets/{}#part",
    "/v1/datasets/{}%252fplan", "/v1/queries/{}", "/v1/queries/{}%00",
)  # fmt: skip
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "TRACE", "BREW")


VARYING = {"date", "x-request-id"}


def exchange(house, path, method="GET", headers=(), body=None):
    """Send a request as it stands; return status, headers that do not vary, body."""
    place = urlsplit(house.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        key = house.http.headers["authorization"]
        for name, value in (("Authorization", key), *headers):
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        reply = connection.getresponse()
        kept = sorted((n, v) for n, v in reply.getheaders() if n not in VARYING)
        return reply.status, kept, reply.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def theirs(house):
    """Names of somebody else's, and of nobody: a dataset of a project, a query."""
    with house.analyst("stranger", "strange") as http:
        query_id = ask(http).json()["query_id"]
    house.installation.load(dataset="elsewhere", population="others")
    return "elsewhere", query_id


@pytest.mark.parametrize("path", PATHS)
def test_what_is_theirs_and_what_is_absent_are_one_reply(house, theirs, path):
    dataset, query_id = theirs
    there, absent = dataset, "e" * len(dataset)
    if "/queries/" in path:
        there, absent = query_id, "q_" + "0" * 24
    for method in METHODS:
        body = GOOD if method in {"POST", "PUT"} else None
        replies = [
            exchange(house, path.format(name), method, body=body)
            for name in (there, absent)
        ]
        assert replies[0] == replies[1], method
        assert replies[0][0] < 500
        names = {name for name, _ in replies[0][1]}
        assert "x-y" not in names
        assert {"x-content-type-options", "referrer-policy"} <= names


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/datasets/clinic%00", 404),
        ("/v1/datasets/clinic%0a", 404),
        ("/v1/datasets/clinic%7f", 404),
        ("/v1/datasets/" + "a" * 5_000, 404),
        ("/v1/queries?cursor=" + "9" * 5_000, 422),
        ("/v1/queries?limit=1&limit=zwei", 422),
        ("/v1/queries?limit=" + "9" * 500, 422),
        ("/v1/queries?cursor=%00", 422),
        ("/v1/queries?nothing=1", 422),
    ],
)
def test_odd_addresses_are_refused_by_their_form(house, path, status):
    assert exchange(house, path)[0] == status


def test_an_address_too_long_for_the_server_is_refused(house):
    assert exchange(house, "/v1/datasets/" + "a" * 70_000)[0] in {400, 404, 414}


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Proto", "https")],
        [("X-HTTP-Method-Override", "DELETE"), ("X-Original-URL", "/readyz")],
        [("Cookie", "session=" + "x" * 4_000)],
        [("Accept", "text/html"), ("Accept", "image/png")],
        [("Content-Type", "application/xml")],
        [("Origin", "https://evil.example")],
        [("If-None-Match", "*"), ("Range", "bytes=0-1")],
        [("Expect", "100-continue")],
        [("X-Odd", "\xff\xfe")],
    ],
)
def test_headers_that_we_do_not_read_change_nothing(house, headers):
    plain = exchange(house, "/v1/datasets")
    assert plain[0] == 200
    assert exchange(house, "/v1/datasets", headers=headers) == plain


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Idempotency-Key", "a"), ("Idempotency-Key", "a")], 422),
        ([("Idempotency-Key", "")], 422),
        ([("Content-Encoding", "identity")], 415),
        ([("Content-Encoding", "gzip"), ("Content-Encoding", "gzip")], 415),
        ([("Authorization", "Bearer cur_nobody")], 401),
    ],
)
def test_repeated_and_odd_headers_of_questions(house, headers, status):
    path = "/v1/datasets/clinic/queries"
    assert exchange(house, path, "POST", headers, GOOD)[0] == status


def test_a_body_in_chunks_is_the_same_body(house):
    def chunks():
        for byte in GOOD:
            yield bytes((byte,))

    path = "/v1/datasets/clinic/plan"
    chunked = house.http.post(path, content=chunks())
    assert chunked.status_code == 200
    assert shape(chunked) == shape(house.http.post(path, content=GOOD))


def raw(house, text):
    """Send bytes as they stand; return the first line of the reply."""
    place = urlsplit(house.url)
    with socket.create_connection((place.hostname, place.port), 30) as connection:
        connection.sendall(text)
        return connection.makefile("rb").readline()


REFUSED = [[status] for status in (b"400", b"401", b"422", b"431", b"501")]


@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Content-Length: 5", b"Content-Length: 6"],
        [b"Content-Length: -1"],
        [b"Content-Length: 99999999999999999999x"],
        [b"Transfer-Encoding: gzip"],
        [b"Bad Header: x"],
        [b"Authorization : Bearer x"],
        [b"X: " + b"y" * 100_000],
    ],
)
def test_requests_that_two_servers_could_read_differently_are_refused(house, lines):
    for path, dataset in product(("plan", "queries"), ("clinic", "nowhere")):
        start = f"POST /v1/datasets/{dataset}/{path} HTTP/1.1\r\nHost: x\r\n".encode()
        first = raw(house, start + b"\r\n".join(lines) + b"\r\n\r\n")
        assert first.split(b" ")[1:2] in REFUSED, first


def test_nothing_after_a_body_of_two_lengths_is_read_as_a_request(house):
    lines = [
        b"POST /v1/datasets/clinic/plan HTTP/1.1", b"Host: x",
        b"Authorization: " + house.http.headers["authorization"].encode(),
        b"Content-Length: 60", b"Transfer-Encoding: chunked", b"", b"0", b"",
        b"GET /healthz HTTP/1.1", b"Host: x", b"", b"",
    ]  # fmt: skip
    place = urlsplit(house.url)
    with socket.create_connection((place.hostname, place.port), 30) as connection:
        connection.sendall(b"\r\n".join(lines))
        told = connection.makefile("rb").read()  # to the end: the server closes
    assert told.startswith(b"HTTP/1.1 422 ")
    assert told.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("path", ["/v1%2fbudget", "/v1/admin%2Fprincipals"])
def test_no_escaped_slash_passes_a_proxys_rule_for_paths(house, path):
    assert exchange(house, path)[0] == 404


def test_no_reply_names_the_server(house):
    for path in ("/healthz", "/v1/budget", "/nothing", "/docs"):
        names = {name for name, _ in exchange(house, path)[1]}
        assert not names & {"server", "x-powered-by", "via"}


def test_replies_under_v1_are_stored_nowhere(house):
    for method, path in product(METHODS, ("/v1/budget", "/v1/nothing")):
        headers = dict(exchange(house, path, method)[1])
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/healthz", 200), ("/v1/budget", 401), ("/v1/nothing", 404)],
)
def test_head_says_what_get_says_without_its_body(house, path, status):
    with client(house.url, "nobody") as http:
        head, get = http.head(path), http.get(path)
    assert head.status_code == get.status_code == status
    assert head.content == b""
    for name in ("content-type", "content-length", "content-security-policy"):
        assert head.headers.get(name) == get.headers.get(name)
