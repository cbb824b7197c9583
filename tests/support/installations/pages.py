"""Runs the blocks of a page of the docs as its reader would type them."""

import os
import re
import subprocess
import sys
from pathlib import Path

from curator_client import Curator
from tests.support.installations.harness import free_port

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
STRICTLY = "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"


def blocks(page, language):
    """Return the texts of a page's blocks of one language."""
    return [text for found, text in all_blocks(page) if found == language]


def all_blocks(page):
    """Return (language, text) of every block, in order."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return [
        (language, re.sub(rf"^{indent}", "", body, flags=re.MULTILINE))
        for indent, language, body in BLOCK.findall(text)
    ]


def script(page):
    """Return the page's blocks as one script; Python blocks as here-documents."""
    parts = []
    for language, text in all_blocks(page):
        if language == "sh":
            parts.append(text)
        elif language == "python":
            parts.append(f"python - <<'THE_END'\n{text}THE_END\n")
    return STRICTLY + "\n".join(parts)


def environment(folder):
    """Return a shell's environment: our commands, nobody's settings."""
    tools = folder / "bin"
    tools.mkdir()
    for name, module in (("python", ""), ("curator", "-m server.main")):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        tool.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CURATOR_")}
    return {
        **kept,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python'}",
        "CURATOR_PORT": str(free_port()),
    }


def assert_python_runs_for_nothing(page, served, folder):
    """Run a page's Python as one program against a server; it may spend nothing.

    ``served`` is its address and an analyst's key, whose releases the page asks.
    """
    url, key = served
    shell = {
        **environment(folder),
        "CURATOR_URL": url,
        "CURATOR_API_KEY": key,
        "MPLBACKEND": "agg",
    }
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks(page, "python"))],
        cwd=folder,  # what a page writes does not stay in the tree
        env=shell,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "(free, from the release rel_" in done.stdout
    with Curator(url, key) as curator:
        (project,) = curator.budget().document["projects"]
        assert project["spent"] == "0"


def run_page(page, folder, seconds=400):
    """Run a page's blocks in one shell; return what they printed."""
    with subprocess.Popen(
        ["bash", "-c", script(page)],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, complained = process.communicate(timeout=seconds)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
    assert process.returncode == 0, printed + complained
    return printed
