"""A load whose unit ids nobody linked says so to its custodian."""

import pytest

from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from tests.support.installations.harness import DEFAULT_ROWS, Installation


@pytest.fixture
def installation(tmp_path):
    return Installation(tmp_path).create()


def warnings(installation, **more):
    path = installation.write_manifest(DEFAULT_ROWS)
    text = path.read_text()
    if more:
        text += "".join(f"{name}: {value}\n" for name, value in more.items())
        path.write_text(text)
    with installation.services() as services:
        service = LoadService(services, "local:test")
        return service.load(path, LoadChoices(dry_run=True))["report"]["warnings"]


def test_a_load_warns_of_ids_that_nobody_linked(installation):
    (said,) = [one for one in warnings(installation) if "linked" in one]
    assert "a patient of two ids is two units" in said
    assert "curator linkage run" in said


def test_who_says_by_what_ids_were_linked_is_not_warned(installation):
    told = warnings(installation, linked="master patient index of 2025")
    assert not any("linked" in one for one in told)
