"""An answer's noise is gone on from once, and never across a restore."""

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from budget.ledger import NotRefinable, Refinement
from privacy.losses import Loss


def refining(stored, query_id, total="0.5"):
    return stored.request("0.3", refines=Refinement(query_id, Loss.parse(total)))


@pytest.fixture
def answered(stored, ledger):
    """The id of an answer that cost 0.2."""
    made = ledger.charge(stored.request("0.2"))
    ledger.store_answer(made.charge, b"{}")
    return made.charge.query_id


def listed(ledger, stored):
    request = stored.request("1")
    return ledger.paid_questions(request.project, request.snapshot, 9)


def test_a_second_charge_goes_on_from_it_no_more(stored, ledger, answered):
    first = ledger.charge(refining(stored, answered))
    assert ledger.charge(refining(stored, answered)) == NotRefinable()
    ledger.fail(first.charge.query_id)
    assert ledger.charge(refining(stored, answered)) == NotRefinable()
    assert not listed(ledger, stored)[0].can_be_refined
    assert ledger.verify([]).ok


def test_what_has_no_answer_yet_is_not_gone_on_from(stored, ledger):
    running = ledger.charge(stored.request("0.2")).charge.query_id
    assert ledger.charge(refining(stored, running)) == NotRefinable()
    assert ledger.charge(refining(stored, "q_unknown")) == NotRefinable()


def test_its_numbers_are_worth_what_both_cost_and_replace_the_first(
    stored, ledger, answered
):
    made = ledger.charge(refining(stored, answered))
    assert [one.query_id for one in listed(ledger, stored)] == [answered]
    ledger.store_answer(made.charge, b"{}")
    (one,) = listed(ledger, stored)
    assert (one.query_id, one.loss) == (made.charge.query_id, Loss.parse("0.5"))
    assert one.can_be_refined
    request = stored.request("1")
    found = ledger.find_reusable(
        request.question, Loss.parse("0.4"), project=request.project
    )
    assert (found.query_id, found.loss) == (one.query_id, Loss.parse("0.5"))


def test_after_a_restore_nothing_older_is_gone_on_from(stored, ledger, answered):
    stored.back_up()
    ledger.charge(stored.request("1"))
    stored.restore()
    restored = stored.ledger()
    restored.reconcile("disk died", "local:test", lambda _: None)
    again = stored.open()
    assert [one.can_be_refined for one in listed(again, stored)] == [False]
    assert again.charge(refining(stored, answered)) == NotRefinable()


def test_an_edited_total_is_found(stored, ledger, answered):
    made = ledger.charge(refining(stored, answered))
    assert ledger.verify([]).ok
    with stored.databases.writer.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE charge SET total_nano = 900000000 WHERE refines IS NOT NULL"
        )
    problems = ledger.verify([]).problems
    assert any(made.charge.query_id in problem for problem in problems)


def test_the_database_refuses_a_second_one_by_itself(stored, ledger, answered):
    ledger.charge(refining(stored, answered))
    other = ledger.charge(stored.request("0.1")).charge.query_id
    twice = f"UPDATE charge SET refines = '{answered}' WHERE query_id = '{other}'"
    with (
        pytest.raises(IntegrityError),
        stored.databases.writer.begin() as connection,
    ):
        connection.exec_driver_sql(twice)


def test_requests_without_one_are_as_before(stored, ledger):
    request = stored.request("0.1")
    assert replace(request, refines=None) == request
    made = ledger.charge(request)
    assert "refines" not in str(ledger.export()[-1])
    refined = ledger.charge(stored.request("0.1"))
    assert refined.charge.query_id != made.charge.query_id
