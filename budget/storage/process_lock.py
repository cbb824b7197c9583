"""One server for each ledger: one process on SQLite, one parent on PostgreSQL."""

import fcntl
import os
import re
from pathlib import Path
from types import TracebackType
from typing import Self

from privacy.errors import CuratorError

_NETWORK = re.compile(
    r"nfs4?|cifs|smb[23]|smbfs|9p|k?afs|ceph|glusterfs|lustre|beegfs(_nodev)?|gpfs"
    r"|fuse\.(glusterfs|sshfs|ceph.*|s3fs|rclone)"
)
"""Not fuse-overlayfs or fuseblk, which are of this machine."""
_ESCAPED = re.compile(r"\\([0-7]{3})")


class ProcessLockError(CuratorError):
    """The ledger cannot be served from here; the message says why."""

    code = "locked"


class ProcessLock:
    """Holds a file lock that the kernel drops when the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            ProcessLockError: Another process has it, or the file system is shared by
                machines, where such a lock proves nothing.
        """
        kind = file_system_of(self._path.parent)
        if _NETWORK.fullmatch(kind) is not None:
            message = f"{self._path.parent} is on {kind}: keep the data on a local disk"
            raise ProcessLockError(message)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            message = (
                "another server already serves this ledger; there can be but one "
                "(several processes: 'curator serve --workers N' on PostgreSQL)"
            )
            raise ProcessLockError(message) from None
        self._descriptor = descriptor
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop the lock."""
        if self._descriptor is not None:
            # Let go at once: a child that is being forked holds a copy for a moment.
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = None


def file_system_of(folder: Path) -> str:
    """Return the type of the file system that holds a folder; empty where unknown."""
    best = ("", "")
    target = str(folder.resolve())
    try:
        mounts = Path("/proc/mounts").read_text("utf-8").splitlines()
    except OSError:
        return ""
    for line in mounts:
        _, written, kind = line.split(" ")[:3]
        point = _ESCAPED.sub(lambda found: chr(int(found[1], 8)), written)
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]
