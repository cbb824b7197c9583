"""The statement of one population tells nothing of another, whatever an entry holds."""

import shutil

import pytest

from privacy.losses import Loss
from server.use_cases.custody.projects import NewProject, ProjectService
from server.use_cases.oversight.statements import StatementService
from tests.support.installations.harness import (
    STRANGERS,
    Installation,
    client,
    serve_in_thread,
)


@pytest.fixture
def installation(tmp_path):
    """Two populations on one ledger: people and others."""
    made = Installation(tmp_path / "made").create()
    made.load()
    manifest = made.write_manifest(
        STRANGERS, dataset="elsewhere", population="others", cap="7"
    )
    made.load_manifest(manifest)
    return made


def written(installation, population):
    with installation.services() as services:
        return StatementService(services).population(population)


@pytest.mark.long
def test_after_a_lost_anchor_each_reads_of_its_own_cap_alone(installation):
    installation.anchor.unlink()
    installation.curator("ledger", "reconcile", "--reason", "the disk burnt")
    assert "others" not in written(installation, "people")
    told = written(installation, "others")
    assert "cap of others: 7 -> 0" in told
    assert "people" not in told


def test_after_a_restore_each_reads_of_its_own_charges_alone(installation, tmp_path):
    key = installation.analyst(allotment="3")
    with installation.services() as services:
        other = NewProject("other", ("elsewhere",), ("ada",), Loss.parse("3"))
        ProjectService(services, "local:test").create_project(other)
    kept = tmp_path / "kept"
    shutil.copytree(installation.data, kept)
    with serve_in_thread(installation) as url, client(url, key) as http:
        for dataset, project in (("clinic", "study"), ("elsewhere", "other")):
            asked = {
                "sql": "SELECT COUNT(*) FROM visits",
                "epsilon": "0.625",
                "project": project,
            }
            reply = http.post(f"/v1/datasets/{dataset}/queries", json=asked)
            assert reply.status_code == 200, reply.text
    shutil.rmtree(installation.data)
    shutil.copytree(kept, installation.data)
    installation.curator("ledger", "reconcile", "--reason", "restored")
    told = written(installation, "people")
    assert "charged 0.625" in told
    assert "others" not in told
