"""What stored changes alter is read without their words, but where older ones wrote."""

import json

import pytest

from budget.ledger import Scope
from privacy.losses import Loss
from server.use_cases.approvals.changes import Altered, Change, Subject
from server.use_cases.approvals.stored_changes import read_altered

OLDER = {
    "population people": Subject("population", "people"),
    "patients of people in other populations": Subject("population", "people"),
    "cap of people": Subject("limit", "population:people"),
    "allotment of sepsis": Subject("limit", "project:sepsis"),
    "allotment of ada in sepsis": Subject("limit", "principal:sepsis/ada"),
    "expires of sepsis": Subject("project_fact", "sepsis", "expires"),
    "clinic.visits: public": Subject("declaration", "clinic", "visits: public"),
    "clinic.visits.age: domain": Subject("declaration", "clinic", "visits.age: domain"),
    "active snapshot": Subject("active_snapshot", ""),
    "public table wards of clinic": Subject("public_rows", "clinic", "wards"),
    "public release wards": Subject("release", "wards"),
    "public release wards: snapshot": Subject("release_snapshot", "wards"),
    "public release wards: plan_sha256": None,
    "new units of clinic": None,
}


@pytest.mark.parametrize("what", OLDER)
def test_the_words_of_earlier_versions_are_still_read(what):
    stored = (
        '{"action":"population.cap","altered":[{"new":"12","old":"10","what":"'
        f'{what}"'
        '}],"population":"people","reason":null}'
    )
    assert read_altered(stored) == [Altered(what, "10", "12", OLDER[what])]


def test_of_later_changes_no_word_is_read():
    subject = Subject("limit", "population:people")
    altered = (Altered("cap of pupils", "1", "2", subject), Altered("cap of x", 1, 2))
    stored = Change("population.cap", "people", altered).stored()
    assert read_altered(stored) == list(altered)


def test_approvals_bind_to_the_text_that_earlier_versions_stored():
    raised = Altered.limit(Scope.population("people"), Loss(10), Loss(12))
    change = Change("population.cap", "people", (raised,), "more")
    told = json.loads(change.stored())
    for one in told["altered"]:
        assert one.pop("subject") == {
            "kind": "limit", "name": "population:people", "part": "",
        }  # fmt: skip
    assert json.loads(change.text()) == told
