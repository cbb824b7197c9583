"""What is known of a patient: the values of all records."""

from upstream.linkage.declared import FieldSpec
from upstream.linkage.loop.facts import LONGEST_VALUE, MOST_VALUES, facts_of
from upstream.linkage.records import Record

FIELDS = {"last": FieldSpec(kind="name"), "born": FieldSpec(kind="date")}


def record(number, **values):
    return Record(number, "lab", str(number), values)


def test_the_values_of_all_records_are_known_each_once_in_order():
    records = [record(1, last="Lee", born=""), record(2, last=" Kim "), record(3)]
    facts = facts_of(FIELDS, [*records, record(4, last="Lee", ward="ICU")])
    assert facts.values == {"last": ("Lee", "Kim"), "born": ()}


def test_values_that_no_field_has_are_left_out():
    many = [record(at, last=f"Lee{at}") for at in range(MOST_VALUES + 50)]
    facts = facts_of(FIELDS, [record(0, last="x" * (LONGEST_VALUE + 1)), *many])
    assert len(facts.values["last"]) == MOST_VALUES
    assert facts.values["last"][0] == "Lee0"


def test_fields_of_a_kind_are_told_by_their_span_type():
    facts = facts_of(FIELDS, [record(1, last="Lee", born="1/2/50")])
    assert facts.of_kind("name", {"last": "NAME"}) == {
        "NAME": [("Lee", FIELDS["last"])]
    }
    assert facts.of_kind("name", {"born": "DATE"}) == {}
    assert facts.of_kind("phone", {"last": "NAME"}) == {}
