"""L4: what a disk holds after a power cut: each file as of its own last sync.

The ledger and its anchor are copied while the server is idle; from then on every write
is traced. A cut is a point of the trace. Until a file's next sync, any part of what was
written since the last one may be missing: none, all, or some of it.
"""

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from server.bootstrap import make_services
from server.persistence.schema import RECORDED_TABLES
from tests.crash.instruments.processes import get, lines, question
from tests.crash.instruments.traces import traced
from tests.support.installations.harness import Installation

CALLS = "fsync,fdatasync,pwrite64,write,ftruncate,sendto,sendmsg,writev"
IN_FLIGHT = 8
_ANSWER = re.compile(rb'^\{"query_id": "q_[0-9a-f]+", "snapshot"')


@dataclass
class _File:
    """One file's durable content, and what was written to it since."""

    durable: bytearray
    pending: list = field(default_factory=list)

    def image(self, kept):
        content = bytearray(self.durable)
        for event in self.pending:
            if kept(event):
                _apply(content, event)
        return bytes(content)

    def sync(self, event):
        later = []
        for write in self.pending:
            if write.ended_at < event.started_at:
                _apply(self.durable, write)
            else:
                later.append(write)
        self.pending = later


@dataclass(frozen=True)
class Film:
    """A traced stretch of traffic, with the files as they were before it."""

    installation: Installation
    files: dict  # path -> content before
    events: list

    def cut(self, place, dice, target):
        """Write the files as a cut at event ``place`` leaves them.

        Returns:
            The installation there, and the answers that had been sent: {id: bytes}.
        """
        files = {path: _File(bytearray(was)) for path, was in self.files.items()}
        sent = {}
        for event in self.events[:place]:
            if event.path in files:
                _play(files[event.path], event)
            elif _ANSWER.match(event.content):
                sent[json.loads(event.content)["query_id"]] = event.content
        copy = _copy_rest(self.installation, target)
        probability = dice.choice([0, 0.5, 1])
        for path, file in files.items():
            inside = Path(path).relative_to(self.installation.folder)
            made = copy.folder / inside
            made.touch(mode=0o600)  # as the server made it
            made.write_bytes(file.image(lambda _: dice.random() < probability))
        return copy, sent


def _play(file, event):
    if event.name in {"pwrite64", "ftruncate"}:
        file.pending.append(event)
    elif "sync" in event.name and event.result == 0:
        file.sync(event)
    elif event.name == "write" and event.content:
        message = "a write without an offset: this film cannot be cut"
        raise AssertionError(message)


def _apply(content, event):
    if event.name == "ftruncate":
        del content[event.offset :]
        content.extend(bytes(event.offset - len(content)))
        return
    content.extend(bytes(max(0, event.offset - len(content))))
    content[event.offset : event.offset + len(event.content)] = event.content


def _copy_rest(installation, target):
    skipped = shutil.ignore_patterns("curator.sqlite*", "*.lock")
    shutil.copytree(installation.data, target / "data", ignore=skipped)
    (target / "anchor").mkdir()
    return Installation(target)


def film(nursery, installation, key, questions, name="film"):
    """Trace a server that answers ``questions`` from eight lines at once."""
    with (
        nursery.serving(installation) as server,
        lines(server.port, key, IN_FLIGHT) as clients,
    ):
        assert clients[0].ask().status == 200
        paths = [
            installation.data / "curator.sqlite",
            installation.data / "curator.sqlite-wal",
            installation.anchor,
        ]
        with traced(server.pid, installation.folder, CALLS) as events:
            files = {str(path): path.read_bytes() for path in paths}
            for number in range(questions // IN_FLIGHT):
                _ask_all(clients, f"{name}-{number}")
            assert get(server.port, "/healthz") == 200  # so the last send was written
    events.sort(key=lambda event: event.ended_at)
    return Film(installation, files, events)


def _ask_all(clients, name):
    for place, client in enumerate(clients):
        client.hold(question("0.5"), idempotency_key=f"{name}-{place}")
    for client in clients:
        client.release()
    for client in clients:
        assert client.read().status == 200


def image_problems(copy, sent):
    """Open a cut ledger as a server does; return what a client could complain of."""
    services = make_services(copy.settings)
    try:
        services.ledger.open()
        wrong = list(services.ledger.verify(RECORDED_TABLES).problems)
        for query_id, body in sent.items():
            record = services.ledger.query(query_id)
            if record is None or record.body != body:
                wrong.append(f"{query_id} was sent, and is not in the ledger")
        return wrong
    finally:
        services.databases.close()
