"""Requests as they come over a connection: in how many lines and pieces at most.

A header of thousands of lines, a URL of thousands of parameters or a body in pieces of
a byte takes a hundred times as long to read as others of its size, and everybody waits
meanwhile: they are refused.
"""

import re
from typing import Final

import h11

MOST_HEADER_BYTES: Final = 16_384
MOST_HEADER_LINES: Final = 100
"""Of a request, its first line with them; browsers and proxies send some twenty."""

MOST_PIECES: Final = 64
"""Of a body, as its sender or the network cuts it, beside two for each KiB of it."""

MOST_PARAMETERS: Final = 100
"""Of the query of a URL; no route has ten."""

_PIECE_BYTES: Final = 512
_HEADER_ENDS: Final = re.compile(rb"\n\r?\n")


class BoundedRequests(h11.Connection):
    """A server's side of a connection, which takes no request that is costly to read.

    Attributes:
        refusal: What is too much of the request, and what to do; empty of others.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MOST_HEADER_BYTES)
        self.refusal = ""
        self._pieces = self._bytes = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event, as h11 does.

        Raises:
            RemoteProtocolError: The request is none, or is refused.
        """
        if self.their_state is h11.IDLE and self._header_lines() > MOST_HEADER_LINES:
            self._refuse(f"a request has {MOST_HEADER_LINES} header lines at most")
        event = super().next_event()
        waits = event is h11.NEED_DATA and self.their_state is h11.SEND_BODY
        if waits and self._header_lines() > MOST_HEADER_LINES:  # of its trailer
            self._refuse(f"a trailer has {MOST_HEADER_LINES} lines at most")
        if isinstance(event, h11.Request):
            self._pieces = self._bytes = 0
            if event.target.count(b"&") >= MOST_PARAMETERS:
                self._refuse(f"a URL has {MOST_PARAMETERS} parameters at most")
        elif isinstance(event, h11.Data):
            self._pieces += 1
            self._bytes += len(event.data)
            if self._pieces > MOST_PIECES + self._bytes // _PIECE_BYTES:
                self._refuse("a body came in too many pieces: send it in one")
        return event

    def _header_lines(self) -> int:
        """Return how many lines are there of a header, or trailer, still to be read."""
        held, _ = self.trailing_data
        end = _HEADER_ENDS.search(held)
        return held.count(b"\n", 0, end.start() + 1 if end else len(held))

    def _refuse(self, refusal: str) -> None:
        self.refusal = refusal
        raise h11.RemoteProtocolError(refusal)
