"""A relay before PostgreSQL that counts what a client waits for: round trips."""

import contextlib
import socket
import threading


class Relay:
    """Listens on a port of the loopback, and passes bytes on to a server's port."""

    def __init__(self, port):
        self.trips = 0  # how often a client sent after it had listened
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._sockets = []
        self._threads = []
        self._start(self._accept)

    def close(self):
        """Let go of every connection."""
        for one in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for one in (self._listener, *self._sockets):
            one.close()

    def _start(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._sockets.append(one)
                sending = threading.Event()
                self._start(self._pass_on, client, server, sending)
                self._start(self._pass_back, server, client, sending)

    def _pass_on(self, client, server, sending):
        with contextlib.suppress(OSError):
            while piece := client.recv(2**16):
                with self._lock:
                    self.trips += not sending.is_set()
                    sending.set()
                server.sendall(piece)
            server.shutdown(socket.SHUT_WR)

    def _pass_back(self, server, client, sending):
        with contextlib.suppress(OSError):
            while piece := server.recv(2**16):
                sending.clear()
                client.sendall(piece)
            client.shutdown(socket.SHUT_WR)
