"""Submitting, watching and cancelling jobs."""

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import ColumnElement, and_, false, or_, select, true

from privacy.errors import (
    CuratorError,
    InvalidOptionError,
    LedgerUnavailableError,
)
from privacy.times import shown_time, shown_time_if_any
from server.persistence import tables
from server.use_cases.identity.access import Caller, populations_of
from server.use_cases.jobs.kinds import (
    JobKind,
    JobKinds,
    Lineage,
    Prepared,
    UnpreparedError,
)
from server.use_cases.jobs.replies import JobDetail, JobItem
from server.use_cases.jobs.store import JobRow, JobStore, NewJob, row_of
from server.use_cases.services.errors import BusyError, NoSuchThingError, NotFoundError
from server.use_cases.services.paging import ListOf, Page, listed, read_page
from server.use_cases.services.services import Services
from server.version import VERSION

MOST_OF_AN_ACTOR = 2  # jobs that are being submitted at once


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks for jobs.

    Attributes:
        actor: The name under which a job's changes are recorded.
        populations: Those of which the viewer is a custodian; None: everything, on
            the host itself.
    """

    actor: str
    populations: frozenset[str] | None


class JobService:
    """Jobs, for custodians; what is not theirs is not there."""

    def __init__(
        self, services: Services, store: JobStore, kinds: Callable[[], JobKinds]
    ) -> None:
        self._services = services
        self._store = store
        self._kinds = kinds
        self._preparing: Counter[str] = Counter()  # how many of each actor's jobs
        self._lock = threading.Lock()

    def viewer(self, caller: Caller) -> Viewer:
        """Return what a custodian may see."""
        with self._services.databases.reader.connect() as connection:
            theirs = populations_of(connection, caller.name)
        return Viewer(caller.name, frozenset(theirs))

    def submit(
        self, viewer: Viewer, kind_name: str, given: Mapping[str, object]
    ) -> JobDetail:
        """Check a job and queue it.

        Raises:
            InvalidOptionError: There is no such kind, or it refuses the parameters.
            BusyError: Too many are being submitted.
            NotFoundError: It is about another custodian's population, or what it
                names is not there, or is wrong and not known to be the viewer's: one
                answer, so that nobody learns what lies in the import folder.
        """
        kind = self._kinds().get(kind_name)
        if kind is None:
            message = f"kind: one of {', '.join(sorted(self._kinds()))}"
            raise InvalidOptionError(message)
        with self._one_of_few(viewer.actor):
            prepared = _prepare(viewer, kind, given)
        self._check_population(viewer, prepared.population)
        parameters = prepared.parameters.model_dump(mode="json")
        lineage: Lineage = {
            "inputs": prepared.inputs,
            "code_version": VERSION,
            "outputs": [],
        }
        new = NewJob(
            kind=kind_name,
            parameters=json.dumps(parameters, sort_keys=True),
            population=prepared.population,
            actor=viewer.actor,
            lineage=json.dumps(lineage),
        )
        return self.show(viewer, self._store.submit(new))

    @contextmanager
    def _one_of_few(self, actor: str) -> Iterator[None]:
        """Keep an actor from taking all places in which manifests are read."""
        with self._lock:
            if self._preparing[actor] >= MOST_OF_AN_ACTOR:
                message = "jobs of yours are being submitted: submit it after them"
                raise BusyError(message)
            self._preparing[actor] += 1
        try:
            yield
        finally:
            with self._lock:
                self._preparing[actor] -= 1
                self._preparing += Counter()  # forgets who has none

    def _check_population(self, viewer: Viewer, population: str | None) -> None:
        """Refuse what is about somebody else's population; a new one is nobody's."""
        if viewer.populations is None or population in viewer.populations:
            return
        if population is None or self._exists(population):
            raise NotFoundError

    def _exists(self, population: str) -> bool:
        with self._services.databases.reader.connect() as connection:
            found = connection.execute(
                select(tables.population.c.name).where(
                    tables.population.c.name == population
                )
            ).first()
        return found is not None

    def show(self, viewer: Viewer, job_id: str) -> JobDetail:
        """Describe one job.

        Raises:
            NotFoundError: Unknown, or another custodian's.
        """
        return document_of(self._visible(viewer, job_id))

    def _visible(self, viewer: Viewer, job_id: str) -> JobRow:
        row = self._store.get(job_id)
        if row is None and viewer.populations is None:
            message = f"no job {job_id!r}: see 'curator job list'"
            raise NoSuchThingError(message)
        if row is None or not self._sees(viewer, row):
            raise NotFoundError
        return row

    def _sees(self, viewer: Viewer, row: JobRow) -> bool:
        if viewer.populations is None or row.population in viewer.populations:
            return True
        own = row.actor == viewer.actor and row.population is not None
        return own and not self._exists(str(row.population))

    def page(self, viewer: Viewer, page: Page) -> ListOf[JobItem]:
        """List jobs, newest first.

        Raises:
            InvalidOptionError: The cursor is none that a list gave.
        """
        visible = _seen_by(viewer)
        with self._services.databases.reader.connect() as connection:
            rows, cursor = read_page(connection, tables.job, page, visible)
        items = [_listed(row_of(row)) for row in rows]
        return listed(items, cursor)

    def cancel(self, viewer: Viewer, job_id: str) -> JobDetail:
        """Ask for a job's end: a queued one ends at once, a running one in seconds.

        Raises:
            NotFoundError: Unknown, or another custodian's.
        """
        row = self._visible(viewer, job_id)
        self._store.request_cancel(job_id)
        if (kind := self._kinds().get(row.kind)) is not None:
            with contextlib.suppress(LedgerUnavailableError):
                kind.settle()
        return self.show(viewer, job_id)


def _prepare(viewer: Viewer, kind: JobKind, given: Mapping[str, object]) -> Prepared:
    try:
        parameters = kind.parameters.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "parameters"
        said = first["msg"].removeprefix("Value error, ")
        message = f"parameters: {place}: {said}"
        raise InvalidOptionError(message) from None
    try:
        return kind.prepare(parameters)
    except UnpreparedError as error:
        if viewer.populations is None or error.population in viewer.populations:
            raise InvalidOptionError(str(error)) from None
        raise NotFoundError from None
    except BusyError:
        raise
    except CuratorError as error:  # over HTTP the caller's mistake, whatever its kind
        raise InvalidOptionError(str(error)) from None


def _seen_by(viewer: Viewer) -> ColumnElement[bool]:
    """Return the condition under which a viewer sees a job, as ``_sees`` has it."""
    job, population = tables.job, tables.population
    if viewer.populations is None:
        return true()
    theirs = job.c.population.in_(sorted(viewer.populations))
    nobodys = job.c.population.not_in(select(population.c.name))
    own = and_(job.c.actor == viewer.actor, nobodys)
    return or_(theirs if viewer.populations else false(), own)


def _listed(row: JobRow) -> JobItem:
    return {
        "id": row.id,
        "kind": row.kind,
        "population": row.population,
        "actor": row.actor,
        "created": shown_time(row.created),
        "state": row.state,
        "stage": row.stage,
        "done": row.done,
        "total": row.total,
        "attempts": row.attempts,
        "cancel_requested": row.cancel_requested,
        "started": shown_time_if_any(row.started),
        "ended": shown_time_if_any(row.ended),
    }


def document_of(row: JobRow) -> JobDetail:
    """Return all that custodians may see of a job: its report counts raw rows."""
    shown = row.state == "done" and row.result is not None
    return {
        **_listed(row),
        "error": row.error,
        "result": json.loads(str(row.result)) if shown else None,
        "parameters": json.loads(row.parameters),
        "lineage": json.loads(row.lineage),
    }
