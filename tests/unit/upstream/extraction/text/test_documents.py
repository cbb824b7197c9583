"""Characters of a text know where they stand in the original."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.extraction.text.documents import (
    Piece,
    Place,
    TextDocument,
    join_pieces,
    pieces_of,
)

PLACE = Place("a.txt")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.sampled_from(["utf-8", "utf-16-le", "utf-32-be"]),
    st.integers(0, 9),
    st.data(),
)
def test_the_bytes_of_a_span_decode_to_it(text, encoding, before, data):
    original = b"#" * before + text.encode(encoding)
    pieces = pieces_of(text, encoding, original=before)
    document = TextDocument("a", text, PLACE, pieces)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = document.original_range(start, end)
    assert original[first:last].decode(encoding) == text[start:end]


def test_runs_that_follow_each_other_are_one_piece():
    assert pieces_of("plain text", "utf-8") == (Piece(0, 0, 1),)
    assert join_pieces([Piece(0, 0, 1), Piece(3, 3, 1), Piece(5, 9, 1)]) == (
        Piece(0, 0, 1),
        Piece(5, 9, 1),
    )


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (0, 4)])
def test_a_span_beyond_the_text_is_refused(start, end):
    document = TextDocument("a", "abc", PLACE, pieces_of("abc", "utf-8"))
    with pytest.raises(ValueError, match="no span"):
        document.original_range(start, end)
