"""The privacy filter: may this be charged? Pure epsilon, plain addition.

Proof: docs/proofs/privacy_filter.md (adaptive pure losses up to a fixed cap).
"""

from collections.abc import Mapping

from sqlalchemy import bindparam, update

from budget.chain.writing import Account, Write, make_counter
from budget.charging.accounts import insert_charge
from budget.storage.prepared import Prepared
from budget.storage.records import ChargeRequest, Refused, Scope
from budget.storage.tables import MAX_NANO, counter
from privacy.losses import Loss

_AFTER = counter.c.nano_epsilon + bindparam("added")
_ADD = Prepared(
    update(counter)
    .where(counter.c.scope == bindparam("of"), bindparam("bound") >= _AFTER)
    .values(nano_epsilon=_AFTER)
)


def charge_all(
    write: Write,
    request: ChargeRequest,
    worker_id: str | None,
    accounts: Mapping[Scope, Account],
) -> dict[Scope, Loss | None] | Refused:
    """Charge every scope of a request, or none of them.

    Args:
        write: The transaction, which holds the writers' lock.
        request: What to charge.
        worker_id: Who executes it.
        accounts: The request's scopes, as this transaction read them.

    Returns:
        What is left of each scope, or the refusal, which is an entry too.
    """
    before = {scope: held.remaining(scope) for scope, held in accounts.items()}
    if any(left is not None and request.loss > left for left in before.values()):
        _record_refusal(write, request)
        return Refused(before)
    _debit(write, accounts, request.loss)
    insert_charge(
        write, request, kind="charge", facts={}, marks={"lease_boot": worker_id}
    )
    return {
        scope: None if left is None else left.minus_floor_zero(request.loss)
        for scope, left in before.items()
    }


def _debit(write: Write, accounts: Mapping[Scope, Account], loss: Loss) -> None:
    """Add a loss to every counter, each under its limit once more.

    One that does not take it changes no row, and the flush undoes the whole.
    """
    for scope, held in accounts.items():
        if held.spent is None:
            make_counter(write.connection, scope)
        bound = MAX_NANO if held.limit is None else held.limit
        added = {"of": str(scope), "bound": bound, "added": loss.nano_epsilon}
        write.later(_ADD, added)


def _record_refusal(write: Write, request: ChargeRequest) -> None:
    write.entries.append(
        "refused",
        {
            "principal": request.principal,
            "code": "budget_exceeded",
            "project": request.project,
            "population": request.population,
            "dataset": request.dataset,
            "nano_epsilon": request.loss.nano_epsilon,
        },
    )
