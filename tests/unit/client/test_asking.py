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
    average = asked("--within", "0.5", "--rows", "100")["accuracy"]
    assert average == {"within": 0.5, "rows": 100, "confidence": 0.95}
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


@pytest.mark.parametrize(
    "word", ["--cells", "--at-most", "--at-least", "--confidence", "--rows"]
)
def test_what_belongs_to_an_accuracy_does_not_stand_alone(word):
    with pytest.raises(ValueError, match=word):
        asked("--epsilon", "1", word, "5")


def test_bounds_and_weights_are_pairs():
    words = (
        "--epsilon 1 --bound max_rows_per_unit=3 --bound visits=5 --bound labs=2"
        " --weight days=3 --weight n=0.5"
    )
    assert asked(*words.split())["options"] == {
        "bounds": {"max_rows_per_unit": 3, "tables": {"visits": 5, "labs": 2}},
        "weights": {"days": 3.0, "n": 0.5},
    }


@pytest.mark.parametrize("pair", ["visits", "visits=", "visits=many", "=3x"])
def test_what_is_no_pair_says_how_one_is_written(pair):
    for option in ("--bound", "--weight"):
        with pytest.raises(ValueError, match=f"{option} takes a name and a number"):
            asked("--epsilon", "1", option, pair)
