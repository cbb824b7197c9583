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


@pytest.mark.thorough
def test_the_demo_prints_what_the_readme_shows(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "server.main", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    block = r"<!-- demo -->\n```\n(.*?)```"
    (shown,) = re.findall(block, README.read_text(), re.DOTALL)
    commanded, *transcript = masked(shown)
    assert commanded == "$ make demo"
    assert (tmp_path / ".demo/key.json").stat().st_mode & 0o777 == 0o600
    printed = masked(done.stderr) + masked(done.stdout)
    assert [line for line in printed if line] == transcript


@pytest.mark.thorough
def test_the_demo_is_served_where_nothing_is_set_but_a_port(tmp_path):
    port = free_port()
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CURATOR_")}
    printed = tmp_path / "printed"
    with (
        printed.open("w") as told,
        subprocess.Popen(
            [sys.executable, "-m", "server.main", "demo", "--serve"],
            cwd=tmp_path,
            env={**kept, "CURATOR_PORT": str(port)},
            stdout=told,
        ) as process,
    ):
        try:
            wait_until_ready(port, process, seconds=300)
            key = json.loads((tmp_path / ".demo/key.json").read_text())["key"]
            with Curator(f"http://127.0.0.1:{port}", key) as curator:
                assert curator.dataset().name == "hospital"
        finally:
            process.terminate()
    assert f"http://127.0.0.1:{port}/v1/datasets" in printed.read_text()
