"""A database's file that is overwritten under a running server: a refusal, no bug."""

import shutil
import sqlite3

import pytest
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from server.api.schemas.problems import problem_of_failure
from server.web import Server
from tests.support.installations.harness import Installation, ask, client, serving

READ = ("/v1/datasets", "/v1/datasets/clinic", "/v1/budget")


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A client of a server whose database was overwritten with something else."""
    made = Installation(tmp_path_factory.mktemp("damaged")).create()
    made.load()
    key = made.analyst()
    path = made.data / "curator.sqlite"
    server = Server(made.settings)
    with serving(server) as url, client(url, key) as http:
        assert http.get(READ[0]).status_code == 200
        server.services.databases.close()  # what they have read already they know
        path.write_bytes(b"x" * path.stat().st_size)
        yield http


@pytest.mark.parametrize("path", READ)
def test_what_cannot_be_read_is_unavailable(damaged, path):
    refused(damaged.get(path))


def test_a_question_that_cannot_be_planned_is_unavailable(damaged):
    body = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1"}
    refused(damaged.post("/v1/datasets/clinic/plan", json=body))


@pytest.mark.parametrize("is_copied", [True, False], ids=["older copy", "nothing"])
def test_no_question_is_charged_into_a_file_that_was_taken_away(tmp_path, is_copied):
    """The server's connections go on in the old file, which nobody sees again."""
    made = Installation(tmp_path).create()
    made.load()
    key = made.analyst()
    path, copy = made.data / "curator.sqlite", tmp_path / "copy"
    shutil.copy(path, copy)
    server = Server(made.settings)
    with serving(server) as url, client(url, key) as http:
        assert ask(http).status_code == 200
        before = made.anchor.read_bytes()
        copy.replace(path) if is_copied else path.unlink()
        reply = ask(http, sql="SELECT COUNT(*) AS n FROM visits WHERE age > 40")
        assert (reply.status_code, reply.json()["type"]) == (503, "anchor_mismatch")
        assert "Retry-After" not in reply.headers  # waiting does not help
        server.readiness.look()
        assert http.get("/readyz").json()["type"] == "anchor_mismatch"
        assert made.anchor.read_bytes() == before


def refused(reply):
    assert reply.status_code == 503
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["type"] == "ledger_unavailable"
    assert "database cannot be read" in reply.json()["detail"]
    assert "Retry-After" in reply.headers


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DatabaseError("", {}, Exception()), "ledger_unavailable"),
        (OperationalError("", {}, Exception()), "ledger_unavailable"),
        (sqlite3.DatabaseError("file is not a database"), "ledger_unavailable"),
        (sqlite3.OperationalError("disk I/O error"), "ledger_unavailable"),
        (IntegrityError("", {}, Exception()), "internal_error"),
        (sqlite3.IntegrityError("a row quoted"), "internal_error"),
        (KeyError("a row quoted"), "internal_error"),
    ],
)
def test_a_bug_is_told_from_a_database_out_of_service(error, code):
    problem = problem_of_failure(error)
    assert problem.code == code
    assert "quoted" not in problem.detail
