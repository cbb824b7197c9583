"""``curator serve``: check everything, then serve until told to stop."""

import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

import uvicorn

from engines.processes.processors import (
    Processors,
    has_quota_below,
    keep_process_to,
    usable_processors,
)
from privacy.errors import CuratorError
from server.bootstrap import checked_for_workers, end_server_process
from server.cli.terminal.output import REFUSED, say
from server.configuration.safety import check_tls_files, require_safe
from server.configuration.settings import Settings
from server.configuration.sources import describe_settings, unknown_variables
from server.processes.connections import Connections, connections_that_fit
from server.processes.job_worker import ChildWorker
from server.processes.ports import require_free
from server.processes.workers import Supervisor
from server.telemetry.logs import configure_logs
from server.web import Server

DRAIN_SECONDS = 30
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2, the oldest that is spoken; those of 1.3 are all sound."""
_log = logging.getLogger("curator")


def serve(
    settings: Settings, flags: Mapping[str, object], *, with_jobs: bool = True
) -> None:
    """Serve until SIGTERM or SIGINT; then finish what is in flight, and end.

    Args:
        settings: Checked for safety here.
        flags: What the command line overrode, by field name; shown as such.
        with_jobs: Whether a child process runs jobs meanwhile.

    Raises:
        CuratorError: It cannot serve, or must not; the message says what to do.
    """
    _show_settings(settings, flags)
    for danger in require_safe(settings):
        say(f"WARNING: INSECURE DEMO: {danger.what}")
    check_tls_files(settings)
    require_free(settings.host, settings.port)
    if settings.slot_ms == 0:
        say("warning: CURATOR_SLOT_MS is 0: response times are not quantised")
    configure_logs(settings.log_level)
    with _divided_processors() as processors:
        _serve(settings, processors, with_jobs=with_jobs)


def _serve(settings: Settings, processors: Processors, *, with_jobs: bool) -> None:
    if settings.workers > 1:
        _serve_by_workers(settings, processors, with_jobs=with_jobs)
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)  # uvicorn raises it again once it has drained
    server = Server(settings, processors=processors)
    try:
        server.start()
    except CuratorError:
        server.stop()
        raise
    with _jobs(processors, with_jobs=with_jobs):
        _serve_one(server)


@contextlib.contextmanager
def _divided_processors() -> Iterator[Processors]:
    """Keep this process off the processors of row work; warn where that is not so."""
    processors = Processors.divided(usable_processors())
    if len(processors.all) == 1:
        say("warning: one processor: row work delays other requests, if slightly")
    elif not keep_process_to(processors.servers):
        say("warning: processors cannot be set apart for row work on this system")
    if has_quota_below(len(processors.all)):
        say(
            "warning: a quota of processor time stops the server while rows are worked "
            "on: give the container whole processors, such as --cpuset-cpus 0-3"
        )
    try:
        yield processors
    finally:
        keep_process_to(processors.all)


def _jobs(
    processors: Processors, *, with_jobs: bool
) -> contextlib.AbstractContextManager[object]:
    """Return what runs jobs meanwhile, in a child process."""
    return ChildWorker(processors.executors) if with_jobs else contextlib.nullcontext()


def _serve_by_workers(
    settings: Settings, processors: Processors, *, with_jobs: bool
) -> None:
    """Check everything, then serve one socket from several processes."""
    with checked_for_workers(settings):
        listened = uvicorn.Config(
            lambda: None, host=settings.host, port=settings.port, log_config=None
        ).bind_socket()

        def work(worker_id: str, place: int) -> None:
            first = with_jobs and place == 0
            with _jobs(processors, with_jobs=first):
                server = Server(settings, worker_id=worker_id, processors=processors)
                _serve_one(server, [listened], place)

        Supervisor(
            settings.workers,
            work,
            lambda worker_id: end_server_process(settings, worker_id),
        ).run()


class _Runner(uvicorn.Server):
    """Tells the service when it is told to stop; drains as any other."""

    told_to_stop: Callable[[], None]

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop, as a signal says."""
        self.told_to_stop()
        super().handle_exit(sig, frame)


def _serve_one(
    server: Server, sockets: list[socket.socket] | None = None, place: int = 0
) -> None:
    """Serve from this process; each of several has a metrics port of its own."""
    settings = server.settings
    connections = Connections(connections_that_fit())
    config = listening(server, connections)
    if server.metrics is not None and settings.metrics_port is not None:
        port = settings.metrics_port and settings.metrics_port + place
        server.metrics.listen(settings.metrics_host, port)
    _log.info("serving", extra={"port": settings.port})
    runner = _Runner(config)
    runner.told_to_stop = server.told_to_stop
    try:
        with contextlib.suppress(KeyboardInterrupt):
            bound = sockets or [config.bind_socket()]
            runner.run(sockets=[connections.listener(each) for each in bound])
    finally:  # it raises the signal again
        _log.info("stopped")
    if not runner.started:
        raise SystemExit(REFUSED)


def listening(server: Server, connections: Connections) -> uvicorn.Config:
    """Return how uvicorn listens: by our logs and TLS files, on no client's word."""
    settings, app = server.settings, server.app()
    app.state.make_contract()  # before anybody waits
    return uvicorn.Config(
        app,
        loop="asyncio",  # whose sockets tell when they are closed
        http=connections.protocol(),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing asks where a request came from
        timeout_graceful_shutdown=DRAIN_SECONDS,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        ssl_ciphers=CIPHERS,
    )


def _show_settings(settings: Settings, flags: Mapping[str, object]) -> None:
    if settings.log_level in {"debug", "info"}:
        for line in describe_settings(settings, flags):
            say(f"{line.name} = {line.value} ({line.source})")
    for warning in unknown_variables():
        say(f"warning: {warning}")


def _end(_: int, __: object) -> None:
    sys.exit(0)
