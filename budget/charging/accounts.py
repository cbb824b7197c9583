"""Rows of the charge table and the entries that they are derived from."""

from collections.abc import Mapping

from sqlalchemy import insert

from budget.chain.writing import Write
from budget.storage.prepared import Prepared
from budget.storage.records import ChargeRequest
from budget.storage.tables import charge

ChargeRow = dict[str, object]
_INSERT = Prepared(insert(charge))


def charge_row(entry: Mapping[str, object], seq: int, time: str) -> ChargeRow:
    """Derive a row from a ``charge`` or ``free`` entry; leases and state apart."""
    names = (
        "query_id", "principal", "project", "population", "dataset", "snapshot",
        "nano_epsilon", "question", "private_history", "idempotency_key",
        "fingerprint", "request",
    )  # fmt: skip
    row = {name: entry[name] for name in names}
    blank = ("source_query_id", "refines", "total_nano")  # in few entries
    return {**row, "seq": seq, "time": time, **{n: entry.get(n) for n in blank}}


def insert_charge(
    write: Write,
    request: ChargeRequest,
    *,
    kind: str,
    facts: Mapping[str, object],
    marks: Mapping[str, str | None],
) -> None:
    """Append a ``charge`` or ``free`` entry and insert its row.

    ``marks`` are the server processes of its lease and of whoever holds its reply.
    """
    entry = {
        "query_id": request.query_id,
        "principal": request.principal,
        "project": request.project,
        "population": request.population,
        "dataset": request.dataset,
        "snapshot": request.snapshot,
        "scopes": [str(scope) for scope in request.scopes],
        "nano_epsilon": request.loss.nano_epsilon,
        "question": request.question,
        "private_history": request.private_history,
        "idempotency_key": request.idempotency_key,
        "fingerprint": request.fingerprint,
        "request": request.request_json,
        **_refinement(request),
        **facts,
    }
    seq, time = write.entries.append(kind, entry)
    write.later(
        _INSERT,
        {
            **charge_row(entry, seq, time),
            "lease_boot": None,
            "held_boot": None,
            "state": "running" if kind == "charge" else "answered",
            **marks,
            "attempts": 1,
        },
    )


def _refinement(request: ChargeRequest) -> Mapping[str, object]:
    if request.refines is None:
        return {}
    total = request.refines.total.nano_epsilon
    return {"refines": request.refines.query_id, "total_nano": total}
