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
from upstream.extraction.patterns.forms import FORMS, matches
from upstream.extraction.terms.terms import TermModel
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
