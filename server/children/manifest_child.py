"""The child that reads jobs' manifests: lines of JSON in, lines of JSON out."""

import json
import os
import resource
import signal
import sys
from pathlib import Path

from server.use_cases.loading.manifest_reading import READING_SECONDS, replied

NICENESS = 5  # less urgent than answers, more than loads
MEMORY_BYTES = 1 << 30
LARGE_BYTES = 300 << 20
"""Grown so large by a manifest, the child ends; it starts with 90 MiB."""


def main() -> None:
    """Serve until standard input ends, a limit is met, or memory has grown large."""
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for line in sys.stdin.buffer:
        signal.alarm(int(READING_SECONDS) + 1)  # it ends then: whoever asked is gone
        reply = replied(*json.loads(line))
        reply["is_last"] = _most_bytes() > LARGE_BYTES
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
        signal.alarm(0)
        if reply["is_last"]:
            return


def _most_bytes() -> int:
    """Return the most memory that this very program has had resident.

    What ``getrusage`` tells counts the process that started this one too.
    """
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:  # another system than Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (peak,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024


if __name__ == "__main__":
    main()
