"""Proof of payment."""

from dataclasses import dataclass

from privacy.losses import Loss


@dataclass(frozen=True, slots=True)
class Charge:
    """Proof that a loss is durably charged.

    Made only by ``budget`` once the ledger entry and its anchor are on disk (an
    architecture test holds that); demanded by mechanisms before they open a seal.
    """

    query_id: str
    loss: Loss
