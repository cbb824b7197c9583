"""Texts that once failed where they are accepted: plan and answer are 200."""

import pytest

from tests.support.installations.harness import Installation, client, serve_in_thread

CASES = [
    "CASE age WHEN 1 THEN TRUE WHEN 2 THEN FALSE END",
    "CASE age WHEN 1 THEN NULL ELSE TRUE END",
    "CASE day WHEN DATE '2024-01-01' THEN TRUE END",
]
WHOLE = "(CAST(age AS DECIMAL(18, 2))) % 92233720368547759 = 1"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("found")).create()
    installation.load_manifest(installation.write_manifest())
    key = installation.analyst(allotment="10")
    with serve_in_thread(installation) as url, client(url, key) as http:

        def asked(sql):
            body = {"sql": sql, "epsilon": "0.1"}
            routes = [f"/v1/datasets/clinic/{route}" for route in ("plan", "queries")]
            return [http.post(route, json=body).status_code for route in routes]

        yield asked


@pytest.mark.parametrize("condition", [*CASES, WHOLE])
def test_it_is_answered(asked, condition):
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE {condition}"
    assert asked(sql) == [200, 200]
