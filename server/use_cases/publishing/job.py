"""The kind of job that publishes a release: ``release.publish``.

Order (PRIVACY 5): plan and price, charge once by the job's id, touch data, measure,
write and sync the files, give the folder its name, wait for the release's public time,
then store the manifest's digest in the chain together with the job's own result. A
worker that is killed anywhere leaves either no charge, or a charge that the next
attempt goes on with, or whole files that it publishes, or a whole release.
"""

import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

from budget.charging.job_charges import not_begun
from budget.ledger import ChargeRequest, RecordedTransaction
from budget.storage.records import NO_PROJECT, FailedReplay, Refused, Replay
from mechanisms.measuring.meter import Meter
from privacy.charges import Charge
from privacy.errors import LedgerUnavailableError
from privacy.times import shown_time
from query_lang.rendering.dialect import Target
from release.contract.spec import ReleaseSpec
from release.store.folders import Content, write_release
from release.store.manifests import Publication
from release.store.signing import InstallationKey
from server.persistence import tables
from server.persistence.release_names import is_name_taken
from server.use_cases.approvals.changes import Altered, Change, Subject
from server.use_cases.approvals.second_persons import (
    asking_second_person,
    require_second_person,
)
from server.use_cases.jobs.actors import check_custodian
from server.use_cases.jobs.kinds import (
    JobContext,
    JobParameters,
    Prepared,
    UnpreparedError,
)
from server.use_cases.jobs.store import ENDED, is_free
from server.use_cases.losses.amounts import told
from server.use_cases.losses.caps import cap_scopes, least_of
from server.use_cases.publishing.cost_settings import release_target
from server.use_cases.publishing.plans import ReleasePlan
from server.use_cases.publishing.specs import (
    SpecRefusedError,
    plan_release,
    population_of,
    read_spec,
)
from server.use_cases.releases.folders import ReleaseFolders
from server.use_cases.releases.times import (
    LATE,
    Appearance,
    PublicationRow,
    appearance,
    is_past,
    worst_appearance,
)
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError, JobStoppedError
from server.use_cases.services.secret_files import read_secret
from server.use_cases.services.services import Services, now_text
from server.use_cases.services.slots import wait_until
from server.use_cases.services.work_ends import FAILED, PUBLISHED
from server.version import VERSION

_STEPS = 5
_FIRST = {
    "project": "create it",
    "principal": "take them into one of its projects",
}
_UNWRITTEN = (
    "the release was measured and could not be written: look at the disk of the data "
    "directory. Its charge stays spent, since drawing anew would choose among draws; "
    "submit it again for a new charge"
)
_UNFINISHED = (
    "the release was measured, and then the work met a fault ({fault}), which the "
    "operator's log names. Its charge stays spent, since drawing anew would choose "
    "among draws; once it is mended submit it again for a new charge"
)
_BEGIN = "release.begin"

_log = logging.getLogger("curator.jobs")


class ReleaseParameters(JobParameters):
    """The member ``release`` of a spec file."""

    release: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Work:
    """One attempt: what was planned, and what was paid for it."""

    planned: ReleasePlan
    release_id: str
    charge: Charge


