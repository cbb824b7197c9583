"""L2: the order of one answer, as the kernel saw it.

What is observed: the end of fdatasync on the ledger's log, the end of fsync on the
anchor, the first touch of the snapshot's file for this query (only two snapshots stay
open, so that asking three in turn opens each anew), and the start of the send that
carries the answer. Data that an open snapshot had cached before cannot be observed, and
need not be: each query here opens its snapshot.
"""

from tests.crash.instruments.processes import get, lines
from tests.crash.instruments.traces import traced

DATASETS = ("clinic", "second", "third")
ONE = {"CURATOR_EXECUTORS": "1"}  # which has two snapshots open, never the third
CALLS = "fsync,fdatasync,openat,pread64,sendto,sendmsg,writev"
PROMISED = "LARLAS"


def trace_answers(nursery, installation, key, count):
    """Ask ``count`` questions one by one; return the order of each as letters.

    L: the ledger's log is synced; A: the anchor is synced; R: the snapshot's file is
    opened or read; S: the answer is sent. Repeated letters are one.
    """
    with (
        nursery.serving(installation, environment=ONE) as server,
        lines(server.port, key, 1) as (line,),
    ):
        for dataset in DATASETS:
            assert line.ask(dataset=dataset).status == 200
        with traced(server.pid, installation.folder, CALLS, children=True) as events:
            for number in range(count):
                asked = line.ask(dataset=DATASETS[number % len(DATASETS)])
                assert asked.status == 200
            assert get(server.port, "/healthz") == 200  # so the last send was written
    return _orders(events)


def _orders(events):
    orders, letters = [], ""
    for event in sorted(events, key=_moment):
        letter = _letter(event)
        if letters[-1:] != letter:
            letters += letter
        if letter == "S":
            orders.append(letters)
            letters = ""
    return orders


def _moment(event):
    """A sync counts from its end; a read and a send from their start."""
    return event.ended_at if "sync" in event.name else event.started_at


def _letter(event):
    if event.path.endswith(".duckdb"):
        return "R"
    if "sync" in event.name and event.result == 0:
        return {"-wal": "L", "chor": "A"}.get(event.path[-4:], "")
    sent = event.name in {"sendto", "sendmsg", "writev"}
    return "S" if sent and b'"query_id"' in event.content else ""
