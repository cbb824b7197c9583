"""Releases of a population that counts rho: from HTTP and commands to signed files."""

import json
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

from mechanisms.scales.conversions.zcdp import epsilon_ceil
from mechanisms.scales.gaussian.calibration import gaussian_scale
from privacy.losses import Loss
from query_lang.rendering.dialect import Target
from query_lang.rendering.duckdb.dialect import DUCKDB
from release.store.opening import problems_in
from server.use_cases.losses.amounts import short
from server.use_cases.oversight.statements import StatementService
from server.use_cases.publishing.job import public_change
from server.use_cases.publishing.specs import plan_release, read_spec
from tests.integration.losses.test_rho_population import rho_manifest
from tests.support.installations.harness import (
    Installation,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import OPERATOR, Press, paths, spec
from tests.support.noise.samplers import ZeroVectorSampler

pytestmark = pytest.mark.thorough

DELTA = Fraction(1, 10**6)
PAID = Loss.parse("0.1")


def of_rho(given, rho="0.1"):
    return {key: value for key, value in given.items() if key != "epsilon"} | {
        "rho": rho
    }


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(rho_manifest(made))
    return made


def manifest_of(press):
    (folder,) = press.folders()
    assert problems_in(folder) == []
    return folder, json.loads((folder / "manifest.json").read_text())


def test_a_release_is_planned_in_rho_and_told_as_an_epsilon(installation):
    means = str(epsilon_ceil(PAID, DELTA))
    with Press(installation).planner() as planner:
        planned = planner.plan(OPERATOR, {"release": of_rho(spec())})
    assert (planned["rho"], planned["epsilon"]) == ("0.1", means)
    (part,) = planned["parts"]
    assert part == {"name": "cells", "epsilon": means, "rho": "0.1"}
    told = {one["strategy"]: one for one in planned["expected_errors"]}
    assert told["cells"]["cell_rmse"] is not None
    assert "Laplace noise" in told["sparse_cells"]["words"]
    assert "Laplace noise" not in told["cells"]["words"]


@pytest.mark.parametrize(("count", "squared"), [("units", None), ("rows", "square")])
def test_cells_are_published_with_gaussian_noise_and_asked(
    installation, count, squared
):
    key = installation.analyst(allotment="1")
    press = Press(installation)
    told = of_rho(spec(count=count, readers=[{"project": "study"}]))
    job = press.publish(told)
    assert job["state"] == "done", job
    assert job["result"]["rho"] == "0.1"
    folder, manifest = manifest_of(press)
    means = str(epsilon_ceil(PAID, DELTA))
    assert manifest["loss"] == {"epsilon": means, "delta": "0.000001", "rho": "0.1"}
    assert manifest["parts"] == [{"name": "cells", "rho": "0.1"}]
    facts = manifest["model"]["facts"]
    bound = manifest["l1_sensitivity"]
    assert bound > 1
    distance = bound**2 if squared else bound
    assert facts["scale"] == gaussian_scale(Fraction(distance), PAID)
    assert facts["noise"] == "discrete_gaussian"
    assert pq.read_table(folder / "cells.parquet").num_rows == manifest["cells"]
    with serve_in_thread(installation) as url, client(url, key) as http:
        listed = http.get("/v1/releases").json()["items"][0]
        sql = "SELECT sex, COUNT(*) AS n FROM visitors GROUP BY sex"
        answer = http.post("/v1/releases/visitors/queries", json={"sql": sql}).json()
        spent = http.get("/v1/budget").json()["projects"][0]["spent"]
    assert (listed["rho"], listed["epsilon"]) == ("0.1", means)
    assert "cells, rho 0.1, paid" in answer["derivation"]
    assert answer["half_widths"]
    assert spent == "0"


def test_a_loss_of_the_other_measure_is_refused_with_what_to_give(
    installation, tmp_path
):
    refused = Press(installation).publish
    with pytest.raises(Exception, match="give rho instead of epsilon") as told:
        refused(spec(epsilon="1"))
    assert "0.462117158" in str(told.value)
    with pytest.raises(Exception, match="one of both"):
        refused({**spec(epsilon="1"), "rho": "0.1"})
    pure = Installation(tmp_path / "pure").create()
    pure.load_manifest(pure.write_manifest())
    with pytest.raises(Exception, match="give epsilon instead of rho"):
        Press(pure).publish(of_rho(spec()))


def test_exact_values_stand_behind_the_noise(installation):
    press = Press(installation, ZeroVectorSampler)
    assert press.publish(of_rho(spec(count="rows")))["state"] == "done"
    folder, _ = manifest_of(press)
    values = pq.read_table(folder / "cells.parquet")["value"].to_pylist()
    assert sum(values) > 0
    assert min(values) == 0


def test_strategies_that_draw_laplace_noise_are_paid_what_their_epsilon_costs(
    installation,
):
    press = Press(installation)
    assert press.publish(of_rho(spec(strategy="sparse_cells")))["state"] == "done"
    _, manifest = manifest_of(press)
    assert manifest["parts"] == [{"name": "pure", "rho": "0.1"}]
    assert "noise" not in manifest["model"]["facts"]


@pytest.mark.parametrize("strategy", ["prefix_tree", "ngram", "auto"])
def test_sequences_are_published_for_a_rho(installation, strategy):
    press = Press(installation)
    job = press.publish(of_rho(paths(strategy=strategy), "0.5"))
    assert job["state"] == "done", job
    _, manifest = manifest_of(press)
    assert manifest["loss"]["rho"] == "0.5"


def test_a_public_release_is_proposed_with_its_rho_and_told_in_the_statement(
    installation,
):
    press = Press(installation)
    told = of_rho(spec(readers="public"))
    assert press.publish(told)["state"] == "done"
    with press.services() as services:
        statement = StatementService(services).population("people")
        with services.databases.reader.connect() as connection:
            given = read_spec({"release": told})
            planned = plan_release(connection, given, Target(DUCKDB))
    words = f"rho 0.1 (epsilon {short(epsilon_ceil(PAID, DELTA))} at delta 0.000001)"
    assert words in public_change(planned).text()
    assert words in str(statement)
