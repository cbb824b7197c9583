"""Which processors servers use, and which those that work on rows.

Two processes on one processor delay each other, whatever their priority: a cache is
emptied, a time slice ends. So where there are two processors or more, row work has its
own, and how long another route takes tells nothing of it (PRIVACY 6, "Other routes").
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TOPOLOGY: Final = Path("/sys/devices/system/cpu")
_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
_THREADS: Final = Path("/proc/self/task")


def usable_processors() -> frozenset[int]:
    """Return the processors that this thread may use; a container has few of many."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


@dataclass(frozen=True, slots=True)
class Processors:
    """Two parts of the processors: they share none, unless there is but one.

    Attributes:
        servers: Of the server's processes and what they start, but for row work.
        executors: Of executors and of jobs.
    """

    servers: frozenset[int]
    executors: frozenset[int]

    @property
    def all(self) -> frozenset[int]:
        """The processors of both parts."""
        return self.servers | self.executors

    @classmethod
    def divided(cls, usable: Iterable[int], topology: Path = _TOPOLOGY) -> "Processors":
        """Return halves; the odd one is the servers'.

        Those that are threads of one core stay together, as far as halves allow.

        >>> Processors.divided([0, 1, 2], Path("/nowhere")).executors
        frozenset({2})
        """
        ordered = sorted(usable, key=lambda one: (_core_of(one, topology), one))
        if len(ordered) == 1:
            return cls(frozenset(ordered), frozenset(ordered))
        half = len(ordered) // 2
        return cls(frozenset(ordered[:-half]), frozenset(ordered[-half:]))


def set_niceness(niceness: int) -> None:
    """Let every thread of this process, and all that it starts, give way so much.

    Where the system does not allow it, as going back is not, nothing changes.
    """
    for thread in _threads():
        with suppress(ProcessLookupError, PermissionError):
            os.setpriority(os.PRIO_PROCESS, thread, niceness)


def keep_process_to(processors: frozenset[int]) -> bool:
    """Let every thread of this process run there alone, and all that it starts.

    Returns:
        Whether the system allows it; a sandbox may not.
    """
    return all(_is_kept(thread, processors) for thread in _threads())


@contextmanager
def starting_on(processors: frozenset[int]) -> Iterator[None]:
    """Let the processes that this thread starts in the block run there alone.

    Where there are none, they run where this thread does.
    """
    own = usable_processors()
    if not processors or not _is_kept(0, processors):
        yield
        return
    try:
        yield
    finally:
        _is_kept(0, own)


def has_quota_below(processors: int, quota: Path = _QUOTA) -> bool:
    """Whether a container's quota of time is less than so many processors work.

    Once row work has used the quota up, the kernel stops the server as well.
    """
    try:
        allowed, period = quota.read_text("ascii").split()
        return allowed != "max" and int(allowed) < processors * int(period)
    except (OSError, ValueError):
        return False


def _threads() -> list[int]:
    """Return the threads of this process; elsewhere than on Linux, it alone."""
    try:
        return [int(thread.name) for thread in _THREADS.iterdir()]
    except OSError:
        return [0]


def _is_kept(thread: int, processors: frozenset[int]) -> bool:
    if not hasattr(os, "sched_setaffinity"):
        return False
    try:
        os.sched_setaffinity(thread, processors)
    except ProcessLookupError:
        return True  # that thread has ended
    except OSError:
        return False
    return True


def _core_of(processor: int, topology: Path) -> tuple[int, int]:
    """Return the package and the core that a processor is a thread of, if known."""
    folder = topology / f"cpu{processor}" / "topology"
    try:
        package, core = (
            int((folder / name).read_text("ascii"))
            for name in ("physical_package_id", "core_id")
        )
    except (OSError, ValueError):
        return 0, 0
    return package, core
