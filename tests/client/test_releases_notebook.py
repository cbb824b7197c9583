"""The docs' notebook about releases: run as it is written, and shown as it ran."""

import json

import matplotlib as mpl
import nbformat
import pytest
import yaml
from IPython.core.interactiveshell import InteractiveShell

from server.demo import cube
from server.demo.hospital import write_hospital
from tests.client.test_manual import LOCAL, ROOT, run
from tests.harness import Installation, serve_in_thread
from tests.publishing import Press

NOTEBOOK = ROOT / "docs/notebooks/releases.ipynb"

mpl.use("Agg")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Return a shell that knows a small demo hospital with its cube."""
    made = Installation(tmp_path).create()
    made.load_manifest(write_hospital(tmp_path / "files", 300))
    key = made.analyst(dataset="hospital", allotment="1")
    done = Press(made).publish(yaml.safe_load(cube.SPEC)["release"])
    assert done["state"] == "done", done["error"]
    with serve_in_thread(made) as url:
        monkeypatch.setenv("CURATOR_URL", url)
        monkeypatch.setenv("CURATOR_API_KEY", key)
        opened = InteractiveShell()
        opened.history_manager.enabled = False
        yield opened
        opened.run_cell("curator.close()")


def cells():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_every_cell_of_the_notebook_runs_and_nothing_is_paid(shell):
    for cell in cells():
        run(shell, cell.source)
    assert str(run(shell, "curator.budget().document")).count("'spent': '0'") >= 1


def test_the_notebook_was_run_in_order_and_shows_its_pictures():
    assert [cell.execution_count for cell in cells()] == [*range(1, len(cells()) + 1)]
    outputs = [output for cell in cells() for output in cell.outputs]
    assert "error" not in {output.output_type for output in outputs}
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 4


def test_the_notebook_names_no_place_where_it_ran():
    outputs = [output for cell in cells() for output in cell.outputs]
    for output in outputs:
        output.get("data", {}).pop("image/png", None)
    assert LOCAL.findall(json.dumps(outputs)) == []
    assert NOTEBOOK.stat().st_size < 200_000
