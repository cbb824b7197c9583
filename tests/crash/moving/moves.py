"""An installation with rows of every kind, its copies, and moves of them."""

import shutil

from sqlalchemy import insert, select

from server.persistence.linkage_tables import linkage, linkage_decision, linkage_doubt
from server.persistence.schema import all_metadata
from server.persistence.tables import job
from server.persistence.text_tables import text_collection, text_document, text_span
from tests.crash.instruments.processes import lines, question
from tests.support.installations.harness import Installation
from tests.support.installations.warm import run_curator

DECISION = {
    "linkage": "l1", "left": 1, "right": 2,
    "verdict": "match", "created": "2027", "created_by": "ada",
}  # fmt: skip
ROWS = (
    (text_collection, {
        "id": "c1", "population": "people", "name": "notes", "source": "{}",
        "job": "job_1", "state": "whole", "created": "2027", "created_by": "ada",
    }),
    (text_document, {
        "collection": "c1", "number": 2**53 + 1, "key": "ü\t✓ a\u0301\U0001f600",
        "characters": 3, "body": bytes(range(256)) * 9_000,
    }),
    (text_span, {
        "collection": "c1", "finder": "rules", "document": 1, "number": 1, "start": 0,
        "end": 1, "label": "x", "score": 0.1 + 0.2, "source": "", "denied": True,
    }),
    (linkage, {
        "id": "l1", "population": "people", "name": "l", "file": "f", "opinions": 1,
        "job": "job_2", "created": "2027", "created_by": "ada",
    }),
    (linkage_doubt, {
        "job": "job_2", "number": 1, "left": 1, "right": 2, "score": 5e-324,
        "weight": -1.5, "reason": "r", "body": b"",
    }),
    (linkage_decision, {"number": 6, "id": "d6", **DECISION}),
    (linkage_decision, {"number": 7, "id": "d7", **DECISION, "undone": "2027"}),
    (job, {
        "id": "job_3", "kind": "k", "parameters": "{}", "actor": "ada",
        "created": "2027", "state": "queued", "attempts": 0,
        "cancel_requested": False, "done": 0, "lineage": "{}",
    }),
)  # fmt: skip
ORDER = [table for metadata in all_metadata() for table in metadata.sorted_tables]


def filled(nursery, folder):
    """Make an installation with an answer and rows of every kind.

    Returns:
        It, the key of who asked, and the answer to the request named ``once``.
    """
    made = Installation(folder).create()
    made.load()
    key = made.analyst()
    with nursery.serving(made) as server, lines(server.port, key, 1) as (line,):
        answer = line.ask(question("1"), idempotency_key="once")
        assert answer.status == 200
    with made.services() as services, services.databases.work.begin() as connection:
        for table, values in ROWS:
            connection.execute(insert(table).values(**values))
    return made, key, answer.body


def copy_of(installation, target):
    """Copy data and anchor of an installation that nobody serves."""
    for part in ("data", "anchor"):
        shutil.copytree(installation.folder / part, target / part)
    return Installation(target)


def on_postgresql(installation, url):
    """Return the same installation with its ledger in another database."""
    return Installation(installation.folder, url=url)


def move(installation, url):
    """Run the command; return how it ended."""
    return installation.curator("ledger", "move", "--to", url)


def move_until(point, installation, url):
    """Run it in a process that kills itself at a point; return how that ended."""
    return run_curator(
        (point, url),
        installation.environment,
        module="tests.crash.moving.move_kills",
    )


def all_rows(installation):
    """Return every row of every table, by table, plainly."""
    with (
        installation.services() as services,
        services.databases.unchecked(),
        services.databases.reader.begin() as held,
    ):
        return {
            table.name: [
                tuple(row)
                for row in held.execute(select(table).order_by(*table.primary_key))
            ]
            for table in ORDER
        }
