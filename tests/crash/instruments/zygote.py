"""A process that has imported the server, and forks ``curator`` on request.

It forks ``curator serve``, workers with the lease and the beat that a test wants, and
any other command or a test's own module, whose exit code it writes down.

A start then costs its own work, not the imports'. What it forks is the command as
shipped, in a process group of its own. One line of JSON in, one process id out.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path

from typer.main import get_command

from server.api.app import openapi_document
from server.bootstrap import make_runner, make_services
from server.configuration.settings import read_settings
from server.main import COMMANDS, cli, main
from server.processes.job_worker import work_as_process
from server.use_cases.jobs.queues import JobQueues


def serve(order):
    """Become ``curator serve``, a worker, or whatever command it is."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if "ended" in order:
        _fork_and_note_the_end(order)
    nothing = os.open(os.devnull, os.O_RDONLY)
    out, err = (_opened(order.get(name, order["log"])) for name in ("out", "log"))
    for target, source in ((0, nothing), (1, out), (2, err)):
        os.dup2(source, target)
    if "folder" in order:
        os.environ.clear()
        os.chdir(order["folder"])
    os.environ.update(order["environment"])
    if "lease" in order:
        work(order["lease"])
        return
    if "module" in order:
        importlib.import_module(order["module"]).main(*order["arguments"])
        return
    sys.argv = ["curator", *order["arguments"]]
    main()


def _opened(path):
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _fork_and_note_the_end(order):
    """Return in a child; the process itself waits for it and writes its exit code."""
    child = os.fork()
    if child == 0:
        return
    _, status = os.waitpid(child, 0)
    ended = Path(order["ended"])
    draft = ended.with_suffix(".draft")
    draft.write_text(str(os.waitstatus_to_exitcode(status)))
    draft.rename(ended)
    os._exit(0)


def work(lease):
    """Become a worker."""
    stop = threading.Event()
    runner = make_runner(make_services(read_settings()), stop, **lease)
    work_as_process(stop, JobQueues(runner))


def become(order):
    """Do what an order says, then end as a command does, but leave memory as it is.

    Taking apart what is shared with the warm process would take most of a second.
    """
    code = 1
    try:
        serve(order)
        code = 0
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # noqa: BLE001 - shown as the interpreter does
        traceback.print_exc()
    gc.collect()  # closes databases, so that SQLite puts away its log
    threading._shutdown()  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run():
    """Fork for each line until the input ends."""
    family = get_command(cli)
    for name in COMMANDS:
        family.get_command(None, name)  # its modules are read when it is named
    openapi_document()  # makes what each start would: the models of all routes
    gc.freeze()  # what is shared is not looked through again
    tasks = len(list(Path("/proc/self/task").iterdir()))
    if tasks != 1:
        message = f"{tasks} threads: forking would not be safe"
        raise RuntimeError(message)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(json.loads(line))
        print(child, flush=True)
    gc.unfreeze()


if __name__ == "__main__":
    run()
