"""Moves a ledger in a process that kills itself at a named point of the move.

python -m tests.crash.moving.move_kills POINT URL
"""

import os
import signal
import sys

from budget.chain.anchor import HeldAnchor
from budget.checking import moving as checking
from server.main import main as curator
from server.use_cases.operations import moving

HALF = 8_192
SOURCE_GOES_ON = (
    "at the first table",
    "between two tables",
    "before comparing",
    "before the target's commit",
    "after the target's commit",
    "before the closing's commit",
)
TARGET_GOES_ON = ("before the anchor", "within the anchor", "after the anchor")


def die(*_, **__):
    """End as if the power went."""
    os.kill(os.getpid(), signal.SIGKILL)


def after(step, calls=1):
    """Return a step that dies once it was done so often."""
    done = []

    def stepped(*arguments):
        step(*arguments)
        done.append(1)
        if len(done) == calls:
            die()

    return stepped


def write_half(held, content, offset):
    os.pwrite(held._descriptor, content[:HALF], offset)
    die()


PLANTED = {
    "at the first table": (moving, "_copy", die),
    "between two tables": (moving, "_copy", after(moving._copy, 4)),
    "before comparing": (moving, "_go_on_counting", die),
    "before the target's commit": (checking, "encode_record", die),
    "after the target's commit": (moving, "close_ledger", die),
    "before the closing's commit": (moving, "close_ledger", after(moving.close_ledger)),
    "before the anchor": (HeldAnchor, "write", die),
    "within the anchor": (HeldAnchor, "_put", write_half),
    "after the anchor": (HeldAnchor, "write", after(HeldAnchor.write)),
}


def main(point, url):
    where, name, instead = PLANTED[point]
    setattr(where, name, instead)
    sys.argv = ["curator", "ledger", "move", "--to", url]
    curator()


if __name__ == "__main__":
    main(*sys.argv[1:])
