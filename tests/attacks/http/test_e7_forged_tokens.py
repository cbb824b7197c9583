"""E7: no forged token opens anything, tells why, or makes the server fetch anything."""

import contextlib
import hmac
import http.server
import json
import sqlite3
import threading
import time

import httpx
import pytest
from joserfc.jwk import ECKey

from server.use_cases.custody.people import PeopleService
from server.use_cases.identity.access import authenticate
from server.use_cases.identity.key_sets import KeySource
from server.use_cases.identity.oidc import TokenReader
from server.use_cases.oversight.auditing import AuditService
from server.use_cases.services.errors import UnauthenticatedError
from server.web import Server
from tests.support.installations import issuers
from tests.support.installations.arms import ROWS, make_installation, shape
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
    serving,
)
from tests.support.installations.issuers import (
    base64url,
    claims,
    private_key,
    public,
    sign,
    token,
)

KIDS = ("RS256-1", "PS256-1", "ES256-1", "EdDSA-1")
NOW = time.time


class Listener(http.server.BaseHTTPRequestHandler):
    """Serves an attacker's keys, and remembers who came for them."""

    def do_GET(self):
        self.server.visits.append(self.path)
        body = issuers.key_set("RS256-evil")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def evil():
    """A server of the attacker's."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        server.visits = []
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server that trusts an issuer: its URL, a key of ada's, the installation."""
    folder = tmp_path_factory.mktemp("tokens")
    installation = make_installation(folder, ROWS["with"])
    (folder / "jwks.json").write_bytes(issuers.key_set(*KIDS))
    installation.more_settings = {
        "oidc_issuer": issuers.ISSUER,
        "oidc_audience": issuers.AUDIENCE,
        "oidc_jwks": str(folder / "jwks.json"),
    }
    key = installation.analyst()
    with installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal("gone", "analyst")
        service.disable_principal("gone")
    with serve_in_thread(installation) as url:
        yield url, key, installation


_CLIENT = httpx.Client(timeout=60)  # one: each makes a TLS context


@contextlib.contextmanager
def sent_with(url, text):
    _CLIENT.base_url = url
    _CLIENT.headers["authorization"] = f"Bearer {text}"
    yield _CLIENT


def read(url, text):
    with sent_with(url, text) as connection:
        return connection.get("/v1/budget")


@pytest.mark.parametrize("kid", KIDS)
def test_a_good_token_is_its_principal(served, kid):
    url, key, _ = served
    with sent_with(url, token(kid)) as bearer, client(url, key) as keyed:
        assert bearer.get("/v1/budget").json() == keyed.get("/v1/budget").json()
        assert ask(bearer).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": ["elsewhere", "curator"]},
        {"exp": lambda: int(NOW()) - 30},  # within the leeway
        {"nbf": lambda: int(NOW()) + 30},
        {"iat": lambda: NOW() - 1.5},
        {"sub": "ada", "role": "admin", "groups": ["all"]},
        {"header": {"typ": "at+jwt"}},
        {"header": {"typ": None, "x5t": "thumbprint"}},
    ],
)
def test_what_issuers_do_is_accepted(served, changes):
    made = {name: made() if callable(made) else made for name, made in changes.items()}
    assert read(served[0], token(**made)).status_code == 200


def tampered(text, part, change):
    parts = text.split(".")
    parts[part] = change(parts[part])
    return ".".join(parts)


def payload_of(**changes):
    return base64url(json.dumps(claims(**changes)).encode())


def unsigned(algorithm):
    header = base64url(json.dumps({"alg": algorithm, "typ": "JWT"}).encode())
    return f"{header}.{payload_of()}."


def signed_with_public_key(kid, form):
    """Sign with a secret that everybody knows: the issuer's public key."""
    if form == "pem":
        secret = private_key(kid).as_pem(private=False)
    else:
        secret = json.dumps(public(kid)).encode()
    header = {"alg": "HS256", "typ": "JWT", "kid": kid}
    text = f"{base64url(json.dumps(header).encode())}.{payload_of()}"
    return f"{text}.{base64url(hmac.digest(secret, text.encode(), 'sha256'))}"


def evil_key():
    return private_key("RS256-evil")


