"""The docs' notebooks about releases: run as written, and shown as they ran."""

import json

import matplotlib as mpl
import nbformat
import pytest
import yaml
from IPython.core.interactiveshell import InteractiveShell

from server.demo import cube, sequences
from server.demo.hospital import write_hospital
from tests.client.test_manual import LOCAL, ROOT, run
from tests.effort import gate_first
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.installations.publishing import Press

FOLDER = ROOT / "docs/notebooks"
SPECS = {
    "releases": (cube.SPEC,),
    "sequences": (sequences.SPEC, (FOLDER / "durations.yaml").read_text("utf-8")),
}

mpl.use("Agg")


@pytest.fixture(params=gate_first(1, SPECS))
def name(request):
    return request.param


@pytest.fixture
def shell(tmp_path, monkeypatch, name):
    """Return a shell that knows a small demo hospital with its releases."""
    made = Installation(tmp_path).create()
    made.load_manifest(write_hospital(tmp_path / "files", 300))
    key = made.analyst(dataset="hospital", allotment="1")
    for written in SPECS[name]:
        done = Press(made).publish(yaml.safe_load(written)["release"])
        assert done["state"] == "done", done["error"]
    with serve_in_thread(made) as url:
        monkeypatch.setenv("CURATOR_URL", url)
        monkeypatch.setenv("CURATOR_API_KEY", key)
        opened = InteractiveShell()
        opened.history_manager.enabled = False
        yield opened
        opened.run_cell("curator.close()")


def cells(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_every_cell_of_the_notebook_runs_and_nothing_is_paid(shell, name):
    for cell in cells(name):
        run(shell, cell.source)
    assert str(run(shell, "curator.budget().document")).count("'spent': '0'") >= 1


def test_the_notebook_was_run_in_order_and_shows_its_pictures(name):
    own = cells(name)
    assert [cell.execution_count for cell in own] == [*range(1, len(own) + 1)]
    outputs = [output for cell in own for output in cell.outputs]
    assert "error" not in {output.output_type for output in outputs}
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 4


def test_the_notebook_names_no_place_where_it_ran(name):
    outputs = [output for cell in cells(name) for output in cell.outputs]
    for output in outputs:
        output.get("data", {}).pop("image/png", None)
    assert LOCAL.findall(json.dumps(outputs)) == []
    assert (FOLDER / f"{name}.ipynb").stat().st_size < 200_000
