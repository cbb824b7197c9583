"""Installs from a bundle as its page says, without a network, and runs the demo.

python -m scripts.bundle.trial DIRECTORY

The page's own lines are run, in a network of nothing but loopback where the system lets
an ordinary user make one; else with proxies that lead nowhere, and it says so.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.bundle.contents import CHECKSUMS

HEADING = "## Install the server"
PLACE = "/opt/curator"
NOWHERE = "http://127.0.0.1:9"
_ISOLATED = ("unshare", "--net", "--map-root-user")
_LOOPBACK_UP = """\
import fcntl, os, socket, struct, sys
name = struct.pack("16sH14x", b"lo", 0x41)  # up and running
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, name)  # SIOCSIFFLAGS
os.execvp(sys.argv[1], sys.argv[1:])
"""


def main(folder: Path) -> None:
    """Check, install, ask; fail where one of them does."""
    isolated = can_be_isolated()
    _say(f"network: {'loopback alone' if isolated else 'proxies that lead nowhere'}")
    run(["sha256sum", "--check", "--quiet", CHECKSUMS], folder, isolated=isolated)
    with tempfile.TemporaryDirectory() as name:
        for line in lines_of(folder / "INSTALL.md"):
            _say(line)
            words = ["sh", "-euc", line.replace(PLACE, f"{name}/curator")]
            run(words, folder, isolated=isolated, home=name)
        _require_nothing_of_ours(Path(name) / "curator/bin/python", name)


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - a tool's own words


def can_be_isolated() -> bool:
    """Whether this user may make a network of its own."""
    words = [*_ISOLATED, sys.executable, "-c", _LOOPBACK_UP, "true"]
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def lines_of(page: Path) -> list[str]:
    """Return the commands of a page's part on the server, one for each."""
    part = page.read_text("utf-8").partition(HEADING)[2].partition("\n## ")[0]
    block = re.search(r"(?:^    .*\n)+", part, re.MULTILINE)
    if block is None:
        message = f"{page} has no commands under {HEADING!r}"
        raise ValueError(message)
    return block[0].replace("\\\n", " ").strip().splitlines()


def run(words: list[str], folder: Path, *, isolated: bool, home: str = "/") -> None:
    """Run a command in a folder, reaching nobody, with no setting of this user's."""
    kept = ("PATH", "LANG", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    proxies = {f"{kind}_proxy": NOWHERE for kind in ("http", "https", "all")}
    more = {} if isolated else {**proxies, "no_proxy": "127.0.0.1,localhost"}
    alone = {"HOME": home, "PIP_CONFIG_FILE": os.devnull, **more}
    before = [*_ISOLATED, sys.executable, "-c", _LOOPBACK_UP] if isolated else []
    subprocess.run(
        [*before, *words], cwd=folder, env={**environment, **alone}, check=True
    )


def _require_nothing_of_ours(python: Path, home: str) -> None:
    """Refuse a server that was read from a tree, not from its wheel."""
    asking = "import server, curator_client; print(server.__file__)"
    done = subprocess.run(
        [python, "-P", "-c", asking], capture_output=True, text=True, check=True
    )
    if not done.stdout.startswith(home):
        message = f"the server is {done.stdout.strip()}, not the bundle's"
        raise ValueError(message)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
