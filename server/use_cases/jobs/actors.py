"""Whom a job works for: may they still ask for it?"""

from collections.abc import Callable

from sqlalchemy import Connection, select

from server.persistence import tables
from server.use_cases.approvals.second_persons import HOST
from server.use_cases.identity.access import custodians_of
from server.use_cases.jobs.kinds import JobContext
from server.use_cases.services.errors import CommandRefusedError


def check_custodian(connection: Connection, actor: str, population: str) -> None:
    """Check that whoever asked for a job could ask for it now.

    A job may wait for days; whom it works for may have been taken away meanwhile, or
    somebody else may have created the population.

    Raises:
        CommandRefusedError: They are no enabled custodian, or not of this population.
    """
    known = connection.execute(
        select(tables.population.c.name).where(tables.population.c.name == population)
    ).first()
    custodians = custodians_of(connection, None if known is None else population)
    if not actor.startswith(HOST) and actor not in custodians:
        message = (
            f"{actor}, who submitted this job, is no enabled custodian of its "
            "population now: one who is submits it again"
        )
        raise CommandRefusedError(message)


def wanted_by(context: JobContext) -> Callable[[Connection, str], None]:
    """Return what checks that a job is still wanted, by somebody who may want it.

    It holds until the transaction ends in which it is asked.
    """

    def check(connection: Connection, population: str) -> None:
        context.require_wanted(connection)
        check_custodian(connection, context.actor, population)

    return check
