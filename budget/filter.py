"""The privacy filter: may this be charged? Pure epsilon, plain addition.

Proof: docs/proofs/filter.md (adaptive composition of pure losses up to a fixed cap).
"""

from budget import leases
from budget.accounts import insert_charge
from budget.records import ChargeRequest, Refused, Scope
from budget.writing import Write
from privacy.losses import Loss


def charge_all(
    write: Write, request: ChargeRequest, boot: str
) -> dict[Scope, Loss | None] | Refused:
    """Charge every scope of a request, or none of them.

    Returns:
        What is left of each scope, or the refusal, which is an entry too.
    """
    before = {scope: write.remaining(scope) for scope in request.scopes}
    if any(left is not None and request.loss > left for left in before.values()):
        _record_refusal(write, request)
        return Refused(before)
    for scope in request.scopes:
        if not write.add(scope, request.loss):  # unreachable under the lock
            message = f"a limit of {scope} changed inside a transaction"
            raise AssertionError(message)
    insert_charge(write, request, kind="charge", state="running", facts={})
    leases.take(write.connection, request.query_id, boot)
    return {scope: write.remaining(scope) for scope in request.scopes}


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
