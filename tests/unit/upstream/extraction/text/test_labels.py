"""Spans and labels of tokens say the same, where tokens can say it."""

from hypothesis import given
from hypothesis import strategies as st

from upstream.extraction.text.labels import labelling, labels_of, may_follow, spans_of
from upstream.extraction.text.spans import Span
from upstream.extraction.text.tokens import tokenize

TEXTS = st.text("aB1 .-\n(é", min_size=1, max_size=40)


@st.composite
def annotated(draw):
    """Return a text, and spans of its tokens that do not overlap."""
    tokens = tokenize(draw(TEXTS))
    spans, at = [], 0
    while at < len(tokens):
        length = draw(st.integers(1, 3))
        end = min(at + length, len(tokens))
        if draw(st.booleans()):
            label = draw(st.sampled_from(["NAME", "DATE"]))
            spans.append(Span(int(tokens.starts[at]), int(tokens.ends[end - 1]), label))
        at = end
    return tokens, tuple(spans)


@given(annotated())
def test_spans_of_tokens_come_back_from_their_labels(made):
    tokens, spans = made
    labelled = labelling(tokens, spans)
    assert labelled.misfits == ()
    found = spans_of(tokens, labelled.labels, [1.0] * len(tokens), "gold")
    assert found == spans


@given(TEXTS)
def test_tokens_cover_all_but_white_space_and_say_what_stands_there(text):
    tokens = tokenize(text)
    covered = {
        at
        for s, e in zip(tokens.starts, tokens.ends, strict=True)
        for at in range(s, e)
    }
    assert covered == {at for at, sign in enumerate(text) if not sign.isspace()}
    for word, start, end in zip(tokens.words, tokens.starts, tokens.ends, strict=True):
        assert text[start:end] == word


def test_a_span_that_ends_inside_a_token_is_told_and_its_tokens_are_labelled():
    tokens = tokenize("Dr.Smith, 56yo")
    within = Span(4, 8, "NAME")  # mith
    labelled = labelling(tokens, [within])
    assert labelled.misfits == (within,)
    assert labelled.labels[2] == "B-NAME"


def test_of_spans_that_overlap_the_longest_is_labelled_and_the_others_told():
    tokens = tokenize("Mount Sinai Hospital")
    inner = Span(0, 5, "PLACE")
    labelled = labelling(tokens, [inner, Span(0, 20, "HOSPITAL")])
    assert labelled.labels == ("B-HOSPITAL", "I-HOSPITAL", "I-HOSPITAL")
    assert labelled.misfits == (inner,)


def test_a_span_of_white_space_alone_has_no_token():
    nothing = Span(1, 3, "NAME")
    assert labelling(tokenize("a   b"), [nothing]).misfits == (nothing,)


def test_a_type_goes_on_from_itself_alone():
    labels = labels_of(["NAME", "DATE"])
    allowed = {(a, b) for a in labels for b in labels if may_follow(a, b)}
    assert ("B-DATE", "I-DATE") in allowed
    assert ("I-DATE", "I-DATE") in allowed
    assert not {("O", "I-DATE"), ("B-NAME", "I-DATE"), ("I-NAME", "I-DATE")} & allowed


def test_a_span_is_as_sure_as_its_least_sure_token():
    tokens = tokenize("Ann Lee")
    (found,) = spans_of(tokens, ["B-NAME", "I-NAME"], [0.9, 0.6], "model")
    assert (found.score, found.source) == (0.6, "model")
