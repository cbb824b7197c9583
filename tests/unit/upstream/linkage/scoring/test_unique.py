"""Who shares an id is one patient, also where nothing else is known."""

from tests.unit.upstream.linkage.scoring.records import database_of, spec_of
from upstream.linkage.scoring.parameters import Parameters
from upstream.linkage.scoring.scoring import Scoring

FIELDS = {"name": "full_name", "born": "date", "no": "id"}


def scoring():
    """Score a registry of 200 and notes that have a number alone, of some of them."""
    given = ("Ada", "Bruno", "Clara", "Dirk", "Eva", "Fritz", "Gerda", "Hans")
    rows = [
        {
            "name": f"{given[n % 8]} Sur{chr(97 + n % 23)}{n}",
            "born": f"19{30 + n % 60}-0{1 + n % 9}-1{n % 10}",
            "no": str(1_000_000 + n * 7919),
        }
        for n in range(200)
    ]
    notes = [{"no": rows[n]["no"]} for n in range(0, 200, 4)]
    sources = ["registry"] * len(rows) + ["notes"] * len(notes)
    return Scoring(database_of([*rows, *notes], FIELDS, sources), spec_of(FIELDS))


def test_a_note_with_a_number_alone_is_linked_to_whose_number_it_is():
    made = scoring()
    parameters = Parameters.from_json(made.learn().to_json())
    made.score(parameters)
    pairs = [(1 + 4 * n, 201 + n) for n in range(50)]
    scored = made.score_pairs(parameters, pairs)
    assert all(one.score >= parameters.link for one in scored)


def test_a_number_that_two_of_different_names_have_is_no_link():
    made = scoring()
    parameters = made.learn()
    connection = made._connection
    connection.execute("UPDATE record SET \"no\" = '1000000' WHERE number IN (1, 2)")
    made.prepare()
    (one,) = made.score_pairs(parameters, [(1, 2)])
    assert one.score < parameters.link


def test_agreement_on_an_id_weighs_the_same_however_many_records_have_it():
    made = scoring()
    parameters = made.learn()
    field = next(each for each in parameters.fields if each.field == "no")
    assert field.is_unique
    steps = made.steps(parameters, 1, 201)
    assert steps[-1].weight == field.levels[0].weight
