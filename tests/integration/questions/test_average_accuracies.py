"""An accuracy of averages, over real HTTP: planned, paid, refined, and refused."""

import pytest

from curator_client import Curator
from privacy.losses import Loss
from tests.integration.losses.test_rho_population import rho_manifest
from tests.support.installations.harness import (
    Installation,
    client,
    serve_in_thread,
)

pytestmark = pytest.mark.thorough

BY_WARD = "SELECT ward, AVG(age) AS years FROM visits GROUP BY ward"
COUNTED = "SELECT COUNT(*) AS n FROM visits"
WISH = {"within": 2, "rows": 2_000, "cells": "100%"}


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path).create()
    made.load()
    return made


@pytest.fixture
def rho_installation(tmp_path):
    made = Installation(tmp_path).create()
    made.load_manifest(rho_manifest(made))
    return made


def post(http, route, **body):
    reply = http.post(f"/v1/datasets/clinic/{route}", json=body)
    return reply.status_code, reply.json()


def wished(http, route, sql=BY_WARD, **more):
    return post(http, route, sql=sql, accuracy={**WISH, **more})


def test_what_a_plan_says_is_paid_and_a_wider_wish_is_free_after_it(installation):
    key = installation.analyst(allotment="100")
    with serve_in_thread(installation) as url, client(url, key) as http:
        _, planned = wished(http, "plan")
        status, answer = wished(http, "queries")
        _, again = wished(http, "queries", rows=3_000)
        _, dearer = wished(http, "plan", rows=1_500)
    assert status == 200
    assert answer["charge"]["epsilon"] == planned["epsilon"]
    assert planned["priced_by"] == {
        "facts": "public",
        "queries": [],
        "probe": None,
        "at_best": None,
    }
    assert again["charge"]["reused"]
    assert again["rows"] == answer["rows"]
    assert dearer["refines"]["queries"] == [answer["query_id"]]


def test_the_clients_pass_it_on(installation):
    key = installation.analyst(allotment="100")
    with serve_in_thread(installation) as url, Curator(url, key=key) as curator:
        plan = curator.plan(BY_WARD, accuracy={"within": 2, "rows": 2_000})
        answer = plan.ask()
    assert Loss.parse(answer.charge["epsilon"]) == Loss.parse(plan.document["epsilon"])


def test_refusals_say_what_to_write(installation):
    key = installation.analyst(allotment="100")
    with serve_in_thread(installation) as url, client(url, key) as http:
        for body, words in (
            (
                {"sql": BY_WARD, "accuracy": {"within": 2}},
                '{"within": 0.5, "rows": 100}',
            ),
            ({"sql": COUNTED, "accuracy": WISH}, "write AVG(x)"),
            ({"sql": BY_WARD, "accuracy": {"within": 2, "rows": 9}}, "at least) or a"),
        ):
            status, problem = post(http, "plan", **body)
            assert (status, problem["type"]) == (422, "invalid_request")
            assert words in problem["detail"]
        status, problem = wished(http, "queries", rows=70)
        assert (status, problem["type"]) == (422, "epsilon_out_of_range")
        assert "in cells of 70 values" in problem["detail"]
        budget = http.get("/v1/budget").json()
    assert budget["projects"][0]["spent"] == "0"


def test_a_study_takes_it_beside_others(installation):
    key = installation.analyst(allotment="100")
    questions = [
        {"sql": COUNTED, "accuracy": {"within": 40}},
        {"sql": BY_WARD, "accuracy": WISH},
    ]
    with serve_in_thread(installation) as url, client(url, key) as http:
        _, alone = wished(http, "plan")
        status, planned = post(http, "plans", questions=questions)
        assert status == 200, planned
        status, study = post(http, "studies", questions=questions)
        assert status == 200, study
    assert Loss.parse(planned["epsilon"]) > Loss.parse(alone["epsilon"])
    assert study["charge"]["epsilon"] == planned["epsilon"]


def test_a_finer_answer_after_a_coarse_one_costs_the_difference(installation):
    key = installation.analyst(allotment="100")
    with serve_in_thread(installation) as url, client(url, key) as http:
        whole = Loss.parse(wished(http, "plan")[1]["epsilon"])
        half = Loss(whole.nano_epsilon // 2)
        post(http, "queries", sql=BY_WARD, epsilon=str(half))
        _, planned = wished(http, "plan")
        status, answer = wished(http, "queries")
    assert status == 200
    assert Loss.parse(planned["epsilon"]) == whole.minus_floor_zero(half)
    assert answer["charge"]["epsilon"] == planned["epsilon"]


@pytest.mark.parametrize("rows", [20_000, 60_000])
def test_where_rho_is_counted_the_mean_of_all_draws_keeps_to_it(rho_installation, rows):
    key = rho_installation.analyst(allotment="1")
    with serve_in_thread(rho_installation) as url, client(url, key) as http:
        whole = Loss.parse(wished(http, "plan", rows=rows)[1]["rho"])
        half = Loss(whole.nano_epsilon // 2)
        post(http, "queries", sql=BY_WARD, rho=str(half))
        _, planned = wished(http, "plan", rows=rows)
        status, answer = wished(http, "queries", rows=rows)
        _, again = wished(http, "queries", rows=rows)
    assert status == 200
    assert answer["charge"]["rho"] == planned["rho"]
    assert half <= Loss.parse(planned["rho"]) <= whole
    assert again["charge"]["reused"]
    assert again["rows"] == answer["rows"]
