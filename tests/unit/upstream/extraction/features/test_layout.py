"""Lines, fields and segments of a note."""

import numpy as np

from upstream.extraction.features.feature_set import (
    FeatureChoices,
    attribute_lists,
    document_features,
)
from upstream.extraction.features.layout import (
    count_column,
    field_columns,
    layout_columns,
    lines_of,
    segment_columns,
)
from upstream.extraction.text.tokens import tokenize

NOTE = "Name: Ann Lee.\nMRN: 1234\n\nSeen: Lee, 12 Main St."


def said(found):
    """Return what a column says of each token of the note; None: nothing."""
    names = {token: name for token, name, _ in found.said()}
    return [names.get(token) for token in range(len(tokenize(NOTE)))]


def test_a_token_knows_the_field_whose_value_it_is():
    tokens = tokenize(NOTE)
    fields, others = map(said, field_columns(tokens, lines_of(tokens)))
    by_word = dict(zip(tokens.words, fields, strict=True))
    assert by_word["Ann"] == "FIELD=name"
    assert by_word["1234"] == "FIELD=mrn"
    assert by_word["Name"] == "FIELD="
    assert others[tokens.words.index("Lee")] == "ALSO=seen"


def test_a_token_knows_what_stands_around_it():
    tokens = tokenize(NOTE)
    left, right, line, from_end = map(said, layout_columns(tokens, lines_of(tokens)))
    at = tokens.words.index("MRN")
    assert (left[at], right[at], line[at]) == ("LEFT=N", "RIGHT=", "LINE1")
    assert from_end[at] == "LINE-2"
    assert (left[0], right[-1]) == ("LEFT=N", "RIGHT=N")


def test_segments_end_at_commas_and_lines():
    tokens = tokenize(NOTE)
    segment, following, since, length = map(
        said, segment_columns(tokens, lines_of(tokens))
    )
    at = tokens.words.index("Main")
    assert segment[at] == "SEGMENT=#12"
    assert (since[at], length[at]) == ("SINCE1", "SEGLEN4")
    assert following[tokens.words.index("Seen")] == "NEXT=lee"
    assert following[-1] is None  # nothing follows the last segment


def test_counts_are_scaled_by_the_length():
    found = count_column(("a", "b", "a", "c"))
    assert found.value.tolist() == [0.5, 0.25, 0.5, 0.25]


def test_a_text_without_tokens_has_no_features():
    for text in ("", "  \n"):
        found = document_features(tokenize(text), FeatureChoices())
        assert list(attribute_lists(found, FeatureChoices())) == []


def test_groups_that_are_switched_off_say_nothing():
    nothing = FeatureChoices(
        **dict.fromkeys(
            [
                *("expressions", "affixes", "dictionaries", "context"),
                *("layout", "segments", "forms", "pairs"),
            ],
            False,
        )
    )
    features = document_features(tokenize(NOTE), nothing)
    assert list(attribute_lists(features, nothing)) == [{}] * len(features.tokens)


def test_context_reaches_four_words_to_each_side():
    choices = FeatureChoices(layout=False, segments=False, forms=False, pairs=False)
    tokens = tokenize("a b c d e f g h i j k")
    rows = list(attribute_lists(document_features(tokens, choices), choices))
    around = {name for name in rows[5] if "W=" in name}
    assert around == {
        "W=f",
        *(f"{step}|W={tokens.words[5 + step]}" for step in range(-4, 5) if step),
    }
    assert "-1|EDGE" in rows[0]
    assert np.isclose(rows[5]["COUNT"], 1 / 11)
