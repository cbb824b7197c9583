"""The rsyslog example sends on each line that the server logs, whole, and nothing else.

It runs where rsyslog is: on the path, or in the folder that ``CURATOR_RSYSLOG`` names,
in which its packages were unpacked.
"""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "docs/operations"
CONFIG = (FOLDER / "rsyslog-curator.conf").read_text("utf-8")
FORWARD = re.compile(r'action\(type="omfwd".*?"-1"\)', re.DOTALL)
LOGGING = """\
import logging
from server.telemetry.logs import configure_logs
configure_logs("info")
log = logging.getLogger("curator")
log.info("request", extra={"status": 200, "route": "/v1/budget", "principal": "ada"})
log.warning("execution met a limit", extra={"error": "Killed", "count": 3})
"""


def rsyslogd():
    """Return the command of rsyslogd and its environment; None where there is none."""
    found = shutil.which("rsyslogd", path=os.environ["PATH"] + ":/usr/sbin")
    if found:
        return [found], {}
    folder = Path(os.environ.get("CURATOR_RSYSLOG", "/nonexistent"))
    libraries = folder / "usr/lib/x86_64-linux-gnu"
    if not (folder / "usr/sbin/rsyslogd").exists():
        return None
    more = {
        "LD_LIBRARY_PATH": str(libraries),
        "RSYSLOG_MODDIR": str(libraries / "rsyslog"),
    }
    return [str(folder / "usr/sbin/rsyslogd")], more


def logged():
    """Return lines as the server writes them."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGING], capture_output=True, text=True, check=True
    )
    return done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(rsyslogd() is None, reason="needs rsyslog")
def test_each_line_of_the_server_is_sent_on_whole_and_other_words_are_not(tmp_path):
    lines, sent = logged(), tmp_path / "sent"
    (tmp_path / "in").write_text(f"CURATOR_PORT = 8000 (default)\n{lines}")
    to_file = f'action(type="omfile" file="{sent}" template="curatorLine")'
    config, replaced = FORWARD.subn(to_file, CONFIG)
    assert replaced == 1
    config = re.sub(r"global\(.*\)\n", "", config)
    (tmp_path / "rsyslog.conf").write_text(
        f'module(load="imfile")\nglobal(workDirectory="{tmp_path}")\n'
        f'input(type="imfile" file="{tmp_path / "in"}" tag="curator:")\n{config}'
    )
    command, more = rsyslogd()
    where = ("-f", tmp_path / "rsyslog.conf", "-i", tmp_path / "pid")
    with subprocess.Popen([*command, "-n", *where], env={**os.environ, **more}) as held:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and held.poll() is None:
            if sent.exists() and sent.read_text().count("\n") == lines.count("\n"):
                break
            time.sleep(0.05)
        held.terminate()
    wanted = [json.loads(line) for line in lines.splitlines()]
    found = [json.loads(line) for line in sent.read_text().splitlines()]
    assert all(line.pop("server") for line in found)
    assert found == wanted


def test_the_filter_is_the_name_that_the_unit_gives_its_lines():
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(FOLDER / "curator.service")
    (name,) = re.findall(r'\$programname == "(\w+)"', CONFIG)
    assert parser["Service"]["SyslogIdentifier"] == name


def test_lines_leave_the_machine_over_tls_alone_and_never_hold_the_server_up():
    (forward,) = FORWARD.findall(CONFIG)
    assert 'streamDriverMode="1"' in forward
    assert 'streamDriverAuthMode="x509/name"' in forward
    assert 'queue.type="LinkedList"' in forward
    assert "queue.maxDiskSpace" in forward
