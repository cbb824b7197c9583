"""A process that has imported the server, and forks ``curator serve`` on request.

It forks workers too, with the lease and the beat that a test wants.

A restart then costs its own work, not the imports'. What it forks is the command as
shipped, in a process group of its own. One line of JSON in, one process id out.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path

from server.bootstrap import make_runner, make_services
from server.job_worker import work_as_process
from server.main import main
from server.settings import read_settings
from server.use_cases.job_queues import JobQueues


def serve(order):
    """Become ``curator serve``, or a worker."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.update(order["environment"])
    if "lease" in order:
        work(order["lease"])
        return
    sys.argv = ["curator", *order["arguments"]]
    main()


def work(lease):
    """Become a worker."""
    stop = threading.Event()
    runner = make_runner(make_services(read_settings()), stop, **lease)
    work_as_process(stop, JobQueues(runner))


def run():
    """Fork for each line until the input ends."""
    tasks = len(list(Path("/proc/self/task").iterdir()))
    if tasks != 1:
        message = f"{tasks} threads: forking would not be safe"
        raise RuntimeError(message)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            serve(json.loads(line))
            os._exit(0)
        print(child, flush=True)


if __name__ == "__main__":
    run()
