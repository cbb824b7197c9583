"""Parsing children that servers of one process hand on: each takes 0.2 s to start.

Hundreds of servers are started, one after the other, and few tests look at their
children. A child is the real one; whoever closes its pool leaves it to the next.
"""

import threading
from unittest.mock import patch

from server.children import parser_process
from server.children.parser_process import ParserPool

_start = parser_process._Child
_left: list = []
_lock = threading.Lock()


class LastingPool(ParserPool):
    """Takes the child that another left, if any, and leaves its own in the end."""

    def __init__(self):
        with _lock, patch.object(parser_process, "_Child", _taken):
            super().__init__()

    def close(self):
        """Parse no more."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._first.cancel()
            _left.append(self._warm)
            while not self._spares.empty():
                _left.append(self._spares.get())


def _taken():
    while _left:
        child = _left.pop()
        if not child.has_ended():
            return child
        child.kill()
    return _start()


def end_children():
    """End those that nobody will take."""
    while _left:
        _left.pop().kill()
