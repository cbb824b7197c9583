"""Whether a port can be listened on, asked before anything else is begun."""

import errno
import os
import socket

from server.use_cases.services.errors import CommandRefusedError


def require_free(host: str, port: int) -> None:
    """Refuse an address that nothing can listen on; the port is free again at once.

    Raises:
        CommandRefusedError: Another program has it, or it is none of this machine's.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
            tried.listen(1)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "another program listens there" if taken else _reason(error)
        message = (
            f"cannot listen on {host}, port {port}: {why}; choose another with --port, "
            "--host, or CURATOR_PORT, CURATOR_HOST"
        )
        raise CommandRefusedError(message) from None


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else "no such address"
