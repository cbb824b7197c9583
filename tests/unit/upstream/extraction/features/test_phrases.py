"""Forms and dictionaries mark each token of a phrase, and no other."""

import pytest

from upstream.extraction.features.feature_set import (
    FeatureChoices,
    attribute_lists,
    document_features,
)
from upstream.extraction.features.phrases import (
    dictionary_columns,
    dictionary_of,
    form_columns,
)
from upstream.extraction.patterns.forms import Match, lowered, matches
from upstream.extraction.text.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("seen on 6/22/01.", "numeric_date", "6/22/01"),
        ("seen on 2009-04-25,", "numeric_date", "2009-04-25"),
        ("el 4-09-06 acude", "numeric_date", "4-09-06"),
        ("on March 3rd, 2009 he", "written_date", "March 3rd, 2009"),
        ("el 21 de febrero de 2002.", "written_date", "21 de febrero de 2002"),
        ("en diciembre-08 nuevo", "written_date", "diciembre-08"),
        ("a 56-year-old man", "age", "56-year-old"),
        ("de 70 años de edad", "age", "70 años de edad"),
        ("mail a.b@c.org.", "email", "a.b@c.org"),
        ("call (555) 123-4567 now", "phone", "(555) 123-4567"),
        ("SSN 078-05-1120", "social_security", "078-05-1120"),
        ("MRN: AB-12345", "record_number", "AB-12345"),
        ("at 12 North Main Street, room", "address", "12 North Main Street"),
        ("en C/ del Abedul 5", "via", "C/ del Abedul 5"),
        ("by Dr. Ann M. Lee today", "titled_name", "Ann M. Lee"),
        ("to Mount Sinai Hospital.", "hospital", "Mount Sinai Hospital"),
    ],
)
def test_a_form_is_found_where_it_stands(text, form, said):
    found = {text[m.start : m.end] for m in matches(tokenize(text)) if m.form == form}
    assert found == {said}


@pytest.mark.parametrize(
    "text", ["ratio 45/67/99", "99.99.99", "13-13-2010", "1.2.3.4"]
)
def test_what_is_no_day_is_no_date(text):
    assert [m for m in matches(tokenize(text)) if m.form == "numeric_date"] == []


def test_places_in_a_match_are_first_inside_last_or_alone():
    tokens = tokenize("on 6/22/01 by a.b@c.org")
    found = form_columns(tokens, list(matches(tokens)))
    (dates,) = [column for column in found if column.kind == "form numeric_date"]
    places = [(token, name[0]) for token, name, _ in dates.said()]
    assert places == [(1, "B"), (2, "I"), (3, "I"), (4, "I"), (5, "E")]


def test_a_token_that_two_matches_share_is_of_the_first():
    tokens = tokenize("on 12 ab")
    found = [Match("year", 3, 4), Match("year", 4, 8)]  # both within the token 12
    (column,) = form_columns(tokens, found)
    assert list(column.said()) == [(1, "S:year", 1.0), (2, "S:year", 1.0)]


def test_all_tokens_of_a_dictionarys_phrase_are_in_it():
    tokens = tokenize("to New  York, not new york or York")
    (found,) = dictionary_columns(tokens, [dictionary_of("city", ["new york"])])
    assert [(token, name) for token, name, _ in found.said()] == [
        *((1, "IN_city"), (2, "IN_city")),
        *((5, "in_city"), (6, "in_city")),
    ]
    assert (
        list(dictionary_columns(tokenize("to"), [dictionary_of("city", ["x"])])) == []
    )


def test_the_longest_phrase_of_a_dictionary_wins():
    dictionary = dictionary_of("place", ["san", "san jose", "jose maria"])
    assert list(dictionary.spans(("san", "jose", "maria"))) == [(0, 2)]


def test_a_phrase_ends_where_the_text_does():
    dictionary = dictionary_of("place", ["san jose", "san jose maria"])
    assert list(dictionary.spans(("in", "san", "jose"))) == [(1, 3)]
    features = document_features(
        tokenize("in San Jose"), FeatureChoices(), [dictionary]
    )
    rows = attribute_lists(features, FeatureChoices())
    assert ["IN_place" in row for row in rows] == [False, True, True]


def test_a_text_in_lower_case_has_each_character_where_it_was():
    text = "İstanbul ÀÉ ẞ Σ"
    assert len(lowered(text)) == len(text)
