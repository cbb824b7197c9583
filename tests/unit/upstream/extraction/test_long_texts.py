"""No text keeps a finder busy for longer than its length asks for.

Jobs of other populations run in the same process: an expression that tries every way
to read a run of spaces would hold them all up. Times here tell minutes from seconds.
"""

import time

import pytest

from upstream.extraction.features.feature_set import (
    FeatureChoices,
    attribute_lists,
    document_features,
)
from upstream.extraction.features.words import pattern_attributes, shape
from upstream.extraction.measures.counts import compare_document
from upstream.extraction.models.union import fill, union
from upstream.extraction.patterns.forms import FORMS, matches
from upstream.extraction.terms.negation import denied_tokens
from upstream.extraction.terms.terms import Terminology, TermModel
from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import tokenize

LENGTH = 100_000
MOST_SECONDS = 20.0
"""Of a text of this length; where time grows with its square it is hours."""

PARTS = (
    *("a", "A", "0", " ", "\n", "\t", "-", ".", ",", "'", "@", "+", "(", ")", "/", ":"),
    *(
        "A-",
        "A'",
        "a@",
        "a.",
        "0-",
        "0.",
        "0 ",
        "12345-",
        "(91",
        "+3",
        "1/2/",
        "A ",
        "Aa ",
    ),
    *(
        "5 ",
        "may ",
        "may  ",
        "may, ",
        "5-",
        "one ",
        "de ",
        "A de ",
        "mrn ",
        "mrn:",
        "Dr. ",
    ),
    *(
        "C/",
        "Calle ",
        "Hospital ",
        "www.",
        "http://",
        "years of ",
        "mg ",
        "aa 1 ",
        "no ",
    ),
)


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_time_grows_with_a_texts_length_and_no_faster(part):
    text = f"x 5{part * (LENGTH // len(part))}x"
    begun = time.process_time()
    tokens = tokenize(text)
    found = list(matches(tokens))
    terms = next(TermModel("terms").finder().find([text]))
    assert time.process_time() - begun < MOST_SECONDS
    assert all(0 <= match.start < match.end <= len(text) for match in found)
    assert all(0 <= span.start < span.end <= len(text) for span in terms)
    assert {match.form for match in found} <= {form.name for form in FORMS}


@pytest.mark.parametrize("part", ["a", "A", "0", "Aa", "\u0660"], ids=repr)
def test_one_long_token_is_looked_at_in_part(part):
    word = part * LENGTH
    begun = time.process_time()
    features = document_features(tokenize(word), FeatureChoices())
    rows = attribute_lists(features, FeatureChoices())
    assert time.process_time() - begun < MOST_SECONDS
    assert len(rows) == len(features.tokens)
    assert shape(word) == shape(word[:200])
    assert pattern_attributes(word) == pattern_attributes(word[:200])


MANY = 100_000
"""Spans of one note: where each is held against all others it is hours."""


LISTS = TermModel("m", (Terminology("SYMPTOM", {"fever": "R50"}),))


def crowded(label, width=2, step=3):
    return tuple(Span(at, at + width, label, 0.5) for at in range(0, step * MANY, step))


@pytest.mark.long
@pytest.mark.parametrize(
    "work",
    [
        lambda: union([crowded("A"), crowded("B", 3)]),
        lambda: union([crowded("A", 4), crowded("A", 1)]),
        lambda: fill(crowded("A"), crowded("B", 3)),
        lambda: compare_document(
            crowded("A"), crowded("A", 3), [(at, at + 1) for at in range(3 * MANY)]
        ),
        lambda: denied_tokens(tokenize("no, " * MANY)),
        lambda: denied_tokens(tokenize("fever: no\n" * MANY)),
        lambda: next(LISTS.finder().find(["fever 5 mg, " * (MANY // 4)])),
        lambda: next(LISTS.finder().find(["no fever, " * (MANY // 2)])),
        lambda: next(LISTS.finder().find(["pulse: 60 bpm\n" * (MANY // 4)])),
    ],
)
def test_many_spans_of_one_text_are_held_against_each_other_at_once(work):
    began = time.monotonic()
    work()
    assert time.monotonic() - began < MOST_SECONDS