class ReleaseJob:
    """Publishes a release, charged once however often the job is begun again."""

    name = "release.publish"
    parameters: type[JobParameters] = ReleaseParameters

    def __init__(self, services: Services) -> None:
        self._services = services
        self._folders = ReleaseFolders(services.settings.releases)
        self._given_up: set[str] = set()

    def prepare(self, parameters: JobParameters) -> Prepared:
        """Plan the release; no row is read and nothing is charged.

        Raises:
            UnpreparedError: The spec does not fit the dataset, or there is none.
            SpecRefusedError: It is no spec.
        """
        spec = read_spec(_given(parameters))
        with self._services.databases.reader.connect() as connection:
            population = population_of(connection, spec)
            try:
                planned = plan_release(connection, spec, release_target(self._services))
                require_known_readers(connection, planned)
                require_free_name(connection, planned)
            except (SpecRefusedError, CommandRefusedError) as error:
                raise UnpreparedError(str(error), population) from None
        read: Document = {"dataset": spec.dataset, "snapshot": planned.snapshot}
        return Prepared(parameters, population, [read])

    def run(self, context: JobContext, parameters: JobParameters) -> Document:
        """Publish the release.

        Raises:
            CommandRefusedError: The cap is too small, the name is taken, the charge
                has ended, or whoever asked is no custodian of the population now.
            ProposalOpenError: A public release waits for a second person.
            ExecutionError: The cells could not be counted; the charge stays.
            JobStoppedError: The job was cancelled, or has to be let go.
        """
        context.progress("plan", 0, _STEPS)
        planned = self._planned(context, read_spec(_given(parameters)))
        context.record_inputs(
            [{"dataset": planned.spec.dataset, "snapshot": planned.snapshot}]
        )
        context.progress("charge", 1, _STEPS)
        outcome = self._charged(context, planned)
        if isinstance(outcome, Replay):
            return self._stored(planned, context.job_id, outcome.body)
        return self._publish(
            context, _Work(planned, release_id_of(context.job_id), outcome)
        )

    def unbegun(self) -> list[str]:
        """Return the jobs without a charge that nobody works on, oldest first.

        Jobs that were cancelled after it are settled at once: nobody takes them.
        """
        self.settle()
        release, job = tables.publication, tables.job
        uncharged = (
            select(job.c.id)
            .where(
                job.c.kind == self.name,
                is_free(),
                job.c.cancel_requested.is_(False),
                job.c.id.not_in(select(release.c.job)),
            )
            .order_by(job.c.created, job.c.id)
        )
        with self._services.databases.reader.connect() as connection:
            return list(connection.execute(uncharged).scalars())

    def begin(self, context: JobContext, parameters: JobParameters) -> None:
        """Charge the release, of the snapshot that is active now.

        The time of the charge is told to auditors and readers, who may not learn from
        it how long the jobs before this one took.

        Raises:
            CuratorError: As ``run``; nothing was charged.
        """
        planned = self._planned(context, read_spec(_given(parameters)))
        self._charged(context, planned, is_begun=False)

    def _planned(self, context: JobContext, spec: ReleaseSpec) -> ReleasePlan:
        """Plan for the snapshot that was charged, else for the active one."""
        with self._services.databases.reader.connect() as connection:
            begun = publication_of_job(connection, context.job_id)
            snapshot = None if begun is None else str(begun.snapshot)
            target = Target(self._services.dialect)  # what is paid for is counted
            if begun is None:
                target = release_target(self._services)
            planned = plan_release(connection, spec, target, snapshot)
            if begun is None and not self._services.engine.can_open(planned.snapshot):
                message = (
                    f"the active snapshot of {spec.dataset} cannot be read: nothing "
                    "was charged; load the dataset again, or bring the file back"
                )
                raise CommandRefusedError(message)
            check_custodian(connection, context.actor, planned.dataset.population)
        return planned

    # -- the charge ---------------------------------------------------------------

    def _charged(
        self, context: JobContext, planned: ReleasePlan, *, is_begun: bool = True
    ) -> Charge | Replay:
        def begin(change: RecordedTransaction) -> None:
            check_custodian(
                change.connection, context.actor, planned.dataset.population
            )
            require_known_readers(change.connection, planned)
            require_free_name(change.connection, planned)
            if planned.spec.is_public:
                require_second_person(change, context.actor, public_change(planned))
            change.insert(tables.publication, _row(context, planned))
            if not is_begun:
                not_begun(change.connection, context.job_id)
            context.raise_if_stopped()

        is_made = self._folders.whole(release_id_of(context.job_id)) is not None
        with asking_second_person(self._services, context.actor):
            outcome = self._services.ledger.charge_work(
                _request(context, planned), _BEGIN, begin, is_made=is_made
            )
        if isinstance(outcome, Refused):
            left = least_of(outcome.remaining.values())
            message = (
                f"the release would cost {told(planned.measure, planned.price)}, and "
                f"the cap "
                f"of {planned.dataset.population} has {left} left: nothing was charged"
            )
            raise CommandRefusedError(message)
        if isinstance(outcome, FailedReplay):
            message = "this job's charge ends without a release: submit a new one"
            raise CommandRefusedError(message)
        return outcome

    # -- after the charge ---------------------------------------------------------

    def _publish(self, context: JobContext, work: _Work) -> Document:
        """Measure, write, store.

        All that can fail for a passing reason and needs no noise comes before the
        measurement: what is drawn is drawn anew only where an attempt was cut off
        before its files were whole (PRIVACY 5). Whole files are published, whoever
        wrote them: whether the ledger takes more may depend on the room that they left.
        """
        publication = self._publication(context, work)
        content = self._folders.whole(work.release_id)
        if content is None:
            content = self._written(context, work, publication)
        context.progress("write", 4, _STEPS)
        digest = hashlib.sha256(content).hexdigest()
        shown = self._appears(publication, work.planned)
        result = self._result(work.planned, context.job_id, content)
        result[LATE] = shown.is_late
        self._wait_until(context, shown)

        def publish(change: RecordedTransaction) -> None:
            change.update(
                tables.publication,
                {"id": work.release_id},
                {
                    "state": "published",
                    "manifest_sha256": digest,
                    "visible": shown.time,
                },
            )
            output = {name: told for name, told in result.items() if name != LATE}
            context.conclude(change.connection, result, [output])

        stored = self._services.ledger.store_work(
            work.charge, content, PUBLISHED, context.actor, publish
        )
        return self._stored(work.planned, context.job_id, stored) | {
            LATE: shown.is_late
        }

    def _wait_until(self, context: JobContext, shown: Appearance) -> None:
        """Wait for a release's public time, which its entry is written at.

        Whoever reads waits until an entry is anchored: one that were written when work
        on rows ended would tell everybody when it did (PRIVACY 6, Other routes).

        Raises:
            JobStoppedError: The job was cancelled, or has to be let go meanwhile.
        """

        def waiting(done: int, total: int) -> None:
            context.progress("slot", done, total)

        with context.resting():
            wait_until(datetime.fromisoformat(shown.time).timestamp(), waiting)

    def _written(
        self, context: JobContext, work: _Work, publication: Publication
    ) -> bytes:
        """Measure, and write a whole folder; return its manifest.

        Raises:
            CommandRefusedError: It cannot be written, now or in an earlier attempt.
        """
        key = InstallationKey(read_secret(self._services.settings.secret_file))
        is_over = work.release_id in self._given_up
        if is_over or self._folders.was_given_up(work.release_id):
            raise CommandRefusedError(_UNWRITTEN)
        context.require_lease()  # staging removes what others began
        with self._written_or_failed(context, work):
            part = self._folders.stage(work.release_id, context.attempt)
        measure = self._counted(context, work)
        context.progress("measure", 3, _STEPS)
        # What fails from here on is no reason to draw anew: no ledger is waited for.
        with self._written_or_failed(context, work):
            self._given_up.add(work.release_id)  # as long as the files are not whole
            measured = measure()
            with contextlib.suppress(SQLAlchemyError):
                context.require_lease()
            content = write_release(part, publication, work.charge, measured, key)
            digest = hashlib.sha256(content).hexdigest()
            self._folders.settle(part, work.release_id, digest, publication.charged)
            self._given_up.discard(work.release_id)
        return content

    @contextlib.contextmanager
    def _written_or_failed(self, context: JobContext, work: _Work) -> Iterator[None]:
        """End the job where what is in here fails, whatever it is: no fresh noise.

        Whether disk and memory take the files may depend on what was drawn, through
        their size, and so may a fault of our own or of a library: a retry would choose
        among draws. What was half written goes first: the ledger may need its room.
        ``settle`` ends the charge, at a public time.

        Raises:
            CommandRefusedError: Anything failed.
            LeaseLostError: So it did, or another worker has the job, charge and files.
        """
        try:
            yield
        except JobStoppedError:
            self._given_up.discard(work.release_id)  # whoever has it now begins anew
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, no fresh noise
            facts = {"error": type(error).__name__}
            _log.error("a release could not be written", extra=facts)
            with contextlib.suppress(SQLAlchemyError):
                context.require_lease()
            with contextlib.suppress(OSError):
                self._folders.give_up(work.release_id, context.attempt)
            told = _UNFINISHED.format(fault=type(error).__name__)
            if isinstance(error, OSError | MemoryError):
                told = _UNWRITTEN
            raise CommandRefusedError(told) from None

    def _appears(self, publication: Publication, planned: ReleasePlan) -> Appearance:
        return appearance(
            publication.charged,
            now_text(),
            cells=planned.work.declared_cells(),
            slot_seconds=self._services.settings.release_slot_s,
        )

    def _stored(self, planned: ReleasePlan, job_id: str, content: bytes) -> Document:
        """Return the result of what the ledger names; nothing else stays."""
        digest = hashlib.sha256(content).hexdigest()
        self._folders.keep_only(release_id_of(job_id), digest)
        return self._result(planned, job_id, content)

    def _counted(self, context: JobContext, work: _Work) -> Callable[[], Content]:
        """Count; return what draws the noise, once, and measures with it."""
        planned = work.planned
        context.progress("count", 2, _STEPS)
        measure = planned.work.count(
            self._services.engine, planned.snapshot, context.interruptible
        )

        def measured() -> Content:
            meter = Meter(
                work.charge,
                planned.parts,
                self._services.vector_sampler,
                planned.measure,
                planned.noise,
            )
            return measure(meter, planned.spec.parameters)

        return measured

    def _publication(self, context: JobContext, work: _Work) -> Publication:
        planned = work.planned
        charged = self._services.ledger.query(context.job_id)
        if charged is None:  # it is there: this attempt holds its charge
            message = "the charge cannot be read"
            raise LedgerUnavailableError(message, query_id=context.job_id)
        return Publication(
            release_id=work.release_id,
            spec=planned.spec,
            plan=planned.plan,
            dataset=planned.dataset,
            snapshot=planned.snapshot,
            parts=planned.parts,
            expected=planned.expected,
            charged=shown_time(charged.time),
            code_version=VERSION,
            measure=planned.measure,
        )

    def _result(self, planned: ReleasePlan, job_id: str, content: bytes) -> Document:
        return {
            "release": release_id_of(job_id),
            "name": planned.spec.name,
            "dataset": planned.spec.dataset,
            "snapshot": planned.snapshot,
            **planned.work.sizes(),
            **planned.told,
            "manifest_sha256": hashlib.sha256(content).hexdigest(),
        }

    # -- what was left behind -----------------------------------------------------

    def holds_queue(self, result: Document | None) -> bool:
        """Whether the next job begins at a slot's end: releases appear in slots."""
        del result
        return False

    def clean(self) -> None:
        """End what ended jobs had begun, and delete folders that nobody names."""
        self.settle()
        self.delete_unnamed()

    def discard(self, context: JobContext, *, is_over: bool) -> None:
        """Do nothing: what is left is few files, which ``clean`` removes."""

    def settle(self) -> None:
        """Fail every release whose job has ended without it; its charge stays.

        Not before the time at which others may learn of it, since whoever reads waits
        for the anchor of the entry.
        """
        release, job = tables.publication, tables.job
        ended = (
            select(release.c.id, release.c.job, release.c.created, job.c.actor)
            .add_columns(job.c.ended)
            .join(job, job.c.id == release.c.job)
            .where(release.c.state == "begun", job.c.state.in_(ENDED))
        )
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(ended).all()
        for row in rows:
            shown = worst_appearance(
                str(row.created),  # with its charge
                str(row.ended),
                slot_seconds=self._services.settings.release_slot_s,
            )
            if is_past(shown.time):
                self._fail(str(row.id), str(row.job), str(row.actor), shown)

    def _fail(
        self, release_id: str, job_id: str, actor: str, shown: Appearance
    ) -> None:
        def fail(change: RecordedTransaction) -> None:
            row = publication_of_job(change.connection, job_id)
            if row is None or row.state != "begun":
                raise _SettledError  # by another process, meanwhile
            change.update(
                tables.publication,
                {"id": release_id},
                {"state": "failed", "visible": shown.time},
            )

        with contextlib.suppress(_SettledError):
            self._services.ledger.fail_work(job_id, FAILED, actor, fail)

    def delete_unnamed(self) -> None:
        """Delete folders that no entry names and no job works on.

        Raises:
            CuratorError: The ledger is not the one that the anchor remembers: an older
                one does not name what was published since. Nothing was deleted.
        """
        self._services.ledger.check()
        found = self._folders.present()
        release = tables.publication
        with self._services.databases.reader.connect() as connection:
            rows = connection.execute(
                select(release.c.id, release.c.manifest_sha256, release.c.state)
            ).all()
        named = {(r.id, r.manifest_sha256) for r in rows if r.manifest_sha256}
        begun = {row.id for row in rows if row.state == "begun"}
        self._folders.delete_unnamed(found, named, begun.__contains__)


