import os

import pytest

from budget.storage import process_lock
from budget.storage.process_lock import ProcessLock, ProcessLockError, file_system_of


def test_a_second_lock_on_the_same_file_is_refused(tmp_path):
    path = tmp_path / "server.lock"
    with (
        ProcessLock(path),
        pytest.raises(ProcessLockError, match="another server"),
        ProcessLock(path),
    ):
        pass


def test_the_lock_is_free_again_after_its_holder(tmp_path):
    for _ in range(2):
        with ProcessLock(tmp_path / "server.lock"):
            held = (tmp_path / "server.lock").exists()
        assert held


def test_the_lock_is_closed_on_exec(tmp_path):
    with ProcessLock(tmp_path / "server.lock") as lock:
        assert not os.get_inheritable(lock._descriptor)


@pytest.mark.parametrize(
    "kind",
    [
        "nfs4",
        "fuse.glusterfs",
        "fuse.sshfs",
        "fuse.ceph-fuse",
        "fuse.s3fs",
        "fuse.rclone",
        "9p",
        "cifs",
        "smb3",
        "afs",
        "lustre",
        "beegfs",
        "gpfs",
    ],
)
def test_a_network_file_system_is_refused(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(process_lock, "file_system_of", lambda _: kind)
    with (
        pytest.raises(ProcessLockError, match=kind),
        ProcessLock(tmp_path / "server.lock"),
    ):
        pass
    assert not (tmp_path / "server.lock").exists()


def test_the_file_system_is_that_of_the_deepest_mount(tmp_path, monkeypatch):
    mounts = f"a / ext4 rw 0 0\nb {tmp_path} xfs rw 0 0\nc {tmp_path}-x nfs rw 0 0\n"
    monkeypatch.setattr(process_lock.Path, "read_text", lambda *_: mounts)
    assert file_system_of(tmp_path) == "xfs"
    assert file_system_of(tmp_path.parent) == "ext4"


@pytest.mark.parametrize("kind", ["fuse.fuse-overlayfs", "fuseblk", "ext4", "zfs"])
def test_a_local_file_system_is_allowed(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(process_lock, "file_system_of", lambda _: kind)
    with ProcessLock(tmp_path / "server.lock"):
        assert (tmp_path / "server.lock").exists()


def test_a_mount_with_a_space_in_its_name_is_found(tmp_path, monkeypatch):
    mounts = f"a / ext4 rw 0 0\nb {tmp_path}/my\\040data nfs4 rw 0 0\n"
    monkeypatch.setattr(process_lock.Path, "read_text", lambda *_: mounts)
    assert file_system_of(tmp_path / "my data" / "deep") == "nfs4"


def test_an_unknown_file_system_is_allowed(tmp_path, monkeypatch):
    def missing(*_):
        raise FileNotFoundError

    monkeypatch.setattr(process_lock.Path, "read_text", missing)
    assert file_system_of(tmp_path) == ""
    with ProcessLock(tmp_path / "server.lock"):
        pass
