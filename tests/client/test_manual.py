"""Every block of the client's manual and every cell of the notebook runs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from server.api.app import openapi_document

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "docs/client.md"
README = ROOT / "clients/python/README.md"
NOTEBOOK = ROOT / "docs/notebooks/researcher.ipynb"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOCAL = re.compile(r"/(?:home|root|tmp|Users|usr|opt)/|\.py\b|127\.0|localhost|cur_\w")
MAKES_UP_ROWS = "/v1/datasets/{dataset}/sample" in openapi_document()["paths"]

mpl.use("Agg")


@pytest.fixture
def shell(hospital, monkeypatch):
    """Return a shell that knows the hospital by the environment, as a reader's does."""
    url, key = hospital
    monkeypatch.setenv("CURATOR_URL", url)
    monkeypatch.setenv("CURATOR_API_KEY", key)
    made = InteractiveShell()
    made.history_manager.enabled = False
    yield made
    made.run_cell("curator.close()")
    made.run_line_magic("unload_ext", "curator_client")


def run(shell, text):
    result = shell.run_cell(text)
    result.raise_error()
    return result.result


def blocks(path, *languages):
    found = BLOCK.findall(path.read_text("utf-8"))
    return [text for language, text in found if language in languages]


def cells(kind="code"):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def test_the_manuals_python_runs_in_order(shell, capsys):
    texts = blocks(MANUAL, "python", "ipython")
    assert len(texts) >= 9
    for text in texts:
        run(shell, text)
    shown = capsys.readouterr().out
    assert "encounters: at most 20 rows for each patient_id" in shown
    assert "sql_not_allowed" in shown
    assert "budget_exceeded" in shown
    assert "more questions at epsilon 0.1 fit" in shown


def test_the_readmes_python_runs(shell, capsys):
    (text,) = blocks(README, "python")
    run(shell, text)
    shown = capsys.readouterr().out
    assert "encounters: at most 20 rows for each patient_id" in shown


def test_the_manuals_commands_run_in_order(hospital, tmp_path):
    tool = tmp_path / "bin/curator-client"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m curator_client "$@"\n')
    tool.chmod(0o755)
    url, key = hospital
    done = subprocess.run(
        ["bash", "-euc", "\n".join(blocks(MANUAL, "sh"))],
        env={
            "PATH": f"{tool.parent}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT / "clients/python"),
            "HOME": str(tmp_path),
            "CURATOR_URL": url,
            "CURATOR_API_KEY": key,
            "PYTHONUTF8": "1",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "by-sex.csv").read_text().startswith("sex,patients,")
    assert "more questions at epsilon 0.1 fit" in done.stdout


def test_every_cell_of_the_notebook_runs(shell, capsys):
    for cell in cells():
        if "sample" in cell.metadata.get("tags", []) and not MAKES_UP_ROWS:
            continue
        run(shell, cell.source)
    shown = capsys.readouterr().out
    assert "Sensitivity: L1 8" in shown
    assert "sql_not_allowed" in shown
    assert "budget_exceeded" in shown
    assert "answered" in shown


def test_the_notebook_was_run_in_order_and_without_errors():
    assert [cell.execution_count for cell in cells()] == [*range(1, len(cells()) + 1)]
    outputs = [output for cell in cells() for output in cell.outputs]
    assert "error" not in {output.output_type for output in outputs}
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2


def test_the_notebook_tells_nothing_of_the_machine_that_ran_it():
    text = json.dumps([cell.outputs for cell in cells()])
    text = re.sub(r'"image/png": "[^"]*"', "", text)
    assert LOCAL.findall(text) == []
    assert NOTEBOOK.stat().st_size < 200_000
