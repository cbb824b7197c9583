"""``curator serve``: check everything, then serve until told to stop."""

import logging
import signal
import sys
from collections.abc import Mapping

import uvicorn

from privacy.errors import CuratorError
from server.bootstrap import Server
from server.cli.output import say
from server.logs import configure_logs
from server.safety import check_tls_files, require_safe
from server.settings import Settings
from server.settings_sources import describe_settings, unknown_variables

DRAIN_SECONDS = 30
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2, the oldest that is spoken; those of 1.3 are all sound."""
_log = logging.getLogger("curator")


def serve(settings: Settings, flags: Mapping[str, object]) -> None:
    """Serve until SIGTERM or SIGINT; then finish what is in flight, and end.

    Args:
        settings: Checked for safety here.
        flags: What the command line overrode, by field name; shown as such.

    Raises:
        CuratorError: It cannot serve, or must not; the message says what to do.
    """
    _show_settings(settings, flags)
    for danger in require_safe(settings):
        say(f"WARNING: INSECURE DEMO: {danger.what}")
    check_tls_files(settings)
    if settings.slot_ms == 0:
        say("warning: CURATOR_SLOT_MS is 0: response times are not quantised")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)  # uvicorn raises it again once it has drained
    configure_logs(settings.log_level)
    server = Server(settings)
    try:
        server.start()
    except CuratorError:
        server.stop()
        raise
    config = listening(server)
    if server.metrics is not None and settings.metrics_port is not None:
        server.metrics.listen(settings.metrics_host, settings.metrics_port)
    _log.info("serving", extra={"port": settings.port})
    try:
        uvicorn.Server(config).run()
    finally:  # it raises the signal again
        _log.info("stopped")


def listening(server: Server) -> uvicorn.Config:
    """Return how uvicorn listens: by our logs and TLS files, on no client's word."""
    settings = server.settings
    return uvicorn.Config(
        server.app(),
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
