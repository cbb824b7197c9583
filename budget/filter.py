"""The privacy filter: may this be charged? Pure epsilon, plain addition.

Proof: docs/proofs/privacy_filter.md (adaptive pure losses up to a fixed cap).
"""

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, update

from budget.accounts import insert_charge
from budget.prepared import Prepared
from budget.records import ChargeRequest, Refused, Scope
from budget.tables import MAX_NANO, counter
from budget.writing import Account, Write, make_counter, read_accounts
from privacy.losses import Loss

_AFTER = counter.c.nano_epsilon + bindparam("added")
_ADD = Prepared(
    update(counter)
    .where(counter.c.scope == bindparam("of"), bindparam("bound") >= _AFTER)
    .values(nano_epsilon=_AFTER)
)


def charge_all(
    write: Write, request: ChargeRequest, boot: str | None
) -> dict[Scope, Loss | None] | Refused:
    """Charge every scope of a request, or none of them.

    Returns:
        What is left of each scope, or the refusal, which is an entry too.
    """
    accounts = read_accounts(write.connection, request.scopes)
    before = {scope: held.remaining(scope) for scope, held in accounts.items()}
    if any(left is not None and request.loss > left for left in before.values()):
        _record_refusal(write, request)
        return Refused(before)
    _debit(write.connection, accounts, request.loss)
    insert_charge(write, request, kind="charge", facts={}, marks={"lease_boot": boot})
    return {
        scope: None if left is None else left.minus_floor_zero(request.loss)
        for scope, left in before.items()
    }


def _debit(
    connection: Connection, accounts: Mapping[Scope, Account], loss: Loss
) -> None:
    """Add a loss to every counter, each under its limit once more."""
    for scope, held in accounts.items():
        if held.spent is None:
            make_counter(connection, scope)
    added = {"added": loss.nano_epsilon}
    bounds = [
        {"of": str(scope), "bound": MAX_NANO if held.limit is None else held.limit}
        for scope, held in accounts.items()
    ]
    done = [_ADD.run(connection, {**bound, **added}) for bound in bounds]
    if sum(done) != len(bounds):
        message = f"a counter of {sorted(map(str, accounts))} moved in a transaction"
        raise AssertionError(message)


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
