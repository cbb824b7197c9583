"""HIDE's three samplings keep what they say."""

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from upstream.extraction.models.sampling import (
    CostProportionate,
    EveryToken,
    RandomOutside,
    Sampling,
    Window,
    draws_of,
    near_spans,
)

LABELS = ["O"] * 20 + ["B-NAME", "I-NAME"] + ["O"] * 20 + ["B-AGE"] + ["O"] * 957


def kept(sampling, labels=LABELS, seed=1):
    return sampling.keep(labels, draws_of(seed, "a"))


def test_a_window_keeps_spans_and_what_is_near_them_in_order():
    mask = kept(Window(near=2))
    assert np.flatnonzero(mask).tolist() == [
        *range(18, 24), *range(40, 45)
    ]  # fmt: skip
    assert near_spans(["O", "O"], 3).tolist() == [False, False]


def test_no_token_of_a_span_is_dropped_at_random_nor_its_neighbours():
    mask = kept(RandomOutside(probability=0.0))
    assert mask.tolist() == kept(Window(near=4)).tolist()
    half = kept(RandomOutside(probability=0.5))
    assert half[16:26].all()
    assert 400 < half.sum() < 600  # of 1,000; a fair coin leaves it once in 10**9


def test_tokens_are_kept_with_the_probability_of_their_type():
    labels = ["O", "B-NAME", "B-AGE"] * 3_000
    mask = kept(CostProportionate(outside=0.1, probabilities={"AGE": 0.3}), labels)
    parts = [mask[at::3].mean() for at in range(3)]
    assert parts[1] == 1.0
    assert abs(parts[0] - 0.1) < 0.03  # more than five standard deviations
    assert abs(parts[2] - 0.3) < 0.05


def test_every_token_is_kept_unless_told():
    assert kept(EveryToken()).all()


def test_what_is_drawn_depends_on_seed_and_document_alone():
    one = RandomOutside(probability=0.5)
    assert (kept(one) == kept(one)).all()
    assert (kept(one) != kept(one, seed=2)).any()


def test_a_sampling_is_named_by_its_way():
    read = TypeAdapter(Sampling).validate_python({"way": "window", "near": 4})
    assert read == Window(near=4)
    with pytest.raises(ValidationError):
        TypeAdapter(Sampling).validate_python({"way": "random_o", "probability": 2})
