"""Whatever published a cube, its answers are sums of its own estimates."""

from datetime import date

import numpy as np
import pytest

from query_lang.reading.parse import parse_query
from release.cubes.questions.answering import AskedCube
from release.cubes.questions.binding.cube import PublishedCube
from release.cubes.strategies.registry import STRATEGIES
from tests.support.noise.meters import cube_of, epsilon, run

SHAPE = (16, 16)
TRUTH = np.random.default_rng(8).poisson(6, SHAPE)


def fits(name):
    """Whether a strategy takes two ordered dimensions."""
    try:
        STRATEGIES[name].parts(cube_of(TRUTH).domain, epsilon("1"), {})
    except Exception:  # noqa: BLE001 - it says what it takes
        return False
    return True


@pytest.mark.parametrize("name", [name for name in sorted(STRATEGIES) if fits(name)])
def test_answers_are_sums_of_the_estimates(name):
    cube = cube_of(TRUTH)
    model, _ = run(STRATEGIES[name], cube, epsilon("1"), seed=4)
    published = PublishedCube(
        "r", "cube", cube.domain, "rows", "patient", "patient_id", date(2024, 1, 1)
    )
    asked = AskedCube(published, model)
    image = model.estimates().reshape(SHAPE)

    answer = asked.ask(
        parse_query(
            "SELECT age_band(d1, 4) AS b, COUNT(*) AS n FROM cube "
            "WHERE d0 BETWEEN 3 AND 11 GROUP BY b"
        )
    )
    odd = asked.ask(parse_query("SELECT COUNT(*) FROM cube WHERE d0 = 2 OR d1 > 9"))

    mask = np.zeros(SHAPE, dtype=bool)
    mask[2], mask[:, 10:] = True, True
    expected = image[3:12].sum(axis=0).reshape(4, 4).sum(axis=1)
    assert [float(n) for _, n in answer.rows] == pytest.approx(expected, abs=1e-4)
    assert float(odd.rows[0][0]) == pytest.approx(image[mask].sum(), abs=1e-4)
    asked.close()
