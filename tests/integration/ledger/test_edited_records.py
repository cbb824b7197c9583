"""An edited catalogue or anchor is found, and nothing is served or answered."""

import sqlite3
import time

import pytest

from budget.chain.anchor import ANCHOR_BYTES, AnchorFile, AnchorRecord
from privacy.errors import AnchorMismatchError
from server.persistence.schema import RECORDED_TABLES
from server.web import Server
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)


@pytest.fixture
def installation(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    return installation


def until(http, path, status):
    deadline = time.monotonic() + 30
    while http.get(path).status_code != status:  # looked at each second
        assert time.monotonic() < deadline


def edit(installation, statement):
    with sqlite3.connect(installation.data / "curator.sqlite") as database:
        assert database.execute(statement).rowcount > 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE snapshot SET schema = replace(schema, '10', '1')",
        "UPDATE key SET revoked = 1",
        "UPDATE project SET private_history = 1",
    ],
)
def test_an_edited_catalogue_is_not_served(installation, statement):
    installation.analyst()
    edit(installation, statement)
    server = Server(installation.settings)
    with pytest.raises(AnchorMismatchError, match="edited"):
        server.start()
    server.stop()


def test_after_a_mismatch_every_route_says_so(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http).status_code == 200
        installation.anchor.write_bytes(bytes(ANCHOR_BYTES))
        assert ask(http).json()["type"] == "anchor_mismatch"
        for path in ("/v1/budget", "/v1/queries", "/v1/datasets"):
            assert http.get(path).status_code == 503
        until(http, "/readyz", 503)


def test_lowered_totals_in_the_anchor_are_found(installation):
    key = installation.analyst()
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http).status_code == 200
    record = AnchorFile(installation.anchor).read()
    with AnchorFile(installation.anchor).locked() as held:
        held.write(
            AnchorRecord(
                record.ledger_id, record.head, {"people": 0}, record.generation + 1
            )
        )
    with installation.services() as services:
        assert not services.ledger.verify(RECORDED_TABLES).ok


def test_an_anchor_that_was_missing_serves_again_as_it_was(installation):
    key = installation.analyst()
    away = installation.anchor.with_suffix(".away")
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http).status_code == 200
        installation.anchor.rename(away)
        refused = ask(http)
        assert (refused.status_code, refused.json()["type"]) == (
            503,
            "ledger_unavailable",
        )
        for path in ("/v1/budget", "/v1/queries", "/v1/datasets"):
            assert http.get(path).status_code == 503
        until(http, "/readyz", 503)
        away.rename(installation.anchor)
        until(http, "/readyz", 200)
        assert ask(http).status_code == http.get("/v1/budget").status_code == 200


def test_another_anchor_where_one_was_missing_is_refused_for_good(installation):
    key = installation.analyst()
    older = installation.anchor.read_bytes()
    with serve_in_thread(installation) as url, client(url, key) as http:
        assert ask(http).status_code == 200
        installation.anchor.unlink()
        assert ask(http).status_code == 503
        installation.anchor.write_bytes(bytes(ANCHOR_BYTES))
        assert ask(http).json()["type"] == "anchor_mismatch"
        installation.anchor.write_bytes(older)
        assert ask(http).json()["type"] == "anchor_mismatch"
