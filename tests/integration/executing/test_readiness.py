"""readyz tells what was found beside it, and takes no lock at a request."""

import asyncio
import os
import shutil
from functools import partial

import httpx
import pytest

import server.telemetry.readiness
from budget.chain.anchor import AnchorFile
from privacy.errors import ExecutionError, LedgerUnavailableError
from server.telemetry.readiness import OK, Check, Readiness
from server.use_cases.services.space import require_writable
from server.web import Server
from tests.support.installations.harness import Installation


def raising(error):
    def run():
        raise error

    return run


def test_the_first_that_does_not_hold_is_told():
    checks = [
        Check(lambda: None, 1, "ledger_unavailable"),
        Check(raising(ExecutionError()), 1, "executor_unavailable"),
        Check(raising(ValueError("a row")), 1, "parser_unavailable"),
    ]
    readiness = Readiness(checks)
    assert readiness.state() == "ledger_unavailable"  # nothing was looked at
    readiness.look()
    assert readiness.state() == "executor_unavailable"
    assert [check.state() for check in checks][2] == "parser_unavailable"
    assert readiness.unready() == {
        "ledger_unavailable": 0, "executor_unavailable": 1, "parser_unavailable": 1
    }  # fmt: skip


def test_a_check_that_is_held_up_does_not_go_on_saying_yes(monkeypatch):
    check = Check(lambda: None, 1, "ledger_unavailable")
    check.look()
    assert check.state() == OK
    monkeypatch.setattr(server.telemetry.readiness, "STALE_SECONDS", 0.0)
    assert check.state() == "ledger_unavailable"


def test_what_comes_back_is_told_at_the_next_look():
    errors = [LedgerUnavailableError("away")]

    def run():
        if errors:
            raise errors.pop()

    check = Check(run, 1, "ledger_unavailable")
    check.look()
    assert check.state() == "ledger_unavailable"
    check.look()
    assert check.state() == OK


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_is_told_while_every_lock_and_thread_is_held(tmp_path, path):
    installation = Installation(tmp_path).create()
    installation.load()
    served = Server(installation.settings)
    served.start()
    app = served.app()

    async def asked():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
            return await asyncio.wait_for(http.get(path), 5)

    try:
        with AnchorFile(installation.anchor).locked():
            for _ in range(installation.settings.executors):
                served.services.executors.acquire()
            assert asyncio.run(asked()).json() == {"status": "ok"}
    finally:
        served.stop()
        served.services.databases.close()


def test_readiness_tells_that_nothing_can_be_executed(tmp_path, monkeypatch):
    installation = Installation(tmp_path).create()
    installation.load()
    served = Server(installation.settings)
    served.start()
    try:
        assert served.readiness.state() == OK
        monkeypatch.setattr(
            "engines.duckdb.executor_process.child_command", lambda *_: ["/bin/false"]
        )
        for executor in served.services.engine._idle._idle:
            executor.kill()
        served.readiness.look()
        assert served.readiness.state() == "executor_unavailable"
        monkeypatch.undo()
        for _ in range(5):  # what was started before is no better
            served.readiness.look()
        assert served.readiness.state() == OK
    finally:
        served.stop()
        served.services.databases.close()


def _access(writable, closed, path, *how):
    return path != closed and writable(path, *how)


def test_what_cannot_be_written_is_told(tmp_path, monkeypatch):
    """An anchor on a file system that is read-only, a full disk under the database."""
    installation = Installation(tmp_path).create()
    settings = installation.settings
    require_writable(settings)
    writable = os.access
    for closed in (settings.anchor, settings.data / "curator.sqlite"):
        with monkeypatch.context() as patched:
            patched.setattr(os, "access", partial(_access, writable, closed))
            with pytest.raises(LedgerUnavailableError):
                require_writable(settings)
    full = shutil.disk_usage(tmp_path)._replace(free=1_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(LedgerUnavailableError):
        require_writable(settings)
