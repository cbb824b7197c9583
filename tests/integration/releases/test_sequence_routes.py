"""Sequences over real HTTP: published by a custodian, read by their readers."""

import csv
import io

import pytest

from tests.integration.releases.test_release_routes import World
from tests.support.installations.harness import client, serve_in_thread
from tests.support.installations.publishing import paths


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("sequences"))


@pytest.fixture(scope="module")
def ways(world):
    return world.published(
        paths,
        name="ways",
        epsilon="20",
        split={"column": "sex"},
        readers=[{"project": "study"}],
    )


@pytest.fixture(scope="module")
def later(world):
    return world.published(paths, name="later")


@pytest.fixture(scope="module")
def http(world, ways, later):
    with serve_in_thread(world.made) as url:
        made = {name: client(url, key) for name, key in world.keys.items()}
        yield made
        for one in made.values():
            one.close()


def test_readers_see_that_a_release_holds_sequences(http, ways):
    (item,) = http["ada"].get("/v1/releases").json()["items"]
    assert (item["kind"], item["counts"]) == ("sequences", "units")
    manifest = http["ada"].get(f"/v1/releases/{ways}").json()["manifest"]
    assert manifest["max_length"] == 3
    assert http["eve"].get("/v1/releases").json()["items"] == []
    absent = http["eve"].get("/v1/releases/rel_" + "0" * 24)
    hidden = http["eve"].get(f"/v1/releases/{ways}")
    assert (hidden.status_code, hidden.content) == (404, absent.content)


def test_the_tree_is_what_people_download_first(http, ways):
    base = f"/v1/releases/{ways}/download"
    rows = list(csv.DictReader(io.StringIO(http["ada"].get(base).text)))
    assert {row["split"] for row in rows} == {"F", "M"}
    assert rows[0]["symbol"] == "(all)"
    assert {row["symbol"] for row in rows} <= {
        "(all)",
        "north",
        "south",
        "other",
        "none",
        "(end)",
        "(not known)",
    }
    nodes = http["ada"].get(base, params={"table": "nodes", "format": "parquet"})
    assert nodes.status_code == 200


def test_custodians_see_verify_and_withdraw_it(http, later):
    base = f"/v1/admin/releases/{later}"
    shown = http["carol"].get(base).json()
    assert shown["spec"]["kind"] == "sequences"
    assert http["carol"].get(f"{base}/verify").json()["ok"]
    done = http["carol"].post(f"{base}/withdraw", json={"reason": "a wrong cohort"})
    assert done.json()["state"] == "withdrawn"


def test_a_wrong_spec_is_an_invalid_request_with_its_words(http):
    told = {"release": paths(name="wrong", split={"column": "ward"})}
    for path in ("/v1/admin/releases/plan", "/v1/admin/releases"):
        refused = http["carol"].post(path, json=told)
        assert refused.status_code == 422, refused.text
        assert refused.json()["type"] == "invalid_request"
        assert "may vary within one patient" in refused.text


def test_a_query_of_the_table_is_offered_no_sequences(http, ways):
    told = {"sql": "SELECT ward, COUNT(DISTINCT patient_id) FROM visits GROUP BY ward"}
    base = "/v1/datasets/clinic/plan"
    planned = http["ada"].post(base, json={**told, "epsilon": "0.1"})
    assert planned.status_code == 200, planned.text
    assert planned.json()["free"] == []
    assert ways not in planned.text
