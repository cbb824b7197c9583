"""What differs between two values is marked, and nothing of them is lost."""

from hypothesis import given
from hypothesis import strategies as st

from upstream.linkage.review.differences import marked

TEXTS = st.text(max_size=40)


@given(TEXTS, TEXTS)
def test_segments_are_the_values(left, right):
    ours, theirs = marked(left, right)
    assert "".join(text for text, _ in ours) == left
    assert "".join(text for text, _ in theirs) == right


@given(TEXTS)
def test_the_same_and_the_missing_differ_in_nothing(text):
    for sides in (marked(text, text), marked(text, ""), marked("", text)):
        assert not any(differs for side in sides for _, differs in side)


def test_long_values_are_one_difference():
    ours, theirs = marked("a" * 501, "b")
    assert ours == [("a" * 501, True)]
    assert theirs == [("b", True)]