def forged(**header):
    """Sign good claims with the attacker's key."""
    whole = {"alg": "RS256", "typ": "JWT", "kid": "RS256-1", **header}
    whole = {name: value for name, value in whole.items() if value is not None}
    return sign(whole, claims(), evil_key())


def raw(header, payload, kid="RS256-1"):
    return sign(header, payload, private_key(kid))


GOOD_HEADER = {"alg": "RS256", "typ": "JWT", "kid": "RS256-1"}
_DUPLICATE_SUB = (
    json.dumps(claims(sub="eve")).removesuffix("}") + ', "sub": "ada"}'
).encode()
FORGED = {
    "alg none": lambda _: unsigned("none"),
    "alg None": lambda _: unsigned("None"),
    "alg empty": lambda _: unsigned(""),
    "no signature": lambda _: token().rpartition(".")[0] + ".",
    "two parts": lambda _: token().rpartition(".")[0],
    "four parts": lambda _: token() + "." + token().rpartition(".")[2],
    "HS256 with the public key as PEM": lambda _: signed_with_public_key(
        "RS256-1", "pem"
    ),
    "HS256 with the public JWK": lambda _: signed_with_public_key("RS256-1", "jwk"),
    "another key under the issuer's kid": lambda _: forged(),
    "an unknown kid": lambda _: forged(kid="RS256-2"),
    "no kid": lambda _: token(header={"kid": None}),
    "a kid that is a path": lambda _: forged(kid="../../../../dev/null"),
    "a kid that is SQL": lambda _: forged(kid="x' UNION SELECT 'y"),
    "a kid that is a number": lambda _: forged(kid=1),
    "a kid that is null": lambda _: raw(
        b'{"alg": "RS256", "typ": "JWT", "kid": null}', claims()
    ),
    "a kid of another kind of key": lambda _: sign(
        {"alg": "RS256", "kid": "ES256-1"}, claims(), evil_key()
    ),
    "an RS256 key used as PS256 by somebody else": lambda _: sign(
        {"alg": "PS256", "kid": "RS256-1"}, claims(), evil_key()
    ),
    "RS512": lambda _: sign(
        {"alg": "RS512", "kid": "RS256-1"}, claims(), private_key("RS256-1")
    ),
    "ES384": lambda _: sign(
        {"alg": "ES384", "kid": "ES256-1"}, claims(), ECKey.generate_key("P-384")
    ),
    "jku": lambda url: forged(jku=f"{url}/jwks.json", kid="RS256-evil"),
    "jwk": lambda _: forged(jwk=public("RS256-evil"), kid="RS256-evil"),
    "x5u": lambda url: forged(x5u=f"{url}/cert.pem", kid="RS256-evil"),
    "x5c": lambda _: forged(x5c=["MIIB"], kid="RS256-evil"),
    "jku beside a good signature": lambda url: token(
        header={"jku": f"{url}/jwks.json"}
    ),
    "jwk beside a good signature": lambda _: token(header={"jwk": public("RS256-1")}),
    "crit": lambda _: token(header={"crit": ["exp"], "exp": 1}),
    "b64": lambda _: token(header={"b64": False}),
    "zip": lambda _: token(header={"zip": "DEF"}),
    "an encrypted token's header": lambda _: token(header={"enc": "A128GCM"}),
    "a nested token": lambda _: raw({**GOOD_HEADER, "cty": "JWT"}, token().encode()),
    "a nested token that does not say so": lambda _: raw(GOOD_HEADER, token().encode()),
    "another typ": lambda _: token(header={"typ": "logout+jwt"}),
    "a typ that is a list": lambda _: token(header={"typ": ["JWT"]}),
    "an alg that is a list": lambda _: raw(
        b'{"alg": ["RS256"], "kid": "RS256-1"}', claims()
    ),
    "expired": lambda _: token(exp=int(NOW()) - 61),
    "not yet": lambda _: token(nbf=int(NOW()) + 90),
    "issued in the future": lambda _: token(iat=int(NOW()) + 90),
    "lives for ever": lambda _: token(exp=int(NOW()) + 10 * 365 * 86_400),
    "no exp": lambda _: token(exp=None),
    "no iat": lambda _: token(iat=None),
    "no iss": lambda _: token(iss=None),
    "no aud": lambda _: token(aud=None),
    "no sub": lambda _: token(sub=None),
    "exp as text": lambda _: token(exp=str(int(NOW()) + 300)),
    "exp true": lambda _: token(exp=True),
    "exp beyond all meaning": lambda _: raw(
        GOOD_HEADER,
        json.dumps(claims()).replace('"exp": ', '"exp": 1e999999, "was": ').encode(),
    ),
    "exp NaN": lambda _: raw(
        GOOD_HEADER,
        json.dumps(claims(exp=float("nan"))).encode(),
    ),
    "another audience": lambda _: token(aud="curator2"),
    "an audience that begins so": lambda _: token(aud="curator/"),
    "an audience in another case": lambda _: token(aud="Curator"),
    "an audience in an object": lambda _: token(aud={"curator": True}),
    "an audience in a list in a list": lambda _: token(aud=[["curator"]]),
    "another issuer": lambda _: token(iss="https://login.hospital.example"),
    "an issuer with a slash": lambda _: token(iss=issuers.ISSUER + "/"),
    "an issuer in a list": lambda _: token(iss=[issuers.ISSUER]),
    "bound to a key": lambda _: token(cnf={"jkt": "x"}),
    "nobody": lambda _: token(sub="nobody"),
    "a disabled principal": lambda _: token(sub="gone"),
    "an empty sub": lambda _: token(sub=""),
    "a sub in upper case": lambda _: token(sub="ADA"),
    "a sub with a space": lambda _: token(sub="ada "),
    "a sub with a line end": lambda _: token(sub="ada\n"),
    "a sub with a NUL": lambda _: token(sub="ada\x00"),
    "a sub in Cyrillic": lambda _: token(sub="\u0430da"),
    "a sub in full width": lambda _: token(sub="\uff41\uff44\uff41"),
    "a sub with an invisible mark": lambda _: token(sub="ada\u200b"),
    "a sub in a list": lambda _: token(sub=["ada"]),
    "a sub that is a number": lambda _: token(sub=1),
    "a claim twice": lambda _: raw(GOOD_HEADER, _DUPLICATE_SUB),
    "a header twice": lambda _: raw(
        b'{"alg": "none", "alg": "RS256", "kid": "RS256-1"}', claims()
    ),
    "claims that are a list": lambda _: raw(GOOD_HEADER, [claims()]),
    "claims with a byte order mark": lambda _: raw(
        GOOD_HEADER, b"\xef\xbb\xbf" + json.dumps(claims()).encode()
    ),
    "claims that are not UTF-8": lambda _: raw(GOOD_HEADER, b'{"sub": "\xff"}'),
    "claims in UTF-16": lambda _: raw(
        GOOD_HEADER, json.dumps(claims()).encode("utf-16")
    ),
    "claims nested deeply": lambda _: raw(GOOD_HEADER, b"[" * 2_000),
    "claims changed": lambda _: tampered(token(), 1, lambda _: payload_of(sub="bob")),
    "a signature cut": lambda _: token()[:-4],
    "a signature padded": lambda _: token() + "==",
    "a signature of zeros": lambda _: tampered(token(), 2, lambda p: "A" * len(p)),
    "an ECDSA signature of zeros": lambda _: tampered(
        token("ES256-1"), 2, lambda _: base64url(bytes(64))
    ),
    "more than 8 KiB": lambda _: token(filler="x" * 8_000),
    "spaces inside": lambda _: token().replace(".", " . "),
    "standard base64": lambda _: tampered(
        token(), 2, lambda p: p.replace("-", "+").replace("_", "/") + "+"
    ),
    "JSON serialisation": lambda _: json.dumps(
        dict(
            zip(("protected", "payload", "signature"), token().split("."), strict=True)
        )
    ),
    "two tokens": lambda _: f"{token()}, {token()}",
    "a key's prefix before a token": lambda _: "cur_" + token(),
}


