"""Words with one letter wrong."""

import random
from string import ascii_lowercase

import pytest

from tests.effort import rounds
from upstream.linkage.loop.matching.near_words import NearWords, differ_by_one


def distance(one, other):
    """Return the distance of Damerau and Levenshtein, neighbours exchanged once."""
    rows = [list(range(len(other) + 1))]
    for at, letter in enumerate(one, 1):
        row = [at]
        for place, against in enumerate(other, 1):
            best = min(
                row[place - 1] + 1,
                rows[-1][place] + 1,
                rows[-1][place - 1] + (letter != against),
            )
            if at > 1 < place and (one[at - 2], letter) == (against, other[place - 2]):
                best = min(best, rows[-2][place - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def test_one_letter_wrong_is_what_the_distance_says():
    rng = random.Random(3)
    for _ in range(rounds(40_000, 4_000)):
        one, other = ("".join(rng.choices("abc", k=rng.randrange(6))) for _ in "12")
        assert differ_by_one(one, other) == (distance(one, other) == 1), (one, other)


def test_a_word_is_found_exactly_if_a_known_one_differs_by_one():
    rng = random.Random(4)
    known = {"".join(rng.choices("abcd", k=rng.randrange(3, 8))) for _ in range(40)}
    words = NearWords(known)
    for _ in range(rounds(8_000, 1_000)):
        word = "".join(rng.choices("abcd", k=rng.randrange(2, 9)))
        near = {each for each in known if len(each) > 4 and distance(word, each) == 1}
        assert words.nearest(word) == min(near, default=None)


@pytest.mark.parametrize("word", ["", "a", "x" * 1_000, "kowalski", "12345"])
def test_words_that_are_no_near_ones(word):
    assert NearWords(["kowalski", "12346"]).nearest(word) is None
    assert NearWords([]).nearest(ascii_lowercase) is None
