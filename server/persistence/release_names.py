"""What a release is called: its id, or its name, which a population gives once."""

from sqlalchemy import ColumnElement, Connection, and_, not_, or_, select

from release.contract.ids import is_release_id
from server.persistence.tables import job, publication


def is_called(named: str) -> ColumnElement[bool]:
    """Return the condition that a release is called so.

    What is written as ids are means the release of that id alone, whoever asks: a
    release of that name would stand in for one that the caller may not see.
    """
    column = publication.c.id if is_release_id(named) else publication.c.name
    return column == named


def is_name_taken(connection: Connection, name: str, population: str | None) -> bool:
    """Return whether a release of a population that did not fail is called so.

    One whose job ended without it has failed, though that is written at a public time
    alone. Other populations' names are not looked at: nobody learns of them by this.
    """
    taken = select(publication.c.id).where(
        publication.c.name == name,
        publication.c.population == population,
        not_(or_(publication.c.state == "failed", _is_over())),
    )
    return connection.execute(taken).first() is not None


def _is_over() -> ColumnElement[bool]:
    without = select(job.c.id).where(job.c.state.in_(("failed", "cancelled")))
    return and_(publication.c.state == "begun", publication.c.job.in_(without))
