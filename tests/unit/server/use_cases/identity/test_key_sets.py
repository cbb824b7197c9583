"""The issuer's keys: which are used, when they are read again, and from where."""

import datetime as dt
import http.server
import json
import secrets
import ssl
import threading
import time
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from server.configuration.settings import SettingsError, read_settings
from server.use_cases.identity.key_sets import (
    MAX_BYTES,
    KeySetError,
    KeySource,
    key_source,
    read_key_set,
)
from server.use_cases.identity.oidc import TokenReader, token_reader
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations import issuers


class Clock:
    seconds = 1000.0

    def __call__(self):
        return self.seconds


class PublishedKeys:
    """What the issuer publishes now, and how often it was read."""

    def __init__(self, *kids):
        self.body = issuers.key_set(*kids)
        self.readings = 0

    def __call__(self):
        self.readings += 1
        if isinstance(self.body, OSError):
            raise self.body
        return self.body


def at_once(work):
    """Read in the thread of whoever asks, so that tests need not wait."""
    work()


def source_of(published, clock=None):
    return KeySource(published, clock or Clock(), at_once)


def as_set(*keys):
    return json.dumps({"keys": list(keys)}).encode()


def kids(body):
    return [key.kid for key in read_key_set(body)]


def test_each_kind_of_key_has_its_algorithms():
    named = ("RS256-1", "ES256-1", "EdDSA-1")
    found = {k.kid: sorted(k.algorithms) for k in read_key_set(issuers.key_set(*named))}
    assert found == {
        "RS256-1": ["PS256", "RS256"],
        "ES256-1": ["ES256"],
        "EdDSA-1": ["EdDSA"],
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"use": "enc"}, {"key_ops": ["encrypt"]}, {"alg": "RS512"}, {"alg": "HS256"},
        {"kty": "RSA1"}, {"kid": 7}, {"n": "AQAB"}, {"n": 3}, {"crv": 5},
    ],
)  # fmt: skip
def test_keys_for_something_else_are_passed_over(changes):
    other = {**issuers.public("RS256-1"), **changes}
    assert kids(as_set(other, issuers.public("ES256-1"))) == ["ES256-1"]


def test_short_keys_are_passed_over():
    n = issuers.base64url(secrets.randbits(1024).to_bytes(128))
    assert kids(as_set({"kty": "RSA", "kid": "s", "n": n, "e": "AQAB"})) == []


def test_an_algorithm_that_a_key_names_is_the_only_one():
    (key,) = read_key_set(as_set({**issuers.public("RS256-1"), "alg": "PS256"}))
    assert key.algorithms == {"PS256"}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{}", b'{"keys": {}}', b'{"keys": [1]}',
        b'{"keys": [], "keys": []}',
        as_set({"kty": "oct", "k": "c2VjcmV0", "kid": "s"}),
        as_set(issuers.private_key("ES256-1").as_dict(private=True)),
    ],
)  # fmt: skip
def test_what_is_no_set_of_public_keys_is_refused(body):
    with pytest.raises(KeySetError):
        read_key_set(body)


def test_an_unknown_key_is_looked_for_once_a_minute():
    published, clock = PublishedKeys("ES256-1"), Clock()
    source = source_of(published, clock)
    assert source.find("ES256-1", "ES256") is not None  # the first need reads
    published.body = issuers.key_set("ES256-1", "ES256-2")
    clock.seconds += 59
    assert source.find("ES256-2", "ES256") is None
    assert published.readings == 1
    clock.seconds += 1
    assert source.find("ES256-2", "ES256") is not None
    assert published.readings == 2


def test_keys_that_the_issuer_withdrew_end_within_an_hour():
    published, clock = PublishedKeys("ES256-1"), Clock()
    source = source_of(published, clock)
    assert source.find("ES256-1", "ES256") is not None
    published.body = issuers.key_set("ES256-2")
    clock.seconds += 3601
    assert source.find("ES256-1", "ES256") is None


def test_an_issuer_who_is_away_leaves_the_keys_that_we_have():
    published, clock = PublishedKeys("ES256-1"), Clock()
    source = source_of(published, clock)
    assert source.find("ES256-1", "ES256") is not None
    published.body = ConnectionError()
    for _ in range(3):
        clock.seconds += 3601
        assert source.find("ES256-1", "ES256") is not None
        assert source.find("ES256-1", "ES256") is not None
    assert published.readings == 4


class Hanging(PublishedKeys):
    """An issuer that answers when it is told to."""

    def __init__(self, *kids):
        super().__init__(*kids)
        self.asked, self.go_on = threading.Event(), threading.Event()

    def __call__(self):
        self.asked.set()
        assert self.go_on.wait(30)
        return super().__call__()


