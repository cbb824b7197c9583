"""A relay before PostgreSQL that counts what a question waits for: round trips."""

import contextlib
import socket
import threading


class Relay:
    """Listens on a port of the loopback, and passes bytes on to a server's port."""

    def __init__(self, port):
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self.sent = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def trips(self):
        """How often a client sent after it had listened."""
        return len(self.sent)

    def close(self):
        """Take no connection any more."""
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._server))
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            turn = {"client": False}
            for ends in ((client, server, True), (server, client, False)):
                threading.Thread(
                    target=self._pass, args=(*ends, turn), daemon=True
                ).start()

    def _pass(self, source, target, from_client, turn):
        with contextlib.suppress(OSError):
            while piece := source.recv(2**16):
                with self._lock:
                    if from_client and not turn["client"]:
                        self.sent.append(b"")
                    if from_client:
                        self.sent[-1] += piece
                    turn["client"] = from_client
                target.sendall(piece)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
