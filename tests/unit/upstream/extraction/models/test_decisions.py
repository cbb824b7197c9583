"""From probabilities to spans, rules, unions and thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.data.small_notes import small_notes
from upstream.extraction.models.decisions import (
    Decision,
    TypeProbabilities,
    decide,
    type_probabilities,
)
from upstream.extraction.models.model import Aim
from upstream.extraction.models.rules import USUAL, Rule, Rules, learn_rules
from upstream.extraction.models.thresholds import Tuned, choose
from upstream.extraction.models.union import Risk, fill, union
from upstream.extraction.patterns.forms import FORMS
from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import tokenize

LABELS = ("O", "B-NAME", "I-NAME", "B-DATE", "I-DATE")


def probable(*rows):
    return type_probabilities(LABELS, np.array(rows))


def test_a_type_is_taken_where_it_reaches_its_threshold():
    tokens = tokenize("saw Ann Lee")
    said = probable([0.9, 0.1, 0, 0, 0], [0.6, 0.4, 0, 0, 0], [0.55, 0.05, 0.4, 0, 0])
    assert decide(tokens, said, Decision(0.5), "m") == ()
    (found,) = decide(tokens, said, Decision(0.5, {"NAME": 0.4}), "m")
    assert (found.start, found.end, found.label) == (4, 11, "NAME")
    assert found.score == pytest.approx(0.4)


def test_a_span_ends_where_the_next_one_more_likely_begins():
    tokens = tokenize("Ann Lee")
    apart = probable([0, 1, 0, 0, 0], [0, 0.6, 0.4, 0, 0])
    assert len(decide(tokens, apart, Decision(), "m")) == 2
    together = probable([0, 1, 0, 0, 0], [0, 0.4, 0.6, 0, 0])
    assert len(decide(tokens, together, Decision(), "m")) == 1


def test_of_types_that_reach_their_thresholds_the_one_far_above_it_is_taken():
    tokens = tokenize("May")
    said = probable([0, 0.5, 0, 0.5, 0])
    (found,) = decide(tokens, said, Decision(0.5, {"DATE": 0.2}), "m")
    assert found.label == "DATE"


def test_a_model_of_no_type_finds_nothing():
    empty = TypeProbabilities((), np.zeros((1, 0)), np.zeros((1, 0)))
    assert decide(tokenize("a"), empty, Decision(), "m") == ()


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, float("nan")])
def test_thresholds_are_probabilities(wrong):
    with pytest.raises(ValueError, match="probabilities"):
        Decision(wrong)
    with pytest.raises(ValueError, match="probabilities"):
        Decision(0.5, {"NAME": wrong})


def test_the_papers_union_has_all_three_names():
    """DAST prints {Brown, White} for the union of {Brown, White} and {Black, White}."""
    text = "Mrs. Brown, Mrs. White and Mrs. Black"
    spans = {
        name: Span(text.index(name), text.index(name) + len(name), "PATIENT")
        for name in ("Brown", "White", "Black")
    }
    found = union([[spans["Brown"], spans["White"]], [spans["Black"], spans["White"]]])
    assert found == tuple(sorted(spans.values()))


def test_white_is_a_patient_where_one_finder_says_so_and_another_says_race():
    risks = {"PATIENT": Risk.DIRECT, "RACE": Risk.INDIRECT}
    race = Span(0, 5, "RACE", 0.99)
    patient = Span(0, 5, "PATIENT", 0.2)
    assert union([[race], [patient]], risks) == (patient,)


SPANS = st.lists(
    st.builds(
        lambda start, length, label, score: Span(start, start + length, label, score),
        st.integers(0, 20),
        st.integers(1, 6),
        st.sampled_from(["NAME", "DATE", "HEALTH"]),
        st.sampled_from([0.2, 0.5, 1.0]),
    ),
    max_size=6,
)


def covered(spans):
    return {at for span in spans for at in range(span.start, span.end)}


@given(st.lists(SPANS, max_size=3))
def test_a_union_covers_what_any_finder_found_once(found):
    risks = {"DATE": Risk.INDIRECT, "HEALTH": Risk.HEALTH}
    result = union(found, risks)
    assert covered(result) == covered(span for spans in found for span in spans)
    assert len(covered(result)) == sum(span.end - span.start for span in result)
    direct = [s for spans in found for s in spans if s.label == "NAME"]
    assert covered(direct) <= covered(s for s in result if s.label == "NAME")


@given(SPANS, SPANS)
def test_what_fills_lies_over_nothing(first, others):
    first = list(union([first]))
    result = fill(first, others)
    assert set(first) <= set(result)
    assert len(covered(result)) == sum(span.end - span.start for span in result)


def test_rules_that_were_right_in_the_gold_standard_are_learned():
    rules = learn_rules(small_notes(30))
    assert rules.rules["numeric_date"].label == "DATE"
    assert rules.rules["numeric_date"].score > 0.9
    assert "capitals" not in rules.rules  # "Blood", "Name: Ann" and more


def test_a_rule_finds_what_a_form_marks_and_nothing_else():
    rules = Rules({"numeric_date": Rule("DATE", 0.9)})
    (found,) = rules.find("on 6/22/01 by Dr. Ann Lee")
    assert (found.start, found.end, found.label) == (3, 10, "DATE")
    assert (found.score, found.source) == (0.9, "rules")


def test_the_usual_rules_name_forms_that_exist():
    assert set(USUAL) <= {form.name for form in FORMS}


def tuned(count=12):
    """Return documents whose names are found with .3, and some others with .2."""
    tokens = tokenize("Ann saw Rome")
    gold = (Span(0, 3, "NAME"),)
    rows = [[0.7, 0.3, 0, 0, 0], [1, 0, 0, 0, 0], [0.8, 0.2, 0, 0, 0]]
    return [Tuned(tokens, probable(*rows), gold) for _ in range(count)]


def test_a_threshold_for_f1_takes_what_is_right_and_leaves_the_rest():
    decision = choose(tuned(), Aim())
    assert 0.2 < decision.of("NAME") <= 0.3


def test_a_threshold_for_recall_is_the_lowest_that_keeps_the_precision():
    strict = choose(tuned(), Aim(prefer="recall", least_precision=0.9))
    assert 0.2 < strict.threshold <= 0.3
    loose = choose(tuned(), Aim(prefer="recall", least_precision=0.4))
    assert loose.threshold <= 0.2
