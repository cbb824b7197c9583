"""The parsing child: reads texts as JSON lines, writes trees as JSON lines."""

import gc
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback

from privacy.errors import QueryError
from query_lang.reading.parse import parse_query
from query_lang.syntax.refusals import refusing_depth
from query_lang.syntax.wire import to_json

MEMORY_BYTES = 1 << 30
STARTED = b"started\n"
"""A child's first line, once it has all that parsing needs."""
_WATCH_SECONDS = 0.5


def main() -> None:
    """Serve until standard input ends; die with the server."""
    threading.Thread(target=_die_with, args=(os.getppid(),), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    gc.disable()  # a text makes few objects; they are collected once it is answered
    gc.freeze()
    sys.stdout.buffer.write(STARTED)
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        sys.stdout.write(_reply(*json.loads(line)) + "\n")
        sys.stdout.flush()
        gc.collect(0)


def _die_with(parent: int) -> None:
    """End this process soon after the server has ended, even amid a parse."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def _reply(sql: str, sequences: bool) -> str:  # noqa: FBT001 - as the line has them
    try:
        tree = parse_query(sql, sequences=sequences)
        with refusing_depth(tree.select.position):
            return json.dumps({"tree": to_json(tree)})
    except QueryError as error:
        facts = ("rule", "line", "column", "detail", "hint")
        return json.dumps(
            {
                "error": type(error).__name__,
                "facts": {fact: getattr(error, fact) for fact in facts},
            }
        )
    except MemoryError:
        raise  # of this text: the child ends, and another takes its place
    except Exception as error:  # noqa: BLE001 - a fault of ours, which is told and logged
        return json.dumps({"fault": _place_of(error)})


def _place_of(error: Exception) -> str:
    """Return what failed where, and nothing of the text."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {at.name}, line {at.lineno} of {at.filename}"


if __name__ == "__main__":
    main()
