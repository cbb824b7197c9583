"""A text that is nearly SQL is refused as such: whatever is typed, no error is ours.

Texts of the dialects lose words, get others or end early. An error of ours would be a
reply of 500, and one that nobody counts.
"""

import random
import re

import pytest

from privacy.errors import QueryError
from query_lang.rewriting.mending import mended
from tests.effort import rounds
from tests.golden.test_dialects import compiles, texts

_WORDS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\d+\.\d+|\w+|::|[<>!]=|<>|\|\||\S|\s+")


def within_brackets(rng, tokens):
    """Return where the inside of one pair of brackets begins and ends."""
    begins = [place for place, word in enumerate(tokens) if word == "("]
    if not begins:
        return 0, 0
    begin, depth = rng.choice(begins) + 1, 1
    for place in range(begin, len(tokens)):
        depth += (tokens[place] == "(") - (tokens[place] == ")")
        if not depth:
            return begin, place
    return begin, len(tokens)


def mangled(rng, asked, words):
    """Return a text with one or two words, or what is in brackets, lost or changed."""
    tokens = _WORDS.findall(rng.choice(asked))
    for _ in range(rng.choice((1, 1, 1, 2))):
        place = rng.randrange(1, len(tokens) + 1)
        begin, end = within_brackets(rng, tokens)
        comma = next((p for p in range(begin, end) if tokens[p] == ","), end)
        new = rng.choice(words)
        tokens = rng.choice(
            (
                [*tokens[:place], *tokens[place + 1 :]],
                [*tokens[:place], " ", new, " ", *tokens[place:]],
                [*tokens[:place], new, *tokens[place + 1 :]],
                [*tokens[:begin], *tokens[end:]],
                [*tokens[:begin], *tokens[comma + 1 :]],
                [*tokens[:begin], new, *tokens[end:]],
                [*tokens[:end], ", ", new, *tokens[end:]],
                tokens[:place],
            )
        )
    return "".join(tokens)


def is_refused(text):
    try:
        compiles(text)
    except QueryError as error:
        mended(text, error, compiles)
        return True
    return False


@pytest.mark.parametrize("seed", range(4))
def test_mangled_texts_are_answered_or_refused(seed):
    rng = random.Random(seed)
    asked = [line for line in texts() if line and not line.startswith("[")]
    words = sorted({w for line in asked for w in _WORDS.findall(line) if w.strip()})
    refused = 0
    for _ in range(rounds(10_000, 250)):
        text = mangled(rng, asked, words)
        try:
            refused += is_refused(text)
        except Exception as error:  # noqa: BLE001 - the text is what has to be known
            pytest.fail(f"{type(error).__name__}: {error}: {text}")
    assert refused
