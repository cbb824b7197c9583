"""A project that nobody could ask under is refused, and an ended one is named."""

import json
from datetime import timedelta

import pytest

from server.use_cases.services.services import today
from tests.support.installations.harness import Installation

pytestmark = pytest.mark.long


def test_a_project_cannot_begin_after_its_end(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    installation.analyst(name="ada", project="study")
    create = ("project", "create", "late", "--dataset", "clinic", "--principal", "ada")
    ended = (*create, "--allotment", "1", "--expires")
    refused = installation.curator(*ended, str(today()))
    assert refused.returncode == 1
    assert "nobody could ask; give a day that has not begun" in refused.stderr
    made = installation.curator(*ended, str(today() + timedelta(days=30)))
    assert made.returncode == 0, made.stderr
    changed = installation.curator(
        "project", "change", "late", "--expires", str(today())
    )
    assert changed.returncode == 0, changed.stderr
    found = installation.curator("doctor", "--json")
    projects = [
        finding["detail"] if "detail" in finding else json.dumps(finding)
        for finding in json.loads(found.stdout)["findings"]
        if "projects" in json.dumps(finding)
    ]
    assert any("access has ended of: late" in text for text in projects), projects
