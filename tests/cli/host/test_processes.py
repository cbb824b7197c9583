"""The same commands as processes of their own: exit codes and streams.

These are started as a shell does; those of other tests are forked from a warm process.
"""

import json
import signal
import subprocess
import sys

import pytest

from tests.support.installations.harness import (
    Installation,
    free_port,
    start_process,
    wait_until_ready,
)

pytestmark = pytest.mark.long


def curator(installation, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "server.main", *arguments],
        env={**installation.environment, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_session_of_commands(tmp_path):
    """Whether it is started or forked, streams and exit codes are the same."""
    installation = Installation(tmp_path)
    made = installation.curator("init", "--single-custodian", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["single_custodian"] == "true"
    again = both(installation, "init", "--single-custodian", "--json")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr.startswith("refused: an anchor exists")
    assert both(installation, "key", "list").returncode == 0
    missing = installation.curator("key", "list", environment={"CURATOR_DATA": ""})
    assert missing.returncode == 2
    assert "Traceback" not in missing.stderr


def both(installation, *arguments, **environment):
    done = curator(installation, *arguments, **environment)
    left = sorted(path.name for path in installation.data.iterdir())
    forked = installation.curator(*arguments, environment=environment)
    assert sorted(path.name for path in installation.data.iterdir()) == left
    for name in ("returncode", "stdout", "stderr"):
        assert getattr(forked, name) == getattr(done, name)
    return done


def test_a_server_refuses_to_start_beside_another_and_ends_when_told(tmp_path):
    installation = Installation(tmp_path).create()
    port = free_port()
    process = start_process(installation, port)
    try:
        wait_until_ready(port, process)
        second = installation.curator("serve", "--port", str(free_port()))
        assert second.returncode not in {0, -signal.SIGKILL}
        assert process.poll() is None
    finally:
        process.terminate()
    assert process.wait(30) in {0, -signal.SIGTERM}


def test_serving_without_slots_warns(tmp_path):
    installation = Installation(tmp_path, slot_ms=0).create()
    installation.anchor.unlink()  # it refuses, so that it ends by itself
    done = installation.curator("serve", "--port", "0")
    assert "CURATOR_SLOT_MS is 0" in done.stderr
    assert done.returncode == 1
    assert "refused:" in done.stderr
    assert sys.executable not in done.stdout
