import json
import os
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.samplers import vectors as vector_samplers
from mechanisms.samplers.vectors import OsVectorSampler
from tests.support.noise.samplers import ScaledVectorSampler, ZeroVectorSampler

SAMPLER = OsVectorSampler()
TEN = Fraction(10)

PROGRAM = """
import json, os
from fractions import Fraction
from mechanisms.samplers.vectors import OsVectorSampler

def draw(sampler):
    return sampler.discrete_laplace(32, Fraction(10**9)).tolist()

warm = OsVectorSampler()
draw(warm)  # whatever the parent keeps between draws is there
found = []
for _ in range(3):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, json.dumps([draw(warm), draw(OsVectorSampler())]).encode())
        os._exit(0)
    os.wait()
    found += json.loads(os.read(reading, 65536))
found.append(draw(warm))
print(json.dumps(found))
"""


def test_forked_processes_draw_vectors_of_their_own():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    streams = [tuple(stream) for stream in json.loads(done.stdout)]
    assert len(set(streams)) == len(streams) == 7
    assert len({value for stream in streams for value in stream}) > 7 * 30


def everything(sampler):
    scores = np.arange(9)
    return [
        sampler.discrete_laplace(70_000, TEN).tolist(),
        sampler.tail_geometric(5_000, Fraction(2**40)).tolist(),
        sampler.positions(10**6, 60, TEN).tolist(),
        sampler.binomial(10**9, 1, TEN),
        sampler.choose(scores, TEN),
    ]


def test_the_operating_systems_bits_are_the_only_source(monkeypatch):
    def draw():
        bits = np.random.Generator(np.random.PCG64(7))
        monkeypatch.setattr(vector_samplers.os, "urandom", bits.bytes)
        return everything(SAMPLER)

    first = draw()
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the very generator that nothing may read
    assert draw() == first


def test_seeding_every_generator_repeats_no_noise():
    found = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - as above
        found.append(SAMPLER.discrete_laplace(50, Fraction(10**6)).tolist())
    assert found[0] != found[1]


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**16, 2**16 + 1])
def test_vectors_have_the_size_asked_for(size):
    for drawn in (
        SAMPLER.discrete_laplace(size, TEN),
        SAMPLER.tail_geometric(size, TEN),
    ):
        assert drawn.shape == (size,)
        assert drawn.dtype == np.int64


def test_noise_of_no_width_is_zero():
    assert not SAMPLER.discrete_laplace(10_000, Fraction(1, 2**1000)).any()


@pytest.mark.parametrize("scale", [Fraction(2**40), Fraction(10**17)])
def test_huge_scales_are_as_wide_as_they_say(scale):
    drawn = SAMPLER.discrete_laplace(20_000, scale)
    assert abs(np.abs(drawn).mean() / float(scale) - 1) < 6 / 20_000**0.5
    assert abs(drawn.mean()) < 6 * 2**0.5 * float(scale) / 20_000**0.5
    assert len(set(drawn.tolist())) > 19_900


def test_a_scale_beyond_64_bits_saturates():
    drawn = SAMPLER.discrete_laplace(1_000, Fraction(2**80))
    assert set(drawn.tolist()) <= {2**63 - 1, -(2**63)} | set(
        drawn[np.abs(drawn.astype(float)) < 2**63].tolist()
    )
    assert (np.abs(drawn.astype(float)) == 2.0**63).mean() > 0.9


def test_no_threshold_is_passed_by_half_or_more():
    found = SAMPLER.binomial(10**12, 0, TEN)
    likely = 1e12 / (1 + np.exp(-0.1))
    assert abs(found - likely) < 6 * 5e5


def test_a_choice_of_one_is_that_one():
    assert SAMPLER.choose(np.array([-7]), TEN) == 0


def test_a_score_far_above_all_is_chosen():
    assert SAMPLER.choose(np.array([0, 2**62 - 1, -(2**62) + 1]), TEN) == 1


def test_scores_that_are_hard_to_tell_are_all_chosen():
    scores = np.arange(5)
    assert {SAMPLER.choose(scores, Fraction(10**9)) for _ in range(200)} == set(
        range(5)
    )


def test_the_tests_own_samplers_answer_whatever_is_asked():
    zero = everything(ZeroVectorSampler())
    assert [np.count_nonzero(part) for part in zero] == [0, 0, 0, 0, 1]
    assert len(everything(ScaledVectorSampler(2))) == len(zero)


def test_nothing_is_configured():
    with pytest.raises(TypeError):
        OsVectorSampler(os.urandom)
