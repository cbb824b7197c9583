import copy
import json
import pickle

import pytest

from privacy.sealed import Exact


@pytest.mark.parametrize(
    "leak",
    [pickle.dumps, copy.copy, copy.deepcopy, json.dumps, hash, bool, list, len,
     lambda e: e == 1, lambda e: e.__getstate__(), lambda e: e < 1, lambda e: f"{e:d}"],
)  # fmt: skip
def test_exact_values_cannot_leave_their_seal(leak):
    with pytest.raises(TypeError):
        leak(Exact(41))


def test_exact_values_cannot_be_printed():
    assert "41" not in f"{Exact(41)!r} {Exact(41)!s}"


def test_the_seal_opens_for_mechanisms():
    assert Exact(41).unseal() == 41
