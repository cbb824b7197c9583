"""``curator serve`` with clocks in it, for ``benchmarks.overhead`` alone.

Writes one line of JSON for each question to CURATOR_BENCH_PROBE: seconds of the whole,
of the engine, and of commits and anchor syncs. The sums are of one process, so it tells
something for one client at a time.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from engines.duckdb.executors import ExecutorEngine
from server.configuration.settings import read_settings
from server.web import Server

_spent = {"engine": 0.0, "sync": 0.0, "commits": 0.0, "syncs": 0.0}


def clocked(call: Callable[..., Any], part: str, count: str = "") -> Callable[..., Any]:
    """Wrap a call so that its time is added to a part."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return call(*args, **kwargs)
        finally:
            _spent[part] += time.perf_counter() - start
            if count:
                _spent[count] += 1

    return wrapped


class Probe:
    """Times each question from its request to its last byte."""

    def __init__(self, app: Any, path: Path) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not scope["path"].endswith("/queries"):
            await self._app(scope, receive, send)
            return
        before, start = dict(_spent), time.perf_counter()
        await self._app(scope, receive, send)
        row = {part: _spent[part] - before[part] for part in _spent}
        row["server"] = time.perf_counter() - start
        with self._path.open("a") as lines:
            lines.write(json.dumps(row) + "\n")


def main() -> None:
    """Serve until stopped; takes ``--port``."""
    settings = read_settings(port=int(sys.argv[sys.argv.index("--port") + 1]))
    ask = ExecutorEngine.reply_to  # an executor's work, and the way to its process
    ExecutorEngine.reply_to = clocked(ask, "engine")  # type: ignore[method-assign]
    os.fsync = clocked(os.fsync, "sync", "syncs")
    server = Server(settings)
    server.start()
    writer = server.services.databases.writer
    commit = writer.dialect.do_commit
    writer.dialect.do_commit = clocked(commit, "sync", "commits")  # type: ignore[method-assign]
    app = Probe(server.app(), Path(os.environ["CURATOR_BENCH_PROBE"]))
    uvicorn.run(app, port=settings.port, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
