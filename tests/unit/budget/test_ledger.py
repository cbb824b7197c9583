import hashlib

import pytest
from sqlalchemy import select, update

from budget.charging.splices import joined
from budget.ledger import (
    Charged,
    FailedReplay,
    InFlight,
    Mismatch,
    Refused,
    Replay,
    Scope,
)
from budget.storage.records import NO_PROJECT
from budget.storage.tables import answer
from privacy.errors import (
    AnchorMismatchError,
    InvalidOptionError,
    LedgerUnavailableError,
)
from privacy.losses import Loss

PROJECT = Scope.project("study")
POPULATION = Scope.population("people")


def keyed(stored, key="k", fingerprint="f", **more):
    return stored.request(idempotency_key=key, fingerprint=fingerprint, **more)


def test_a_charge_debits_every_scope_and_says_what_it_left(stored, ledger):
    outcome = ledger.charge(stored.request("1.5"))
    assert isinstance(outcome, Charged)
    assert outcome.remaining[PROJECT] == Loss.parse("3.5")
    assert outcome.remaining[POPULATION] == Loss.parse("8.5")
    assert ledger.spent(Scope.principal("study", "ada")) == Loss.parse("1.5")


def test_a_limit_is_met_exactly_and_never_passed(stored, ledger):
    assert isinstance(ledger.charge(stored.request("5")), Charged)
    refused = ledger.charge(stored.request("0.000000001"))
    assert isinstance(refused, Refused)
    assert refused.remaining[PROJECT] == Loss(0)
    assert ledger.spent(PROJECT) == Loss.parse("5")


def test_a_refused_charge_moves_no_counter_of_any_scope(stored, ledger):
    with ledger.recorded("lower", "local:test") as change:
        change.set_limit(POPULATION, Loss.parse("0.5"))
    assert isinstance(ledger.charge(stored.request("1")), Refused)
    assert ledger.spent(PROJECT) == ledger.spent(POPULATION) == Loss(0)


def test_the_cap_wins_over_larger_allotments(stored, ledger):
    with ledger.recorded("raise", "local:test") as change:
        change.set_limit(PROJECT, Loss.parse("100"))
    assert isinstance(ledger.charge(stored.request("10")), Charged)
    assert isinstance(ledger.charge(stored.request("0.001")), Refused)


def test_a_principal_limit_counts_what_was_spent_before_it(stored, ledger):
    ledger.charge(stored.request("2"))
    with ledger.recorded("ration", "local:test") as change:
        change.set_limit(Scope.principal("study", "ada"), Loss.parse("2.5"))
    assert isinstance(ledger.charge(stored.request("1")), Refused)
    assert isinstance(ledger.charge(stored.request("0.5")), Charged)


def test_nothing_is_charged_where_a_limit_was_never_set(stored, ledger):
    scopes = (Scope.population("strangers"), PROJECT)
    assert isinstance(ledger.charge(stored.request("1", scopes=scopes)), Refused)


def test_a_cap_lowered_below_what_is_spent_leaves_nothing_and_forgets_nothing(
    stored, ledger
):
    ledger.charge(stored.request("3"))
    with ledger.recorded("lower", "local:test") as change:
        change.set_limit(POPULATION, Loss.parse("1"))
    assert ledger.remaining([POPULATION])[POPULATION] == Loss(0)
    assert ledger.spent(POPULATION) == Loss.parse("3")
    with ledger.recorded("raise", "local:test") as change:
        change.set_limit(POPULATION, Loss.parse("4"))
    assert ledger.remaining([POPULATION])[POPULATION] == Loss.parse("1")


def test_the_same_key_and_body_brings_the_same_bytes(stored, ledger):
    paid = ledger.charge(keyed(stored))
    assert isinstance(ledger.charge(keyed(stored)), InFlight)
    assert ledger.lookup_key("ada", "k", "f") == InFlight()
    ledger.store_answer(paid.charge, b"noisy")
    assert ledger.charge(keyed(stored)) == Replay(paid.charge.query_id, b"noisy")
    assert ledger.spent(PROJECT) == Loss.parse("1")


def test_a_key_with_another_body_is_a_mismatch_even_in_flight(stored, ledger):
    ledger.charge(keyed(stored))
    assert ledger.charge(keyed(stored, fingerprint="g")) == Mismatch()


def test_keys_belong_to_their_principal(stored, ledger):
    ledger.charge(keyed(stored))
    assert ledger.lookup_key("grace", "k", "f") is None


