"""A9: a release suppresses, clamps and rounds nothing by a threshold on true counts.

By the real publishing job. What is left out of ``sparse_cells`` is decided by noisy
counts: how often, on both sides of its threshold, is audited in
tests/audit/quick/test_quick_releases.py.
"""

import csv

import pytest

from tests.support.installations.arms import make_installation
from tests.support.installations.harness import client, serve_in_thread
from tests.support.installations.publishing import Press, spec
from tests.support.noise.samplers import ZeroVectorSampler

THRESHOLDS = (1, 2, 5, 10, 11, 20)  # the customary minimum sizes; 11 is for display
DIMENSIONS = [{"column": "ward"}, {"column": "age"}]
SQL = "SELECT ward, COUNT(*) AS n FROM sizes WHERE age = {} GROUP BY ward"


def _rows():
    """Put k patients in the north, k - 1 in the south, by age k."""
    unit = 0
    for k in THRESHOLDS:
        for ward, size in (("north", k), ("south", k - 1)):
            for _ in range(size):
                unit += 1
                yield f"{unit},F,{k},{ward},2024-01-01,n"


def _spec(strategy="cells", epsilon="1"):
    return spec(
        "sizes",
        strategy=strategy,
        count="rows",
        epsilon=epsilon,
        dimensions=DIMENSIONS,
        readers=[{"project": "study"}],
    )


def _published(folder, told, sampler=None):
    made = make_installation(folder, list(_rows()))
    key = made.analyst()
    press = Press(made, sampler) if sampler else Press(made)
    done = press.publish(told)
    assert done["state"] == "done", done["error"]
    return made, key, done["result"]["release"], press.folders()[0]


def _listed(folder):
    with (folder / "cube.csv").open() as file:
        return {(row["ward"], int(row["age"])): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("strategy", ["cells", "hb"])
def test_exact_counts_on_both_sides_of_every_threshold_pass_through(tmp_path, strategy):
    zero = ZeroVectorSampler
    made, key, release, folder = _published(tmp_path, _spec(strategy), zero)
    listed = _listed(folder)
    with serve_in_thread(made) as url, client(url, key) as http:
        for k in THRESHOLDS:
            reply = http.post(
                f"/v1/releases/{release}/queries", json={"sql": SQL.format(k)}
            )
            shown = dict(reply.json()["rows"])
            for ward, size in (("north", k), ("south", k - 1)):
                assert float(listed[ward, k]["estimate"]) == size
                assert float(shown[ward]) == size


def test_small_and_negative_counts_stay_and_say_the_same_of_their_errors(tmp_path):
    made, key, release, folder = _published(tmp_path, _spec(epsilon="0.02"))
    listed = _listed(folder)
    assert len(listed) == 4 * 121
    values = [float(row["estimate"]) for row in listed.values()]
    # Scale 500 for at most 10 rows a patient: of 484 cells some are below -100 (82 %
    # each are not), and not all are multiples of 5, but for probabilities below 1e-40.
    assert min(values) < -100 < 100 < max(values)
    assert any(value % 5 for value in values)
    errors = {(row["variance"], row["half_width_95"]) for row in listed.values()}
    assert len(errors) == 1
    with serve_in_thread(made) as url, client(url, key) as http:
        for k in THRESHOLDS:
            reply = http.post(
                f"/v1/releases/{release}/queries", json={"sql": SQL.format(k)}
            )
            shown = dict(reply.json()["rows"])
            for ward in ("north", "south"):
                assert shown[ward] == float(listed[ward, k]["estimate"])
