"""Wrong addresses, wrong certificates, silence: said in words, and paid but once."""

import contextlib
import os
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from curator_client import (
    Curator,
    CuratorUnreachableError,
    Patience,
    UnauthenticatedError,
)
from tests.support.installations.harness import free_port

ROOT = Path(__file__).parents[2]
COUNT = "SELECT COUNT(*) FROM visits WHERE age > 40"
HURRIED = Patience(longest_pause_seconds=0.001)
OLD_PYTHON = "3.10"


def said(url, key="cur_x", **more):
    """Return what the client says of an address that is no Curator's."""
    with (
        pytest.raises(CuratorUnreachableError) as error,
        Curator(url, key, patience=HURRIED, **more) as curator,
    ):
        curator.datasets()
    return str(error.value)


def test_an_address_must_be_whole():
    assert "write it whole, as https://host" in said("curator.example.org")
    assert "no address" in said("http://[::1")


def test_a_port_where_nothing_listens_is_named():
    assert "does the server run?" in said(f"http://127.0.0.1:{free_port()}")


def test_a_server_of_another_kind_is_named():
    page = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone"
    with listening(reply=page) as port:
        message = said(f"http://127.0.0.1:{port}")
    assert "status 404, no content type" in message
    assert "is the address right?" in message


def test_tls_where_there_is_none_is_said_at_once(url):
    assert "plain http" in said(url.replace("http:", "https:"))


def test_a_wrong_key_is_told_from_a_wrong_address(url):
    with (
        Curator(url, "cur_wrong") as curator,
        pytest.raises(UnauthenticatedError) as error,
    ):
        curator.datasets()
    assert "mistyped, revoked" in str(error.value)


@pytest.mark.parametrize("wrong", ["two words", "clé", "a\nb"])
def test_what_cannot_be_a_key_is_not_sent(url, wrong):
    with pytest.raises(ValueError, match="the key is none"):
        Curator(url, wrong)


def test_plain_http_off_loopback_is_warned_of():
    warned = []
    Curator("http://curator.example.org", "cur_x", say=warned.append).close()
    assert warned == ["warning: plain http: whoever listens on the way reads your key"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Make a certificate for the loopback that is its own authority."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, secret = folder / "server.pem", folder / "server.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", secret, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, secret


@contextlib.contextmanager
def listening(wrap=None, reply=b""):
    """Answer each connection with the same bytes; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        done = threading.Event()

        def serve():
            while not done.is_set():
                with contextlib.suppress(OSError):
                    connection, _ = listener.accept()
                    with wrap(connection) if wrap else connection as open_connection:
                        open_connection.recv(65_536)
                        open_connection.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            done.set()
            thread.join()


def test_a_certificate_that_nobody_vouches_for_is_refused(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority)
    body = b'{"items": [], "next_cursor": null}'
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    def wrap(connection):
        return context.wrap_socket(connection, server_side=True)

    with listening(wrap, reply) as port:
        url = f"https://127.0.0.1:{port}"
        assert "its certificate is not trusted; ca_file" in said(url)
        with Curator(url, "cur_x", ca_file=str(authority[0])) as curator:
            assert len(curator.datasets()) == 0


def test_an_authority_that_is_no_file_is_told(tmp_path):
    with pytest.raises(ValueError, match="no certificates can be read"):
        Curator("https://127.0.0.1", "cur_x", ca_file=str(tmp_path / "absent.pem"))


class Silent(httpx.HTTPTransport):
    """Sends every request, and lets the first replies come too late or not at all."""

    def __init__(self, *errors):
        super().__init__()
        self.errors = list(errors)
        self.keys = []

    def handle_request(self, request):
        reply = super().handle_request(request)
        self.keys += [request.headers.get("Idempotency-Key")]
        if request.method == "POST" and self.errors:
            reply.close()
            raise self.errors.pop(0)
        return reply


def test_late_and_cut_replies_are_asked_for_again_with_one_key(url, key):
    transport = Silent(httpx.ReadTimeout("late"), httpx.RemoteProtocolError("cut"))
    with Curator(url, key, "clinic", transport=transport, patience=HURRIED) as curator:
        before = float(curator.budget().remaining())
        curator.query(COUNT, epsilon="0.25")
        paid = before - float(curator.budget().remaining())
    assert paid == pytest.approx(0.25)
    assert len([k for k in transport.keys if k]) == 3
    assert len({k for k in transport.keys if k}) == 1


def test_a_reply_that_never_comes_ends_in_words():
    stop = threading.Event()

    def hold(connection):
        stop.wait(5)
        return connection

    with listening(hold) as port:
        few = Patience(tries=2, longest_pause_seconds=0.001)
        with (
            Curator(
                f"http://127.0.0.1:{port}", "k", "d", timeout_seconds=0.1, patience=few
            ) as curator,
            pytest.raises(CuratorUnreachableError, match="in time") as error,
        ):
            curator.query(COUNT, epsilon="1")
        stop.set()
    assert error.value.idempotency_key


def old_python():
    """Return an interpreter of the oldest Python that the client promises."""
    homes = [*Path(sys.base_prefix).parent.glob(f"{OLD_PYTHON}.*"), Path("/usr")]
    found = [home / f"bin/python{OLD_PYTHON}" for home in homes]
    return next((path for path in found if path.exists()), None)


@pytest.mark.skipif(old_python() is None, reason=f"there is no Python {OLD_PYTHON}")
def test_the_oldest_python_asks_too(url, key):
    asking = (
        "import sys; from curator_client import Curator; import curator_client.command;"
        "print(Curator(*sys.argv[1:]).query('SELECT COUNT(*) FROM visits', epsilon=1))"
    )
    libraries = Path(httpx.__file__).parents[1]  # httpx and what it needs: all Python
    done = subprocess.run(
        [old_python(), "-c", asking, url, key],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'clients/python'}:{libraries}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "200 ± 30" in done.stdout