class _SettledError(Exception):
    """Somebody else has ended the release; nothing is written."""


def release_id_of(job_id: str) -> str:
    """Return the id of the release that a job makes; random, as the job's is."""
    return "rel_" + job_id.removeprefix("job_")


def publication_of_job(connection: Connection, job_id: str) -> PublicationRow | None:
    """Return what a job has begun to publish; None before its charge."""
    release = tables.publication
    wanted = select(release).where(release.c.job == job_id)
    return connection.execute(wanted).one_or_none()


def require_known_readers(connection: Connection, planned: ReleasePlan) -> None:
    """Refuse readers whom the population does not know.

    Whoever got a name later would read; and a name of another population's people is
    refused as one that nobody has, so that no custodian learns of it by this.

    Raises:
        CommandRefusedError: There is no such project of the population; or no such
            principal is its custodian or in one of its projects.
    """
    known = _known_readers(connection, planned.dataset.population)
    for reader in planned.spec.reader_specs():
        for kind, name in reader.model_dump(exclude_none=True).items():
            if name not in known[kind]:
                message = (
                    f"readers: {planned.dataset.population} knows no {kind} {name}: "
                    f"{_FIRST[kind]} first"
                )
                raise CommandRefusedError(message)


def _known_readers(connection: Connection, population: str) -> dict[str, set[str]]:
    project, member = tables.project, tables.project_principal
    custodian = tables.custodian
    projects = select(project.c.name).where(project.c.population == population)
    members = select(member.c.principal).where(member.c.project.in_(projects))
    custodians = select(custodian.c.principal).where(
        custodian.c.population == population
    )
    return {
        "project": set(connection.execute(projects).scalars()),
        "principal": set(connection.execute(members.union(custodians)).scalars()),
    }