def test_the_pack_is_large():
    assert len(FORGED) >= 80


@pytest.fixture(scope="module")
def refusal(served):
    """The reply to a key that is none."""
    return shape(read(served[0], "cur_nobody"))


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_forged_token_is_refused_like_an_unknown_key(served, evil, refusal, name):
    url = f"http://127.0.0.1:{evil.server_port}"
    reply = read(served[0], FORGED[name](url))
    assert shape(reply) == refusal
    assert reply.status_code == 401
    assert evil.visits == []


def test_questions_are_refused_alike(served, evil):
    url = f"http://127.0.0.1:{evil.server_port}"
    replies = []
    for text in ("cur_nobody", FORGED["jku"](url), FORGED["expired"](url)):
        with sent_with(served[0], text) as connection:
            replies.append(shape(ask(connection)))
    assert replies[0][0] == 401
    assert replies[1:] == replies[:1] * 2
    assert evil.visits == []


def test_an_issuer_that_hangs_keeps_nobody_waiting(tmp_path):
    """Tokens of unknown keys are refused meanwhile, like any other, and keys go on."""
    installation = make_installation(tmp_path, ROWS["with"])
    asked, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def hanging():
        asked.set()
        go_on.wait(30)
        ended.set()
        raise ConnectionError

    server = Server(installation.settings)
    keys = KeySource(hanging)
    server._tokens = TokenReader(issuers.ISSUER, issuers.AUDIENCE, "sub", None, keys)
    key = installation.analyst()
    with serving(server) as url, client(url, key) as keyed:
        assert asked.wait(60)
        with sent_with(url, "cur_nobody") as connection:
            unknown = shape(ask(connection))
        for _ in range(8):  # more than read at once
            with sent_with(url, FORGED["an unknown kid"](url)) as connection:
                assert shape(ask(connection)) == unknown
        assert ask(keyed).status_code == 200
        assert not ended.is_set()
        go_on.set()


