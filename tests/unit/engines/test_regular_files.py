import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from engines.regular_files import (
    FileTooLargeError,
    identity_of,
    opened,
    read_at_most,
)


def in_time(work):
    """Return what ``work`` returns or raises; a wait that never ends is a failure."""
    found = []

    def run():
        try:
            found.append(work())
        except OSError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert found, "it waits for ever"
    return found[0]


def test_a_regular_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"12345")
    assert read_at_most(path, 5) == b"12345"
    with pytest.raises(FileTooLargeError, match="more than 4 bytes"):
        read_at_most(path, 4)


def test_a_huge_file_is_not_read_whole(tmp_path):
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # more than any memory
    with pytest.raises(FileTooLargeError):
        read_at_most(path, 10)


def test_a_pipe_a_folder_and_a_device_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "folder", "link", "/dev/zero"):
        error = in_time(lambda name=name: read_at_most(tmp_path / name, 10))
        assert (error.errno, error.strerror) == (errno.EINVAL, "it is no regular file")


def test_a_pipe_is_not_even_opened(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"1",), daemon=True)
    writer.start()  # it waits until somebody opens the pipe
    with pytest.raises(OSError, match="no regular file"):
        read_at_most(path, 10)
    writer.join(0.5)
    assert writer.is_alive()
    with path.open("rb") as file:
        assert file.read() == b"1"


def test_a_file_that_turns_into_a_pipe_after_the_first_look_is_refused(tmp_path):
    path = tmp_path / "f"
    os.mkfifo(path)
    looked = []

    class Turning(type(path)):
        def stat(self, **_):
            looked.append(self)
            return Path(__file__).stat()  # as it was a moment ago

    error = in_time(lambda: read_at_most(Turning(path), 10))
    assert (bool(looked), error.errno) == (True, errno.EINVAL)


def test_a_file_is_kept_from_children(tmp_path):
    (tmp_path / "f").write_bytes(b"")
    with opened(tmp_path / "f") as file:
        assert not os.get_inheritable(file.fileno())
        assert stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "f").write_bytes(b"secret")
    (inside / "f").symlink_to(outside / "f")
    (inside / "folder").symlink_to(outside)
    for path in (inside / "f", inside / "folder" / "f", outside / "f"):
        with pytest.raises(OSError, match=r"symbolic links|import folder"):
            read_at_most(path, 10, within=inside.resolve())
    (inside / "g").write_bytes(b"plain")
    assert read_at_most(inside / "g", 10, within=inside.resolve()) == b"plain"


def test_a_files_identity_moves_when_its_content_or_its_place_does(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"1")
    first = identity_of(path)
    assert identity_of(path) == first
    path.write_bytes(b"22")
    second = identity_of(path)
    other = tmp_path / "g"
    other.write_bytes(b"22")
    os.utime(other, ns=(second.modified_ns, second.modified_ns))
    other.replace(path)
    assert len({first, second, identity_of(path)}) == 3
