"""The server keeps to its OpenAPI document, whatever is sent."""

import pytest

from tests.contract.fuzz import fuzz, serve_target
from tests.effort import rounds

pytestmark = pytest.mark.thorough

CASES = rounds(1_000)


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    with serve_target(tmp_path_factory.mktemp("contract")) as served:
        yield served


def test_made_up_requests_bring_described_replies(target):
    findings = fuzz(target, CASES)
    assert findings.faults == {}
    assert findings.cases >= CASES
    assert {200, 400, 401, 404, 422} <= set(findings.statuses)
