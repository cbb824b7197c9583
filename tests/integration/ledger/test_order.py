"""Commit the charge, anchor it, touch data, store, anchor, send (PRIVACY 5)."""

import dataclasses
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from budget.chain.entries import head_of
from budget.charging.disk_space import LEAST_BYTES
from budget.ledger import Scope
from budget.storage.tables import answer, charge
from engines.contract import Execution
from mechanisms.samplers.laplace import OpenDPSampler
from privacy.charges import Charge
from privacy.errors import ExecutionError, LedgerUnavailableError
from privacy.losses import Loss
from query_lang.rendering.dialect import Target
from server.use_cases.identity.access import Caller
from server.use_cases.questions.asking import drawing
from server.use_cases.questions.asking.service import QueryService
from server.use_cases.questions.questions import Compiler, question_of_charge
from server.use_cases.questions.requests import read_request
from server.use_cases.releases.offers import ReleaseOffers
from server.use_cases.releases.opened import OpenReleases
from server.use_cases.services.errors import QueryFailedError
from server.use_cases.services.services import MOST_KEPT, KeptAnswers
from server.web import Server
from tests.support.installations.harness import Installation
from tests.support.installations.recovering import recovery_at_once

ADA = Caller("ada", "analyst")
PROJECT = Scope.project("study")


def question(**more):
    return read_request(
        {
            "sql": "SELECT COUNT(*) FROM visits",
            "epsilon": "0.5",
            "options": {"reuse": "never"},
            **more,
        }
    )


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("order")).create()
    installation.load()
    installation.analyst()
    return installation


@pytest.fixture
def services(installation):
    server = Server(installation.settings)
    server.services.ledger.open()
    yield server.services
    server._parser.close()
    server.services.engine.close()
    server.services.databases.close()


class Watch:
    """Stands before the engine and the sampler, and looks at the disk."""

    def __init__(self, services, installation, error=None):
        self._services = services
        self._installation = installation
        self.error = error
        self.seen = []

    def _look(self, what):
        with self._services.databases.reader.connect() as connection:
            states = connection.execute(select(charge.c.state)).scalars().all()
            answers = len(connection.execute(select(answer)).all())
            head = head_of(connection)
        anchored = self._services.ledger._anchor.read().head
        self.seen.append((what, states[-1:], answers, head == anchored))

    @property
    def version(self):
        return self._services.engine.version

    def execution(self, snapshot, plan):
        return Watched(self, self._services.engine.execution(snapshot, plan))

    def execute(self, execution):
        self._look("execute")
        if self.error is not None:
            raise self.error
        return execution.run()

    def discrete_laplace(self, values, scale):
        self._look("sample")
        return OpenDPSampler().discrete_laplace(values, scale)


@dataclasses.dataclass
class Watched:
    watch: Watch
    execution: Execution

    def run(self):
        return self.watch.execute(self.execution)


def queries_of(services, watch):
    answering = dataclasses.replace(services.answering(), engine=watch, sampler=watch)
    watched = dataclasses.replace(services, answering=lambda: answering)
    compiler = Compiler(watched.parser, Target(watched.dialect))
    queries = QueryService(
        watched, compiler, ReleaseOffers(watched, OpenReleases(watched))
    )
    return queries, recovery_at_once(watched, compiler, queries)


def test_the_charge_is_anchored_before_data_is_touched(services, installation):
    watch = Watch(services, installation)
    queries, _ = queries_of(services, watch)
    before = len(services.ledger.history("ada", limit=200, cursor=None)[0])
    queries.ask(ADA, "clinic", question(), None)
    assert [step[0] for step in watch.seen] == ["execute", "sample"]
    for _, states, answers, anchored in watch.seen:
        assert states == ["running"]
        assert answers == before
        assert anchored
    record = services.ledger._anchor.read()
    assert record.head.seq == len(services.ledger.export())


def test_a_failed_execution_keeps_its_charge_and_shows_no_cause(services, installation):
    watch = Watch(services, installation, error=ExecutionError("row 17 is bad"))
    queries, _ = queries_of(services, watch)
    spent = services.ledger.spent(PROJECT)
    reply = queries.ask(ADA, "clinic", question(), None)
    assert isinstance(reply.failure, QueryFailedError)
    assert "17" not in str(reply.failure)
    assert services.ledger.spent(PROJECT) == spent + Loss.parse("0.5")
    assert services.ledger.query(reply.query_id).state == "failed"


def test_a_bug_after_the_charge_looks_like_any_failure(services, installation):
    watch = Watch(services, installation, error=ZeroDivisionError("secret"))
    queries, _ = queries_of(services, watch)
    reply = queries.ask(ADA, "clinic", question(), None)
    assert isinstance(reply.failure, QueryFailedError)
    assert "secret" not in str(reply.failure)


def test_an_answer_that_cannot_be_stored_is_stored_later_as_it_was_drawn(
    services, installation, monkeypatch
):
    """Whether it could be stored may follow from its size: a redraw would be chosen."""
    watch = Watch(services, installation)
    queries, recovery = queries_of(services, watch)
    refused = []

    def refuse(_, body, measured):
        refused.append(body)
        refuse_to_store()

    with monkeypatch.context() as patch:
        patch.setattr(services.ledger, "store_answer", refuse)
        reply = queries.ask(ADA, "clinic", question(), None)
        assert isinstance(reply.failure, LedgerUnavailableError)
        assert reply.failure.query_id == reply.query_id
        assert [recovery.run_once() for _ in range(2)] == [1, 1]  # and refused again
    spent = services.ledger.spent(PROJECT)
    assert services.ledger._anchor.drawn() == {reply.query_id}
    assert [recovery.run_once() for _ in range(2)] == [0, 0]
    stored = services.ledger.query(reply.query_id)
    assert (stored.state, stored.body) == ("answered", refused[0])
    assert [step[0] for step in watch.seen] == ["execute", "sample"]
    assert services.ledger.spent(PROJECT) == spent
    assert services.kept.all() == services.ledger._anchor.drawn() == frozenset()
    assert services.unreleased.is_released(reply.query_id)


