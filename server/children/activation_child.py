"""The activation's child: holds what a snapshot publishes against who is recorded.

A process of its own, less urgent than answers: it reads tables and keyed ids, which no
thread of a server does. One JSON object in, one out, then it ends.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from privacy.schema_json import dataset_from_json
from server.use_cases.loading.activation_messages import Asked, Reply
from server.use_cases.services.secret_files import OverlapFiles
from upstream.errors import IngestionError
from upstream.ingestion.ingestion import named_in_snapshot
from upstream.ingestion.public_rows import public_rows, public_rows_if_readable
from upstream.public_check.published_ids import Declared, EarlierSnapshot, KnownUnits

NICENESS = 15  # as of loads, see server.processes.job_worker


def main() -> None:
    """Answer the one request of standard input."""
    os.nice(NICENESS)
    reply = replied(Asked(**json.load(sys.stdin.buffer)))
    sys.stdout.write(json.dumps(asdict(reply)) + "\n")


def replied(asked: Asked) -> Reply:
    """Return the other populations that are named, or why this is refused.

    Raises:
        OSError: An overlap file is missing.
        ValueError: An overlap file was changed.
    """
    schema, file = dataset_from_json(asked.schema), Path(asked.file)
    declared = Declared(schema, frozenset(asked.coinciding), asked.headers)
    overlaps = OverlapFiles(Path(asked.overlaps))
    known = {
        name: KnownUnits(overlaps.content(name, digest))
        for name, digest in asked.populations.items()
    }
    own = known.pop(schema.population)
    try:
        named = named_in_snapshot(
            EarlierSnapshot(file, declared),
            own,
            known,
            secret=bytes.fromhex(asked.secret),
            target=Path(asked.target),
        )
    except IngestionError as error:
        return Reply(refused=tuple(one.sentence for one in error.problems))
    return Reply(
        named=named, rows=public_rows(file, schema), active_rows=_active_rows(asked)
    )


def _active_rows(asked: Asked) -> dict[str, str] | None:
    if asked.active_schema is None:
        return None
    schema = dataset_from_json(asked.active_schema)
    return public_rows_if_readable(Path(asked.active), schema)


if __name__ == "__main__":
    main()
