"""Run the docs' notebooks against ``curator demo --serve``, and keep what they show.

    python -m tests.client.run_notebook       (make notebook)

Where CURATOR_URL and CURATOR_API_KEY are set, they ask that server instead.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.support.installations.harness import free_port, wait_until_ready

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "docs/notebooks"
AT_ONCE = {"CURATOR_RELEASE_SLOT_S": "0"}  # as in the demo: its patients are made up
SPECS = sorted(str(path) for path in NOTEBOOKS.glob("*.yaml"))


@contextlib.contextmanager
def demo():
    """Serve the demo's hospital from an empty folder; yield what a client needs."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "server.main", "demo", "--serve"],
            cwd=folder,
            env={**os.environ, **AT_ONCE, "CURATOR_PORT": str(port)},
            start_new_session=True,
        )
        try:
            wait_until_ready(port, process, seconds=300)
            key = json.loads((Path(folder) / ".demo/key.json").read_text())["key"]
            publish(Path(folder) / ".demo")
            yield {"CURATOR_URL": f"http://127.0.0.1:{port}", "CURATOR_API_KEY": key}
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)


def publish(data):
    """Publish what the notebooks' custodian writes, beside the demo's own."""
    command = [sys.executable, "-m", "server.main", "release", "publish"]
    told = {
        "CURATOR_DATA": str(data / "data"),
        "CURATOR_ANCHOR": str(data / "anchor" / "curator.anchor"),
    }
    subprocess.run(
        [*command, *SPECS], env={**os.environ, **AT_ONCE, **told}, check=True
    )


def tidied(notebook):
    """Keep what a reader sees: no times, no tags of the machine that ran it."""
    notebook.metadata = {
        "kernelspec": {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        },
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
        for output in cell.get("outputs", []):
            output.pop("metadata", None)
            if output.output_type in ("execute_result", "display_data"):
                output.metadata = {}
    return notebook


def main():
    """Run those that are named, or all."""
    paths = [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb"))
    given = "CURATOR_URL" in os.environ
    with contextlib.nullcontext(os.environ) if given else demo() as connection:
        os.environ.update(connection)
        for path in paths:
            notebook = nbformat.read(path, as_version=4)
            NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
            nbformat.write(tidied(notebook), path)
            print(f"ran {path.name}")


if __name__ == "__main__":
    main()