def test_a_refusal_binds_no_key(stored, ledger):
    assert isinstance(ledger.charge(keyed(stored, loss=Loss.parse("99"))), Refused)
    assert isinstance(ledger.charge(keyed(stored)), Charged)


def test_an_answer_is_in_flight_until_its_reply_has_left(stored, ledger):
    paid = ledger.charge(keyed(stored))
    stored.hidden.add(paid.charge.query_id)
    ledger.store_answer(paid.charge, b"noisy")
    assert ledger.lookup_key("ada", "k", "f") == InFlight()
    assert ledger.find_reusable("how many", Loss(1), project="study") is None
    stored.hidden.clear()
    ledger.release([paid.charge.query_id])
    assert isinstance(ledger.lookup_key("ada", "k", "f"), Replay)


def test_the_first_stored_answer_is_the_answer(stored, ledger):
    paid = ledger.charge(stored.request())
    assert ledger.store_answer(paid.charge, b"first") == b"first"
    assert ledger.store_answer(paid.charge, b"second") == b"first"


def test_a_failed_question_keeps_its_charge_and_replays_as_failed(stored, ledger):
    paid = ledger.charge(keyed(stored))
    ledger.fail(paid.charge.query_id)
    assert ledger.lookup_key("ada", "k", "f") == FailedReplay(paid.charge.query_id)
    assert ledger.spent(PROJECT) == Loss.parse("1")
    with pytest.raises(LedgerUnavailableError):
        ledger.store_answer(paid.charge, b"late")


def test_reuse_takes_the_greatest_epsilon_then_the_earliest(stored, ledger):
    for epsilon in ("0.5", "1.5", "1.5", "1"):
        paid = ledger.charge(stored.request(epsilon))
        ledger.store_answer(paid.charge, epsilon.encode())
    stored = ledger.find_reusable("how many", Loss.parse("0.7"), project="study")
    assert stored.loss == Loss.parse("1.5")
    assert stored.query_id == "q1"
    assert ledger.find_reusable("how many", Loss.parse("3"), project="study") is None
    assert ledger.find_reusable("another", Loss(1), project="study") is None


def test_which_paid_questions_are_looked_at_owes_nothing_to_when_answers_are_stored(
    stored, ledger
):
    for _ in range(2):
        ledger.store_answer(ledger.charge(stored.request()).charge, b"x")
    running = ledger.charge(stored.request()).charge
    stored.hidden.add(running.query_id)

    def looked_at():
        snapshot = stored.request().snapshot
        return [each.query_id for each in ledger.paid_questions("study", snapshot, 2)]

    before = looked_at()
    ledger.store_answer(running, b"x")
    assert looked_at() == before == ["q1"]


def test_private_history_is_offered_to_its_own_project_alone(stored, ledger):
    paid = ledger.charge(stored.request(private_history=True))
    ledger.store_answer(paid.charge, b"x")
    assert ledger.find_reusable("how many", Loss(1), project="other") is None
    assert ledger.find_reusable("how many", Loss(1), project="study") is not None


def test_a_free_answer_costs_nothing_and_binds_its_key(stored, ledger):
    paid = ledger.charge(stored.request())
    ledger.store_answer(paid.charge, b"x")
    free = keyed(stored, loss=Loss(0))
    assert ledger.store_free(free, paid.charge.query_id, b"y") is None
    assert ledger.lookup_key("ada", "k", "f") == Replay(free.query_id, b"y")
    assert ledger.spent(PROJECT) == Loss.parse("1")
    record = ledger.query(free.query_id)
    assert record.reused
    assert record.body == b"y"
    again = ledger.find_reusable("how many", Loss(1), project="study")
    assert again.query_id == paid.charge.query_id


LONG = b'{"query_id": "q0", "rows": ' + b"1234567890" * 100_000 + b', "charge": 1}'


def show(stored, ledger, **more):
    """Give the long answer again, with words of its own around it."""
    paid = ledger.charge(stored.request())
    ledger.store_answer(paid.charge, LONG)
    free = keyed(stored, loss=Loss(0), **more)
    pieces = [b'{"query_id": "\xc3\xa9"', (17, len(LONG) - 1), b", 0}"]
    body = joined(pieces, LONG)
    assert ledger.store_free(free, paid.charge.query_id, body, pieces) is None
    return free, body


