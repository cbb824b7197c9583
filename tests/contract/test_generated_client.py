"""A client that openapi-python-client generates asks the server and reads replies."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from server.api.app import openapi_document
from tests.contract.fuzz import serve_target

pytestmark = pytest.mark.thorough
GENERATOR = shutil.which("openapi-python-client")
QUESTION = "SELECT sex, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY sex"
PROGRAM = """
import json, sys
from curator_http_interface_client import AuthenticatedClient
from curator_http_interface_client.api.questions import create_query, plan_query
from curator_http_interface_client.api.reading import show_budget, show_query
from curator_http_interface_client.api.releases import (
    download_release, list_releases
)
from curator_http_interface_client.models import DownloadReleaseFormat, EpsilonQuestion

url, key, sql = sys.argv[1:]
body = EpsilonQuestion(sql=sql, epsilon="0.5")
wrong = EpsilonQuestion(sql="SELECT nothing FROM visits", epsilon="0.5")
with AuthenticatedClient(base_url=url, token=key) as client:
    plan = plan_query.sync("clinic", client=client, body=body)
    answer = create_query.sync("clinic", client=client, body=body)
    read = show_query.sync(answer.query_id, client=client)
    refused = plan_query.sync("clinic", client=client, body=wrong)
    budget = show_budget.sync(client=client)
    release = list_releases.sync(client=client).items[0].id
    table = download_release.sync(release, client=client)
    parquet = download_release.sync_detailed(
        release, client=client, format_=DownloadReleaseFormat.PARQUET
    ).content
print(json.dumps([
    [plan.epsilon, plan.noise[0].half_width_95],
    [answer.charge.epsilon, answer.noise[0].half_width_95, answer.rows],
    [read.state, read.answer.rows, read.time.year],
    [refused.type_, refused.status],
    [budget.projects[0].spent],
    [table, parquet[:4].decode()],
]))
"""


@pytest.mark.skipif(GENERATOR is None, reason="openapi-python-client is not installed")
def test_a_generated_client_plans_asks_and_reads(tmp_path):
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(openapi_document()), "utf-8")
    made = tmp_path / "client"
    written = ["--path", document, "--output-path", made]
    generated = subprocess.run(
        [GENERATOR, "generate", "--fail-on-warning", "--meta", "setup", *written],
        capture_output=True,
        text=True,
        check=False,
    )
    assert generated.returncode == 0, generated.stdout + generated.stderr
    assert "WARNING" not in generated.stdout
    with serve_target(tmp_path / "served", publishes=True) as target:
        asked = subprocess.run(
            [sys.executable, "-c", PROGRAM, target.url, target.key, QUESTION],
            env={**os.environ, "PYTHONPATH": str(made)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert asked.returncode == 0, asked.stderr
    plan, answer, read, refused, budget, (table, parquet) = json.loads(asked.stdout)
    assert plan[0] == answer[0] == "0.5"
    assert plan[1] == answer[1]
    assert [row[0] for row in answer[2]] == ["F", "M"]
    assert read[:2] == ["answered", answer[2]]
    assert read[2] > 2000
    assert refused == ["unknown_column", 422]
    assert float(budget[0]) > 0.5
    assert table.startswith("sex,age,ward,month,estimate,")
    assert parquet == "PAR1"