def require_free_name(connection: Connection, planned: ReleasePlan) -> None:
    """Refuse a name that another release of the population has, or had.

    Raises:
        CommandRefusedError: One that did not fail is called so.
    """
    name = planned.spec.name
    if is_name_taken(connection, name, planned.dataset.population):
        message = f"a release is called {name} already: take another name"
        raise CommandRefusedError(message)


def public_change(planned: ReleasePlan) -> Change:
    """Return what two persons must agree on before everybody may read a release."""
    named = f"public release {planned.spec.name}"
    canonical = planned.plan.canonical.encode()
    name, asked = planned.spec.name, json.loads(planned.spec.canonical_json())
    digest = hashlib.sha256(canonical).hexdigest()
    of_snapshot = Subject("release_snapshot", name)
    altered: tuple[Altered, ...] = (
        Altered(named, None, asked, Subject("release", name)),
        Altered(f"{named}: snapshot", None, planned.snapshot, of_snapshot),
        Altered(f"{named}: plan_sha256", None, digest),
        Altered(f"{named}: l1_sensitivity", None, planned.plan.l1_sensitivity),
    )
    if planned.spec.is_rho:
        amounts = told(planned.measure, planned.price)
        altered = (*altered, Altered(f"{named}: loss", None, amounts))
    return Change(
        "release.publish",
        planned.dataset.population,
        altered,
    )