def wait_until(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_nobody_waits_for_an_issuer_that_hangs():
    published = Hanging("ES256-1")
    source = KeySource(published)
    assert [source.find("ES256-1", "ES256") for _ in range(10)] == [None] * 10
    assert published.asked.wait(60)
    assert published.readings == 0  # it hangs still
    published.go_on.set()
    wait_until(lambda: source.find("ES256-1", "ES256") is not None)
    assert published.readings == 1


def test_the_keys_that_we_have_serve_while_the_issuer_hangs():
    published, clock = Hanging("ES256-1"), Clock()
    published.go_on.set()
    source = KeySource(published, clock)
    source.load()
    published.go_on.clear()
    clock.seconds += 300
    source.keep_fresh()
    assert published.asked.wait(60)
    assert source.find("ES256-2", "ES256") is None
    assert source.find("ES256-1", "ES256") is not None
    published.go_on.set()
    wait_until(lambda: published.readings == 2)


def test_keys_are_read_again_every_five_minutes_whoever_asks():
    published, clock = PublishedKeys("ES256-1"), Clock()
    source = source_of(published, clock)
    for seconds, readings in ((0, 1), (299, 1), (1, 2), (60, 2), (240, 3)):
        clock.seconds += seconds
        source.keep_fresh()
        assert published.readings == readings


def test_keys_are_read_once_a_thread_can_be_started_again():
    published, clock, threads = PublishedKeys("ES256-1"), Clock(), []

    def background(work):
        if not threads:
            message = "can't start new thread"
            raise RuntimeError(message)
        work()

    source = KeySource(published, clock, background)
    source.keep_fresh()
    assert source.find("ES256-1", "ES256") is None  # and no error either
    threads.append("one")
    source.keep_fresh()
    assert published.readings == 0  # a minute has not passed
    clock.seconds += 60
    assert source.find("ES256-1", "ES256") is not None


def test_two_keys_of_one_name_are_none():
    source = source_of(lambda: as_set(*[issuers.public("ES256-1")] * 2))
    assert source.find("ES256-1", "ES256") is None


def test_a_token_without_a_kid_fits_an_only_key():
    text = issuers.token("ES256-1", header={"kid": None})
    for names, subject in ((("ES256-1",), "ada"), (("ES256-1", "ES256-2"), None)):
        keys = source_of(PublishedKeys(*names))
        reader = TokenReader(issuers.ISSUER, issuers.AUDIENCE, "sub", None, keys)
        assert reader.principal(text) == subject


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1 that signs itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(addresses, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(
        encoding,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(encoding))
    return path


class Publisher(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = {
            "/jwks": issuers.key_set("ES256-1"),
            "/huge": b" " * (MAX_BYTES + 1),
            "/moved": b"",
        }.get(self.path)
        self.send_response(404 if body is None else 302 if body == b"" else 200)
        if body == b"":
            self.send_header("Location", "/jwks")
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def publisher(certificate):
    """The https address of an issuer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def trusting(certificate):
    return ssl.create_default_context(cafile=certificate)


def test_keys_are_read_over_https(publisher, trusting):
    source = key_source(f"{publisher}/jwks", verify=trusting)
    source.load()
    assert source.find("ES256-1", "ES256") is not None


@pytest.mark.parametrize("path", ["/huge", "/moved", "/nothing"])
def test_other_replies_hold_no_keys(publisher, trusting, path):
    with pytest.raises(KeySetError):
        key_source(publisher + path, verify=trusting).load()


def test_a_certificate_that_nobody_trusts_holds_no_keys(publisher):
    with pytest.raises(KeySetError):
        key_source(f"{publisher}/jwks").load()


def settings(folder, **more):
    given = {
        "oidc_issuer": issuers.ISSUER,
        "oidc_audience": issuers.AUDIENCE,
        "oidc_jwks": str(folder / "jwks.json"),
        **more,
    }
    return read_settings(data=folder / "data", anchor=folder / "a" / "anchor", **given)


def test_an_issuer_wants_an_audience_and_keys_by_file_or_https(tmp_path):
    for wrong in (
        {"oidc_audience": ""},
        {"oidc_jwks": ""},
        {"oidc_jwks": "http://127.0.0.1/jwks"},
    ):
        with pytest.raises(SettingsError, match="CURATOR_OIDC"):
            settings(tmp_path, **wrong)


def test_no_issuer_reads_no_tokens(tmp_path):
    assert token_reader(settings(tmp_path, oidc_issuer="")) is None


def test_a_file_without_keys_is_refused_at_the_start(tmp_path):
    with pytest.raises(CommandRefusedError, match="CURATOR_OIDC_JWKS"):
        token_reader(settings(tmp_path))


def test_subjects_are_bound_to_principals_by_a_file_and_no_others_pass(tmp_path):
    (tmp_path / "jwks.json").write_bytes(issuers.key_set("ES256-1"))
    path = tmp_path / "subjects.json"
    path.write_text('{"auth|7f3a": "ada", "\u00e4da@hospital.example": "bob"}')
    reader = token_reader(
        settings(tmp_path, oidc_subjects=path, oidc_principal_claim="email")
    )

    def principal(email):
        return reader.principal(issuers.token("ES256-1", email=email))

    assert principal("auth|7f3a") == "ada"
    assert principal("\u00e4da@hospital.example") == "bob"
    assert principal("a\u0308da@hospital.example") is None  # looks the same
    assert principal("ada") is None
    assert principal(None) is None
    for wrong in ("[]", '{"a": 1}', '{"a": "b", "a": "c"}'):
        path.write_text(wrong)
        with pytest.raises(CommandRefusedError, match="CURATOR_OIDC_SUBJECTS"):
            token_reader(settings(tmp_path, oidc_subjects=path))
