"""Every block of the quickstart runs, in order, in one shell."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import free_port

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/quickstart.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STRICTLY = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl"),
]


def script():
    """Return the page's blocks as one script; Python blocks as here-documents."""
    blocks = []
    for language, text in BLOCK.findall(PAGE.read_text("utf-8")):
        if language == "sh":
            blocks.append(text)
        elif language == "python":
            blocks.append(f"python - <<'THE_END'\n{text}THE_END\n")
    return STRICTLY + "\n".join(blocks)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quickstart")
    tools = folder / "bin"
    tools.mkdir()
    for name, module in (("python", ""), ("curator", "-m server.main")):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        tool.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CURATOR_")}
    environment = {
        **kept,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python'}",
        "CURATOR_PORT": str(free_port()),
    }
    with subprocess.Popen(
        ["bash", "-c", script()],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, complained = process.communicate(timeout=400)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
    assert process.returncode == 0, printed + complained
    return printed


def test_the_page_has_all_kinds_of_blocks():
    languages = [language for language, _ in BLOCK.findall(PAGE.read_text("utf-8"))]
    assert languages.count("sh") >= 8
    assert "python" in languages


def test_the_curl_line_is_answered(session):
    assert '"rows": [["F", ' in session


def test_the_client_prints_plan_answer_and_remaining(session):
    assert "affordable" in session
    assert "north" in session
    assert "(paid epsilon " in session


def test_the_ledger_is_whole_at_the_end(session):
    assert "ok: true" in session
    assert "epsilon_cap: 5" in session
