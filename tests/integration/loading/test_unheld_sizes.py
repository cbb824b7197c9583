"""Of rows that no size was held to, nothing is asked: no cost follows from them."""

import pytest

from privacy.errors import InvalidOptionError
from privacy.schema_json import dataset_to_json
from server.commands.maintenance import INSTRUMENTS
from server.use_cases.loading import loading
from server.use_cases.operations.doctor import Doctor
from tests.support.installations.arms import plan
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.publishing import Press, spec


def as_before(dataset):
    """Write a schema as versions did that knew no sizes."""
    written = dataset_to_json(dataset)
    del written["max_units"]
    return written


def load(installation):
    """Load a manifest without sizes."""
    manifest = installation.write_manifest()
    lines = manifest.read_text().splitlines()
    kept = [line for line in lines if line.split(":")[0].strip() not in ADDED]
    assert len(kept) == len(lines) - 2
    manifest.write_text("\n".join(kept) + "\n")
    return installation.load_manifest(manifest)


ADDED = {"max_units", "max_rows"}


@pytest.fixture
def earlier(tmp_path, monkeypatch):
    installation = Installation(tmp_path).create()
    with monkeypatch.context() as context:
        context.setattr(loading, "dataset_to_json", as_before)
        load(installation)
    return installation


def findings(installation):
    found = Doctor(installation.settings, INSTRUMENTS).examine()
    return [(one.state, one.detail) for one in found if one.check == "snapshots"]


@pytest.mark.long
def test_questions_are_refused_for_nothing_until_the_dataset_is_loaded_again(earlier):
    key = earlier.analyst()
    with serve_in_thread(earlier) as url, client(url, key) as http:
        for reply in (ask(http), plan(http)):
            assert reply.status_code == 422
            assert reply.json()["rule"] == "too_costly"
            assert "load the dataset again" in reply.json()["hint"]
        assert http.get("/v1/budget").json()["projects"][0]["spent"] == "0"
        assert http.get("/v1/datasets/clinic").status_code == 200
        load(earlier)
        assert ask(http).status_code == 200


@pytest.mark.long
def test_so_are_releases(earlier):
    press = Press(earlier)
    with pytest.raises(InvalidOptionError, match="load it again"):
        press.publish(spec())
    load(earlier)
    assert press.publish(spec())["state"] == "done"


@pytest.mark.long
def test_the_doctor_says_which_datasets(earlier):
    ((state, detail),) = findings(earlier)
    assert (state, "load it again" in detail) == ("fail", True)
    load(earlier)
    assert [state for state, _ in findings(earlier)] == ["ok"]
