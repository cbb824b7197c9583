"""The options of a question, in a terminal."""

import argparse

import pytest

from curator_client.asking import add_question_options, question_of


def asked(*words):
    parser = argparse.ArgumentParser()
    add_question_options(parser)
    return question_of(parser.parse_args(words))


def test_an_accuracy_is_written_as_options():
    assert asked("--within", "20")["accuracy"] == {"within": 20, "confidence": 0.95}
    words = "--relative 5% --at-least 10 --cells 90% --at-most 0.5 --prefer paid"
    found = asked(*words.split())
    assert found["accuracy"] == {
        "relative": "5%",
        "at_least": 10,
        "cells": "90%",
        "at_most": "0.5",
        "confidence": 0.95,
    }
    assert found["options"] == {"prefer": "paid"}


@pytest.mark.parametrize("word", ["--cells", "--at-most", "--at-least", "--confidence"])
def test_what_belongs_to_an_accuracy_does_not_stand_alone(word):
    with pytest.raises(ValueError, match=word):
        asked("--epsilon", "1", word, "0.5")
