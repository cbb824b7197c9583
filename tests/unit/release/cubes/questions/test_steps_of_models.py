"""What a question takes counts a release's parts before they are passed over."""

from datetime import date

import numpy as np
import pytest

from privacy.errors import SqlNotAllowedError
from query_lang.reading.parse import parse_query
from release.contract.models import Roll
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.binding import CubeBinder
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.questions.evaluating import effort
from release.cubes.questions.evaluating.effort import Effort
from release.cubes.questions.evaluating.evaluation import PublicValues
from release.cubes.questions.evaluating.measuring import Measurer
from release.cubes.questions.evaluating.warm import WarmModel
from release.cubes.strategies.registry import STRATEGIES
from tests.support.noise.meters import cube_of, epsilon, run

BUSY = np.random.default_rng(3).poisson(200, (30, 30))
BY_ROW = "SELECT d0, COUNT(*) AS n FROM cube GROUP BY d0"
AVERAGE = "SELECT d0, AVG(d1) AS n FROM cube GROUP BY d0"


def opened(name, image=BUSY):
    cube = cube_of(image)
    parameters = {"rounds": 1} if name == "marginals" else {}
    model, _ = run(STRATEGIES[name], cube, epsilon("3"), parameters)
    facts = "rows", "patient", "patient_id", date(2024, 1, 1)
    return PublishedCube("r", "cube", cube.domain, *facts), model


def steps(published, sql, model=None):
    question = CubeBinder(published).bind(parse_query(sql))
    values, spent = PublicValues(published), Effort(question.position)
    measurer = Measurer(question, published, values, spent)
    found = spent.spent + measurer.further_steps(model and WarmModel(model))
    values.close()
    return found


@pytest.mark.parametrize("name", ["agrid", "dpcube", "privtree", "hb"])
def test_parts_of_the_release_are_counted(name):
    published, model = opened(name)

    assert steps(published, BY_ROW, model) > steps(published, BY_ROW) + 600 * 900 // 30


def test_more_parts_take_more_steps():
    fine, coarse = (
        opened("privtree", image) for image in (BUSY, np.zeros((30, 30), dtype=int))
    )
    assert len(fine[1].pieces.volumes) > len(coarse[1].pieces.volumes)
    assert steps(*_asked(fine)) > steps(*_asked(coarse))


def _asked(release):
    published, model = release
    return published, BY_ROW, model


def test_ends_of_averages_are_counted_before_they_are_worked_out(monkeypatch):
    published, model = opened("agrid")
    upfront = steps(published, AVERAGE, model)
    monkeypatch.setattr(effort, "MAX_STEPS", upfront)

    with pytest.raises(SqlNotAllowedError) as refused:
        AskedCube(published, model).ask(parse_query(AVERAGE))

    assert refused.value.rule == "too_long"


@pytest.mark.parametrize("name", ["agrid", "privtree", "marginals", "hb"])
def test_the_whole_is_kept_since_a_release_was_opened(name):
    image = BUSY if name != "marginals" else BUSY.reshape(5, 6, 30)
    published, model = opened(name, image)
    whole = "SELECT COUNT(*) AS n FROM cube"

    answer = AskedCube(published, model).ask(parse_query(whole))

    shape = image.shape
    codes = tuple(np.zeros(size, dtype=np.int64) for size in shape)
    told = model.roll(Roll(codes, (1,) * len(shape)))
    assert float(answer.rows[0][0]) == pytest.approx(told.values[0], abs=1e-6)
    assert steps(published, whole, model) == steps(published, whole)
