"""What is known of linked patients as dictionaries."""

from itertools import islice

import pytest

from server.demo.notes.notes import draw_notes
from tests.unit.upstream.linkage.loop.patients import EVERYTHING, known
from upstream.extraction.models.chains.crf import CrfChoices
from upstream.extraction.models.model import ModelSpec
from upstream.extraction.models.training import GoldStandard, train_model
from upstream.linkage.loop.dictionaries import dictionaries_of, terms_of


def test_names_and_places_of_patients_are_terms():
    terms = terms_of([EVERYTHING], {"sex": "sexes"})
    assert terms["places"] == ["greenville", "troy"]
    assert terms["sexes"] == ["f"]
    assert {"josé", "muñoz", "de la cruz", "cruz", "grant", "maria"} <= {
        *terms["names"]
    }
    assert not {"de", "la", "o", "b", "t"} & {*terms["names"]}
    assert set(terms) == {"names", "places", "sexes"}


def test_a_term_that_too_few_patients_have_is_left_out():
    patients = [known(last="Lee"), known(last=("Lee", "Kim")), known(last="LEE")]
    assert terms_of(patients, least=2) == {"names": ["lee"]}
    assert dictionaries_of(patients, least=4) == ()


@pytest.mark.long
def test_a_model_is_trained_with_them():
    notes = list(islice(draw_notes(10), 30))
    dictionaries = dictionaries_of([EVERYTHING])
    spec = ModelSpec(training=CrfChoices(algorithm="ap", iterations=2))
    model = train_model("x", spec, GoldStandard(notes, (), dictionaries))
    assert [each.name for each in model.dictionaries] == ["names", "places"]
    (names, _) = model.dictionaries
    assert list(names.spans(("seen", "de", "la", "cruz", "here"))) == [(1, 4)]
