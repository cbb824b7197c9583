"""A later load is held against all earlier ones, and leaves no file behind."""

import pytest

from server.use_cases.loading.loading import LoadChoices
from server.use_cases.loading.service import LoadService
from server.use_cases.services.errors import CommandRefusedError
from server.web import Server
from tests.support.installations.harness import Installation


@pytest.fixture
def installation(tmp_path):
    installation = Installation(tmp_path).create()
    installation.load()
    return installation


def test_a_column_that_was_dropped_comes_back_as_it_was(installation):
    full = installation.write_manifest()
    text = full.read_text()
    start, end = text.index("  - name: age"), text.index("  - name: ward")
    dropped = full.with_name("dropped.yaml")
    dropped.write_text(text[:start] + text[end:])
    changed = full.with_name("changed.yaml")
    changed.write_text(text.replace("{min: 0, max: 120}", "{min: 0, max: 90}"))
    with installation.services() as services:
        service = LoadService(services, "local:test")
        service.load(dropped, LoadChoices(), None)
        with pytest.raises(CommandRefusedError, match=r"visits\.age: domain"):
            service.load(changed, LoadChoices(), None)
        service.load(full, LoadChoices(), None)


def test_which_rows_are_kept_is_not_changed_in_silence(installation):
    path = installation.write_manifest()
    path.write_text(
        path.read_text().replace(
            "max_rows_per_unit: 10", "max_rows_per_unit: 10\n  keep: {first_by: day}"
        )
    )
    with (
        installation.services() as services,
        pytest.raises(CommandRefusedError, match="visits: keep"),
    ):
        LoadService(services, "local:test").load(path, LoadChoices(), None)


def test_what_a_killed_load_left_is_deleted_at_start(installation):
    spill = installation.data / "snapshots" / "s_dead.duckdb.spill"
    spill.mkdir()
    (spill / "rows").write_text("raw")
    server = Server(installation.settings)
    server.start()
    server.stop()
    assert not spill.exists()
    assert len(list((installation.data / "snapshots").iterdir())) == 1