def test_what_was_drawn_by_a_process_that_is_gone_is_not_drawn_again(
    services, installation, monkeypatch
):
    watch = Watch(services, installation)
    queries, _ = queries_of(services, watch)
    with monkeypatch.context() as patch:
        patch.setattr(services.ledger, "store_answer", refuse_to_store)
        reply = queries.ask(ADA, "clinic", question(), None)
    lease = charge.c.lease_boot
    with services.databases.writer.begin() as connection:
        ours = charge.c.query_id == reply.query_id
        connection.execute(charge.update().where(ours).values({lease: None}))
    later = dataclasses.replace(services, kept=KeptAnswers())
    queries, recovery = queries_of(later, watch)
    assert [recovery.run_once() for _ in range(2)] == [0, 0]
    assert services.ledger.query(reply.query_id).state == "failed"
    assert [step[0] for step in watch.seen] == ["execute", "sample"]
    assert services.ledger._anchor.drawn() == frozenset()


@pytest.mark.sampled
@pytest.mark.parametrize("broken", ["measure_event", "answer_document", "encode"])
def test_what_fails_after_its_draw_is_not_drawn_again_where_no_end_can_be_written(
    services, installation, monkeypatch, broken
):
    watch = Watch(services, installation)
    queries, recovery = queries_of(services, watch)
    with monkeypatch.context() as patch:
        patch.setattr(services.ledger, "fail", refuse_to_store)
        patch.setattr(drawing, broken, divide_by_zero)
        reply = queries.ask(ADA, "clinic", question(), None)
    assert isinstance(reply.failure, LedgerUnavailableError)
    assert services.ledger.query(reply.query_id).state == "running"
    assert [recovery.run_once() for _ in range(2)] == [1, 0]
    assert services.ledger.query(reply.query_id).state == "failed"
    assert [step[0] for step in watch.seen].count("execute") == 1


def test_nothing_is_charged_where_the_disk_is_nearly_full_or_answers_wait_for_it(
    services, installation, monkeypatch
):
    queries, _ = queries_of(services, Watch(services, installation))
    spent = services.ledger.spent(PROJECT)
    with monkeypatch.context() as patch:
        patch.setattr(
            "shutil.disk_usage", lambda _: SimpleNamespace(free=LEAST_BYTES - 1)
        )
        with pytest.raises(LedgerUnavailableError, match="nothing was charged"):
            queries.ask(ADA, "clinic", question(), None)
    for number in range(MOST_KEPT):
        services.kept.keep(Charge(f"q_{number}", Loss(1)), None)
    with pytest.raises(LedgerUnavailableError, match="nothing is charged before"):
        queries.ask(ADA, "clinic", question(), None)
    assert services.ledger.spent(PROJECT) == spent


def test_a_charge_that_could_not_be_anchored_is_answered_by_recovery(
    services, installation, monkeypatch
):
    watch = Watch(services, installation)
    queries, recovery = queries_of(services, watch)
    with monkeypatch.context() as patch:
        patch.setattr(
            "os.fsync", lambda _: (_ for _ in ()).throw(OSError(5, "input/output"))
        )
        reply = queries.ask(ADA, "clinic", question(), None)
    assert isinstance(reply.failure, LedgerUnavailableError)
    assert watch.seen == []
    assert [recovery.run_once() for _ in range(2)] == [1, 0]
    assert services.ledger.query(reply.query_id).state == "answered"


def test_an_orphan_that_cannot_be_prepared_strands_no_other(
    services, installation, monkeypatch
):
    watch = Watch(services, installation, error=LedgerUnavailableError("it stops"))
    queries, healthy = queries_of(services, watch)
    stuck, fine = (queries.ask(ADA, "clinic", question(), None) for _ in range(2))
    watch.error = None
    calls = []

    def prepare_all_but_the_first(*words):
        calls.append(words)
        if len(calls) == 1:
            raise ZeroDivisionError
        return question_of_charge(*words)

    monkeypatch.setattr(
        "server.use_cases.questions.recovery.question_of_charge",
        prepare_all_but_the_first,
    )
    assert [healthy.run_once() for _ in range(2)] == [2, 1]
    assert services.ledger.query(fine.query_id).state == "answered"
    assert services.ledger.query(stuck.query_id).state == "running"
    assert healthy.run_once() == 0
    assert services.ledger.query(stuck.query_id).state == "answered"


def test_an_orphan_that_can_never_be_prepared_ends_as_failed(
    services, installation, monkeypatch
):
    watch = Watch(services, installation, error=LedgerUnavailableError("it stops"))
    queries, recovery = queries_of(services, watch)
    reply = queries.ask(ADA, "clinic", question(), None)
    watch.error = None
    monkeypatch.setattr(
        "server.use_cases.questions.recovery.question_of_charge",
        lambda *_: (_ for _ in ()).throw(ZeroDivisionError),
    )
    assert [recovery.run_once() for _ in range(4)] == [1, 1, 0, 0]
    assert services.ledger.query(reply.query_id).state == "failed"


def refuse_to_store(*_):
    message = "disk full"
    raise LedgerUnavailableError(message)


def divide_by_zero(*_, **__):
    raise ZeroDivisionError
