import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTE = "  note: The custodian asks"  # where some noisy count is small
README = Path(__file__).parents[2] / "README.md"


def masked(text):
    """Mask what may differ from run to run: numbers, ids, blanks around them."""
    return [
        re.sub(r"\s+", " ", re.sub(r"rel_\w+|-?\d[\d,.]*", "#", line)).strip()
        for line in text.splitlines()
        if line.strip() and not line.startswith(NOTE)
    ]


@pytest.mark.slow
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
    printed = masked(done.stderr) + masked(done.stdout)
    assert [line for line in printed if line] == transcript
