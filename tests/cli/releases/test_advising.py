"""``curator release advise``: which tables would have answered what was asked."""

import json

import pytest

from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import Press, spec

pytestmark = pytest.mark.thorough

BY_SEX = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
WOMEN = "SELECT COUNT(*) AS n FROM visits WHERE sex = 'F'"
PEOPLE = "SELECT sex, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY sex"
MEAN = "SELECT AVG(age) AS years FROM visits"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("advice")).create()
    made.load()
    Press(made).publish(spec())  # what releases were charged is no question
    key = made.analyst()
    with serve_in_thread(made) as url, client(url, key) as http:
        for sql in (BY_SEX, BY_SEX, BY_WARD, WOMEN, PEOPLE, MEAN):
            assert ask(http, sql, epsilon="0.5").status_code == 200
        study = {"questions": [{"sql": BY_WARD, "epsilon": "0.5"}]}
        http.post("/v1/datasets/clinic/studies", json=study).raise_for_status()
        again = ask(http, BY_SEX, epsilon="0.9", options={})  # goes on from the first
        assert again.json()["charge"]["epsilon"] == "0.4"
    return made


def test_tables_are_ranked_by_what_they_would_have_answered(asked):
    done = asked.curator("release", "advise", "clinic", "--loss", "0.2", "--json")
    assert done.returncode == 0, done.stderr
    advice = json.loads(done.stdout)
    first, second = advice["tables"]
    assert (advice["asked"], advice["different"], advice["read"]) == (8, 5, 4)
    assert first["keys"] == ["sex", "ward"]
    assert (first["cells"], first["asked"], first["further"]) == (8, 6, 6)
    assert first["paid"] == "2.9"
    assert {one["sql"] for one in first["questions"]} == {BY_SEX, BY_WARD, WOMEN}
    widths = {one["sql"]: int(one["half_width"]) for one in first["questions"]}
    assert widths[BY_SEX] == widths[WOMEN]  # four cells each; by ward two
    assert 150 < widths[BY_WARD] < widths[BY_SEX] < 400  # 10 rows a patient
    assert (second["sql"], second["further"]) == (PEOPLE, 1)


def test_what_is_printed_can_be_read(asked):
    done = asked.curator("release", "advise", "clinic", "--tables", "1")
    assert done.returncode == 0, done.stderr
    assert "sex, ward" in done.stdout
    refused = asked.curator("release", "advise", "nowhere")
    assert refused.returncode == 1
