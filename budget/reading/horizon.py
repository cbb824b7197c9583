"""What readers may see: nothing that a restored copy of the ledger could forget.

A write is committed a moment before it is anchored, and longer where the anchor's write
fails or its process is killed in between. Until then no reader may act on it, in any
process: a copy from before it would be served without a question, and bring another end
to what was already paid. So every transaction that reads begins here. Proof:
docs/proofs/ledger.md, claim 9.
"""

import json
import time
from collections.abc import Callable, Collection

from sqlalchemy import Connection, select
from sqlalchemy import bindparam as bind

from budget.chain.anchor import AnchorFile
from budget.chain.entries import LAST, head_in
from budget.reading.listing import ENDS
from budget.storage.prepared import Prepared, Statement, read_first
from budget.storage.tables import chain, charge
from privacy.errors import LedgerUnavailableError

PATIENCE_SECONDS = 0.05  # in which another's write is anchored, on any sound disk
_POLL_SECONDS = 0.001
_UNANCHORED = (
    "the ledger's last entry is not anchored, and nothing is shown before it is: make "
    "the file at CURATOR_ANCHOR writable, then ask again"
)
_AFTER = Prepared(
    select(chain.c.kind, chain.c.body).where(chain.c.seq > bind("anchored"))
)
_HELD = Prepared(select(charge.c.query_id).where(charge.c.held_boot.is_not(None)))


class Horizon:
    """Checks what a transaction sees as it begins to read.

    Args:
        anchor: Its mark says how far the ledger is anchored.
        catch_up: Writes the anchor forward, or raises.
        is_behind: Whether this process knows that a write of the anchor failed.
        unreleased: The questions of this process whose replies have not left.
    """

    def __init__(
        self,
        anchor: AnchorFile,
        catch_up: Callable[[], None],
        is_behind: Callable[[], bool],
        unreleased: Callable[[], Collection[str]],
    ) -> None:
        self._anchor = anchor
        self._catch_up = catch_up
        self._is_behind = is_behind
        self._unreleased = unreleased
        self._anchored = 0  # as last seen: it only moves forward

    def check(self, connection: Connection) -> None:
        """Return once all that the transaction sees is anchored or hidden.

        The end of a question whose reply has not left shows nowhere, so nobody waits
        for its anchor: a wait would tell when an answer was stored (PRIVACY 6).

        Raises:
            AnchorMismatchError: The ledger does not contain its anchor, or has none.
            LedgerUnavailableError: The anchor cannot be read or written.
        """
        seen = head_in(read_first(connection, LAST)).seq
        if seen <= self._anchored or self._is_anchored(seen):
            return
        if not self._is_behind():
            if self._is_hidden(connection):
                return
            if self._is_soon_anchored(seen):
                return
        self._bring_forward()

    def _bring_forward(self) -> None:
        try:
            self._catch_up()
        except LedgerUnavailableError as error:
            raise LedgerUnavailableError(_UNANCHORED) from error

    def _is_anchored(self, seen: int) -> bool:
        try:
            self._anchored = max(self._anchored, self._anchor.synced_sequence())
        except OSError as error:
            message = "the ledger's anchor cannot be read now"
            raise LedgerUnavailableError(message) from error
        return seen <= self._anchored

    def _is_soon_anchored(self, seen: int) -> bool:
        """Wait a moment for the process that writes; what is seen stays the same."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            if self._is_anchored(seen):
                return True
        return False

    def _is_hidden(self, connection: Connection) -> bool:
        """Whether all beyond the anchor are ends of questions that show nowhere."""
        after = read_first(connection, Statement(_AFTER, {"anchored": self._anchored}))
        held = {query_id for (query_id,) in read_first(connection, Statement(_HELD))}
        hidden = held | set(self._unreleased())
        return all(
            kind in ENDS and json.loads(body)["query_id"] in hidden
            for kind, body in after
        )
