"""A release says how large numbers are, and so what a relative accuracy costs."""

import pytest

from tests.support.data.wards import publish
from tests.support.installations.harness import (
    Installation,
    client,
    serve_in_thread,
)
from tests.support.noise.samplers import ZeroVectorSampler

pytestmark = pytest.mark.thorough

# 70 women, and 30 men: visits in three wards
ROWS = [f"{n},{'F' if n < 70 else 'M'},40,north,2024-03-03,n" for n in range(100)]
BY_SEX = "SELECT sex, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY sex"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("sizes")).create()
    made.load(ROWS)
    keys = made.analyst(), made.analyst("bob", "other")
    with serve_in_thread(made) as url:
        yield made, url, keys


def priced(clinic, sql=BY_SEX, who=0, at_least=4):
    _, url, keys = clinic
    with client(url, keys[who]) as http:
        wish = {"relative": "50%", "at_least": at_least}
        body = {"sql": sql, "accuracy": wish}
        reply = http.post("/v1/datasets/clinic/plan", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_a_release_says_how_large_numbers_are(clinic):
    before = priced(clinic)
    publish(
        clinic[0],
        ZeroVectorSampler,
        name="by_sex",
        count="units",
        dimensions=[{"column": "sex"}],
        epsilon="4",
    )
    after = priced(clinic)
    other = priced(clinic, "SELECT COUNT(*) AS n FROM visits", at_least=20)
    assert before["priced_by"]["facts"] == "public"
    assert after["priced_by"] == {
        "facts": "release",
        "queries": [],
        "probe": None,
        "at_best": after["priced_by"]["at_best"],
    }
    assert float(after["priced_by"]["at_best"]) <= float(after["epsilon"])
    assert float(after["epsilon"]) * 3 < float(before["epsilon"])
    # half of what the release says there are at least: fewer than 15 of 30 men
    (width,) = [float(noise["half_width_95"]) for noise in after["noise"]]
    assert 4 < width <= 15
    assert other["priced_by"]["facts"] == "public"  # it counts rows


def test_what_is_not_public_to_the_asker_says_nothing(clinic):
    publish(
        clinic[0],
        ZeroVectorSampler,
        name="rows",
        dimensions=[{"column": "sex"}],
        epsilon="4",
        readers=[{"project": "study"}],
    )
    sql = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    assert priced(clinic, sql, at_least=20)["priced_by"]["facts"] == "release"
    assert priced(clinic, sql, 1, at_least=20)["priced_by"]["facts"] == "public"