def _row(
    context: JobContext, planned: ReleasePlan
) -> dict[str, str | int | bool | None]:
    spec = planned.spec
    readers = [reader.model_dump(exclude_none=True) for reader in spec.reader_specs()]
    return {
        "id": release_id_of(context.job_id),
        "name": spec.name,
        "population": planned.dataset.population,
        "dataset": spec.dataset,
        "snapshot": planned.snapshot,
        "job": context.job_id,
        "spec": spec.canonical_json(),
        "public": spec.is_public,
        "readers": json.dumps(readers, sort_keys=True),
        "state": "begun",
        "created": now_text(),
        "created_by": context.actor,
        "manifest_sha256": None,
        "visible": None,
    }


def _request(context: JobContext, planned: ReleasePlan) -> ChargeRequest:
    """Return the charge: the population's alone, for all recipients together."""
    spec, population = planned.spec, planned.dataset.population
    told = {
        "sql": planned.work.question(planned.dataset.unit),
        "release": json.loads(spec.canonical_json()),
        **planned.told,
    }
    return ChargeRequest(
        query_id=context.job_id,
        principal=context.actor,
        project=NO_PROJECT,
        population=population,
        dataset=spec.dataset,
        snapshot=planned.snapshot,
        scopes=cap_scopes(population, planned.plan.blocks),
        loss=planned.price,
        question=f"release:{release_id_of(context.job_id)}",
        private_history=True,
        idempotency_key=context.job_id,
        fingerprint=None,
        request_json=json.dumps(told, sort_keys=True),
    )


def _given(parameters: JobParameters) -> dict[str, object]:
    if not isinstance(parameters, ReleaseParameters):
        raise TypeError
    return {"release": parameters.release}