def test_a_free_answer_adds_to_the_ledger_what_differs_and_shows_what_was_sent(
    stored, ledger
):
    free, body = show(stored, ledger)
    assert body.startswith('{"query_id": "é", "rows": 123'.encode())
    assert ledger.lookup_key("ada", "k", "f") == Replay(free.query_id, body)
    assert ledger.query(free.query_id).body == body
    assert stored.open().query(free.query_id).body == body  # after a restart
    with stored.databases.reader.connect() as connection:
        row = select(answer.c.body).where(answer.c.query_id == free.query_id)
        assert len(connection.execute(row).scalar_one()) < 300
    assert ledger.verify([]).ok


def test_a_free_answer_is_not_shown_where_what_it_shows_was_edited(stored, ledger):
    free, _ = show(stored, ledger)
    with stored.databases.writer.begin() as connection:
        edited = update(answer).values(body=LONG.replace(b"7", b"8"))
        connection.execute(edited.where(answer.c.spliced_from.is_(None)))
    with pytest.raises(AnchorMismatchError, match="not the one that was sent"):
        ledger.query(free.query_id)
    with pytest.raises(AnchorMismatchError):
        ledger.lookup_key("ada", "k", "f")


def test_a_charge_is_a_jobs_work_by_its_project_whatever_its_id(stored, ledger):
    ledger.charge(stored.request(query_id="job_of_questions"))
    work = stored.request(query_id="q_of_work", project=NO_PROJECT)
    ledger.charge_work(work, "release.begin", lambda _: None)
    orphans, _ = stored.open().take_up()
    assert [one.charge.query_id for one in orphans] == ["job_of_questions"]


def test_orphans_are_executed_again_at_most_twice_then_fail(stored, ledger):
    paid = ledger.charge(keyed(stored))
    for _ in range(2):
        later = stored.open()  # another server process voids the lease
        assert [o.charge for o in later.take_up()[0]] == [paid.charge]
        assert later.take_up()[0] == []
    last = stored.open()
    assert last.take_up()[0] == []
    last.release_forgotten()  # recovery's next turn
    assert last.lookup_key("ada", "k", "f") == FailedReplay(paid.charge.query_id)
    with pytest.raises(LedgerUnavailableError):
        ledger.store_answer(paid.charge, b"late")


def test_an_executor_without_the_lease_stores_nothing(stored, ledger):
    paid = ledger.charge(stored.request())
    later = stored.open()
    orphan = later.take_up()[0][0]
    with pytest.raises(LedgerUnavailableError):
        ledger.store_answer(paid.charge, b"mine")
    assert later.store_answer(orphan.charge, b"theirs") == b"theirs"


def test_a_given_up_lease_can_be_claimed_by_its_own_process(stored, ledger):
    paid = ledger.charge(stored.request())
    assert ledger.take_up()[0] == []
    ledger.give_up(paid.charge.query_id)
    assert len(ledger.take_up()[0]) == 1


def test_history_is_newest_first_in_pages(stored, ledger):
    ids = [ledger.charge(stored.request("0.1")).charge.query_id for _ in range(5)]
    page, cursor = ledger.history("ada", limit=2, cursor=None)
    rest, end = ledger.history("ada", limit=9, cursor=cursor)
    assert [r.query_id for r in page + rest] == ids[::-1]
    assert end is None
    assert ledger.history("grace", limit=2, cursor=None) == ([], None)
    for wrong in ("x", "-1", "٣", "9" * 30):
        with pytest.raises(InvalidOptionError):
            ledger.history("ada", limit=2, cursor=wrong)


def test_export_lists_every_entry_with_its_owner(stored, ledger):
    paid = ledger.charge(stored.request("0.5"))
    ledger.store_answer(paid.charge, b"x")
    ledger.refuse("ada", "forbidden", {"role": "auditor"})
    entries = ledger.export()
    assert [e["seq"] for e in entries] == list(range(1, len(entries) + 1))
    charged, answered, refused = entries[-3:]
    assert (charged["kind"], charged["epsilon"]) == ("charge", "0.5")
    assert (answered["kind"], answered["principal"]) == ("answered", "ada")
    assert refused["kind"] == "refused"


def test_many_random_charges_equal_the_exact_sum(stored, ledger):
    seed = hashlib.sha256(b"charges").digest()
    total = 0
    for byte in seed:
        nano = byte + 1
        ledger.charge(stored.request(loss=Loss(nano)))
        total += nano
    assert ledger.spent(POPULATION) == Loss(total)
