"""A derived column is asked over HTTP as others are, and stays what it is."""

import pytest

from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.services.errors import CommandRefusedError
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.noise.samplers import ZeroSampler

DERIVED = """\
  derived:
  - name: adult
    type: text
    expression: CASE WHEN age >= 18 THEN 'yes' ELSE 'no' END
    domain: {values: [yes_, "yes", "no"]}
    source: law
  - name: month
    type: integer
    expression: EXTRACT(MONTH FROM day)
    domain: {min: 1, max: 6}
    source: study period
"""


def with_derived(installation, text=DERIVED):
    path = installation.write_manifest()
    path.write_text(path.read_text() + text)
    return path


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("derived")).create()
    made.load_manifest(with_derived(made))
    return made


def test_it_is_a_key_and_a_measure(installation):
    key = installation.analyst()
    ages = [int(row.split(",")[2]) for row in DEFAULT_ROWS]
    months = [int(row.split(",")[4].split("-")[1]) for row in DEFAULT_ROWS]
    with (
        serve_in_thread(installation, ZeroSampler) as url,
        client(url, key) as http,
    ):
        (columns,) = [
            table["columns"]
            for table in http.get("/v1/datasets/clinic").json()["tables"]
        ]
        told = {column["name"]: column.get("expression") for column in columns}
        answer = ask(
            http,
            "SELECT adult, COUNT(*) AS n, SUM(month) AS m FROM visits GROUP BY adult",
            epsilon="5",
        ).json()
    assert "rows" in answer, answer
    assert told["adult"] == "CASE WHEN age >= 18 THEN 'yes' ELSE 'no' END"
    assert told["age"] is None
    rows = {row[0]: row[1:] for row in answer["rows"]}
    assert set(rows) == {"yes_", "yes", "no", None}
    assert (rows["yes_"], rows[None]) == ([0, 0], [0, 0])
    assert rows["yes"][0] == sum(age >= 18 for age in ages)
    assert rows["yes"][1] + rows["no"][1] == sum(min(month, 6) for month in months)


def test_its_expression_does_not_change_in_silence(installation):
    path = with_derived(installation, DERIVED.replace(">= 18", ">= 21"))
    with (
        installation.services() as services,
        pytest.raises(CommandRefusedError, match=r"visits\.adult: expression"),
    ):
        LoadService(services, "local:test").load(path, LoadChoices(), None)
