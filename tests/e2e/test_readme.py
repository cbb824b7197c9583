import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from curator_client import Curator
from tests.support.installations.harness import free_port, wait_until_ready

NOTE = "  note: The custodian asks"  # where some noisy count is small
README = Path(__file__).parents[2] / "README.md"


def masked(text):
    """Mask what may differ from run to run: numbers, ids, blanks around them."""
    return [
        re.sub(r"\s+", " ", re.sub(r"rel_\w+|-?\d[\d,.]*", "#", line)).strip()
        for line in text.splitlines()
        if line.strip() and not line.startswith(NOTE)
    ]


pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder where the demo ran, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "server.main", "demo"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stderr, done.stdout


def test_the_demo_prints_what_the_readme_shows(demo):
    folder, *printed = demo
    block = r"<!-- demo -->\n```\n(.*?)```"
    (shown,) = re.findall(block, README.read_text(), re.DOTALL)
    commanded, *transcript = masked(shown)
    assert commanded == "$ make demo"
    assert (folder / ".demo/key.json").stat().st_mode & 0o777 == 0o600
    lines = [line for text in printed for line in masked(text) if line]
    assert lines == transcript


def test_the_demo_is_served_where_nothing_is_set_but_a_port(demo, tmp_path):
    folder, *_ = demo
    port = free_port()
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CURATOR_")}
    printed = tmp_path / "printed"
    with (
        printed.open("w") as told,
        subprocess.Popen(
            [sys.executable, "-m", "server.main", "demo", "--serve"],
            cwd=folder,
            env={**kept, "CURATOR_PORT": str(port)},
            stdout=told,
        ) as process,
    ):
        try:
            wait_until_ready(port, process, seconds=300)
            key = json.loads((folder / ".demo/key.json").read_text())["key"]
            with Curator(f"http://127.0.0.1:{port}", key) as curator:
                assert curator.dataset().name == "hospital"
        finally:
            process.terminate()
    assert f"http://127.0.0.1:{port}/v1/datasets" in printed.read_text()
