"""What the operator's listener shows of the ledger; it decides nothing."""

import json
from decimal import Decimal
from typing import Final, get_args

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from privacy.errors import CuratorError
from privacy.losses import Loss
from server.persistence import tables
from server.telemetry.metrics import Readings
from server.use_cases.jobs.replies import JobState
from server.use_cases.losses.amounts import as_epsilon
from server.use_cases.losses.caps import caps_of
from server.use_cases.losses.measures import measure_in
from server.use_cases.releases.times import LATE
from server.use_cases.services.services import Services

_PUBLISHED = select(tables.job.c.result).where(
    tables.job.c.kind == "release.publish", tables.job.c.result.is_not(None)
)
_NO_JOBS: Final = dict.fromkeys(get_args(JobState), 0)
"""A series that began with the first failed job would show alerts no increase."""


class Odometers:
    """Reads readings of the ledger and of the work tables."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def read(self, *, late: int) -> Readings | None:
        """Return the readings of now; None where the ledger cannot be read."""
        try:
            with self._services.databases.unchecked():  # it tells how far behind it is
                return self._read(late)
        except (CuratorError, SQLAlchemyError, OSError):
            return None

    def _read(self, late: int) -> Readings:
        ledger = self._services.ledger
        engine, releases = self._services.engine, self._services.release_incidents
        with self._services.databases.reader.connect() as connection:
            table = tables.population.c
            rows = connection.execute(select(table.name, table.declaration)).all()
            jobs = connection.execute(
                select(tables.job.c.state, func.count()).group_by(tables.job.c.state)
            ).all()
            results = connection.execute(_PUBLISHED).scalars().all()
        position = ledger.position()
        declared = {row.name: json.loads(row.declaration) for row in rows}
        measures = {name: measure_in(words) for name, words in declared.items()}
        held = {name: caps_of(ledger, name, words) for name, words in declared.items()}

        def told(name: str, loss: Loss) -> Decimal:
            return as_decimal(as_epsilon(measures[name], loss))

        return Readings(
            failed=position.failed,
            incidents=engine.incidents + releases.failed,
            limit_incidents=engine.limit_incidents + releases.at_limit,
            late=late,
            entries=position.entries,
            anchor_lag=position.unanchored,
            spent={name: told(name, caps.spent) for name, caps in held.items()},
            caps={name: told(name, caps.cap) for name, caps in held.items()},
            block_spent={
                (name, block.name): told(name, block.spent)
                for name, caps in held.items()
                for block in caps.blocks
            },
            block_caps={
                (name, block.name): told(name, block.cap)
                for name, caps in held.items()
                for block in caps.blocks
            },
            jobs=_NO_JOBS | {row[0]: row[1] for row in jobs},
            late_releases=sum(json.loads(text).get(LATE, False) for text in results),
        )


def as_decimal(loss: Loss) -> Decimal:
    """Return a loss as a decimal number of epsilon."""
    return Decimal(str(loss))