def test_a_key_goes_on_beside_tokens_and_ends_alone(served):
    url, _, installation = served
    with installation.services() as services:
        service = PeopleService(services, "local:test")
        service.create_principal("both", "analyst")
        made = service.create_key("both")
        text = token(sub="both")
        assert read(url, made["key"]).status_code == 200
        assert read(url, text).status_code == 200
        service.revoke_key(made["id"])
        assert read(url, made["key"]).status_code == 401
        assert read(url, text).status_code == 200
        service.disable_principal("both")
        assert read(url, text).status_code == 401


def test_a_token_has_the_role_of_its_principal(served):
    url, _, installation = served
    with installation.services() as services:
        PeopleService(services, "local:test").create_principal("clerk", "auditor")
    assert read(url, token(sub="clerk", role="analyst")).status_code == 403


def test_two_authorization_headers_are_nobodys(served):
    url, key, _ = served
    with client(url, "x") as connection:
        for second in (key, "cur_nobody", token()):
            headers = [("authorization", f"Bearer {k}") for k in (key, second)]
            connection.headers.pop("authorization", None)
            assert connection.get("/v1/budget", headers=headers).status_code == 401


def test_no_token_opens_a_server_that_trusts_no_issuer(house):
    assert read(house.url, token()).status_code == 401


def test_no_token_opens_for_whom_a_restore_revived(tmp_path):
    """Disabled after the backup, revived by it: reconciling must not let them in."""
    installation = Installation(tmp_path).create()
    installation.load()
    installation.analyst("mallory")
    database = installation.data / "curator.sqlite"
    with contextlib.closing(sqlite3.connect(database)) as live:
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    old = database.read_bytes()
    with installation.services() as services:
        PeopleService(services, "local:test").disable_principal("mallory")
    for path in installation.data.glob("curator.sqlite*"):
        path.unlink()
    database.write_bytes(old)

    def admitted(services, name):
        with services.databases.reader.connect() as connection:
            try:
                return authenticate(connection, "Bearer a.b.c", name).name
            except UnauthenticatedError:
                return None

    with installation.services() as services:
        assert admitted(services, "mallory") == "mallory"  # nothing went back, it seems
        AuditService(services, "local:test").reconcile("put back")
        service = PeopleService(services, "local:test")
        assert admitted(services, "mallory") is None
        service.create_principal("grace", "analyst")
        assert admitted(services, "grace") == "grace"
        assert admitted(services, "mallory") is None
        service.create_key("mallory")
        assert admitted(services, "mallory") == "mallory"
