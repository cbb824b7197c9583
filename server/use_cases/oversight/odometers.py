"""What the operator's listener shows of the ledger; it decides nothing."""

import json
from decimal import Decimal

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from budget.ledger import Scope
from privacy.errors import CuratorError
from privacy.losses import Loss
from server.persistence import tables
from server.telemetry.metrics import Readings
from server.use_cases.releases.times import LATE
from server.use_cases.services.services import Services

_PUBLISHED = select(tables.job.c.result).where(
    tables.job.c.kind == "release.publish", tables.job.c.result.is_not(None)
)


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
            names = list(connection.execute(select(tables.population.c.name)).scalars())
            jobs = connection.execute(
                select(tables.job.c.state, func.count()).group_by(tables.job.c.state)
            ).all()
            results = connection.execute(_PUBLISHED).scalars().all()
        position = ledger.position()
        scopes = {name: Scope.population(name) for name in names}
        return Readings(
            failed=position.failed,
            incidents=engine.incidents + releases.failed,
            limit_incidents=engine.limit_incidents + releases.at_limit,
            late=late,
            entries=position.entries,
            anchor_lag=position.unanchored,
            spent={n: as_decimal(ledger.spent(s)) for n, s in scopes.items()},
            caps={n: as_decimal(ledger.limit(s) or Loss(0)) for n, s in scopes.items()},
            jobs={row[0]: row[1] for row in jobs},
            late_releases=sum(json.loads(text).get(LATE, False) for text in results),
        )


def as_decimal(loss: Loss) -> Decimal:
    """Return a loss as a decimal number of epsilon."""
    return Decimal(str(loss))
