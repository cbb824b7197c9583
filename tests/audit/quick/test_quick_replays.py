"""With frozen noise, nothing that is published follows the raw counts (2.3 d).

What mechanisms returned for one cube is returned again for its neighbour, and for a
cube that has nothing in common with it: choices, partitions, tables and every byte of
the files must be the same. So all that depends on rows goes through a mechanism.
"""

import hashlib

import numpy as np
import pytest

from privacy.charges import Charge
from privacy.losses import Loss
from release.contract.errors import ReleaseRefusedError
from release.cubes.strategies.registry import STRATEGIES
from release.store.listings import CUBE, listed_cells
from release.store.tables import write_table
from tests.audit.instruments.replays import KeepingMeter, ReplayingMeter
from tests.support.noise.meters import cube_of

LOSS = Loss.parse("2")
GENERATOR = np.random.default_rng(11)
LINE = GENERATOR.geometric(0.05, 200) * (np.arange(200) % 40 < 15)
SHAPES = {"line": (200,), "plane": (20, 10), "cube": (5, 4, 10)}
OTHERS = {
    "neighbour": LINE + (np.arange(200) == 77),
    "nothing": np.zeros(200, dtype=np.int64),
    "stranger": LINE[::-1] * 3 + 1,
}


ASKED = {"marginals": {"rounds": 1}}
"""Parameters, where there is more to measure than without any."""


def suits(strategy, shape):
    try:
        STRATEGIES[strategy].parts(cube_of(np.zeros(shape)).domain, LOSS, {})
    except ReleaseRefusedError:
        return False
    return True


CASES = [
    pytest.param(strategy, shape, id=f"{strategy}-{name}")
    for strategy in STRATEGIES
    for name, shape in SHAPES.items()
    if suits(strategy, shape)
]


def measured(strategy, shape, image, meter, *arguments):
    own, cube = STRATEGIES[strategy], cube_of(image.reshape(shape))
    asked = ASKED.get(strategy, {})
    parts = own.parts(cube.domain, LOSS, asked)
    made = meter(Charge("replay", LOSS), parts, *arguments)
    return own.measure(cube, made, asked), made


def columns(model):
    """Return what is published of a model, but for the form of its files."""
    tables = model.tables().items()
    listed = {
        (name, column): (str(values.dtype), values.tolist())
        for name, table in tables
        for column, values in table.items()
    }
    return model.facts(), listed


def digests(folder, model):
    """Write a model as the job does; return every file's digest."""
    folder.mkdir()
    labels = {dimension.name: dimension.values for dimension in model.domain.dimensions}
    tables = dict(model.tables())
    for name, table in tables.items():
        write_table(folder, name, table)
    if CUBE not in tables:
        write_table(folder, CUBE, listed_cells(model), labels)
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


@pytest.mark.sampled
@pytest.mark.parametrize(("strategy", "shape"), CASES)
def test_what_is_published_follows_from_what_mechanisms_returned_alone(
    strategy, shape, tmp_path
):
    model, meter = measured(strategy, shape, LINE, KeepingMeter)
    for name, image in OTHERS.items():
        replayed, again = measured(strategy, shape, image, ReplayingMeter, meter.kept)
        assert again.left_over == []
        assert columns(replayed) == columns(model), name
    assert digests(tmp_path / "own", model) == digests(tmp_path / "other", replayed)
