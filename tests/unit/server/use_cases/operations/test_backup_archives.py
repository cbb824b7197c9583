"""Backups as tars: only files that a backup has are written."""

import io
import tarfile

import pytest

from server.use_cases.operations.backup_archives import unpacked
from server.use_cases.services.errors import CommandRefusedError


def member(name, content=b"x", **facts):
    made = tarfile.TarInfo(name)
    made.size = len(content)
    for fact, value in facts.items():
        setattr(made, fact, value)
    return made, content


def written(path, *members):
    with tarfile.open(path, "w") as tar:
        for made, content in members:
            tar.addfile(made, io.BytesIO(content))
    return path


def test_files_of_a_backup_are_written_for_their_owner_alone(tmp_path):
    tar = written(
        tmp_path / "b.tar",
        member("manifest.json", b"{}", mode=0o777),
        member("snapshots/s_0a.duckdb", b"rows", mode=0o4777),
    )
    with unpacked(tar, tmp_path / "part", ()) as folder:
        rows = folder / "snapshots/s_0a.duckdb"
        assert rows.read_bytes() == b"rows"
        assert rows.stat().st_mode & 0o7777 == 0o600
        assert rows.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "strange",
    [
        member("../outside"),
        member("/outside"),
        member("overlap/.."),
        member("snapshots/../../outside"),
        member("secret.key", type=tarfile.SYMTYPE, linkname="/outside"),
        member("secret.key", type=tarfile.LNKTYPE, linkname="manifest.json"),
        member("secret.key", type=tarfile.FIFOTYPE),
        member("more.txt"),
    ],
    ids=lambda made: f"{made[0].name} {made[0].type!r}",
)
def test_nothing_else_is_written(tmp_path, strange):
    tar = written(tmp_path / "b.tar", member("manifest.json", b"{}"), strange)
    with (
        pytest.raises(CommandRefusedError, match=r"not whole|cannot be read"),
        unpacked(tar, tmp_path / "part", ()),
    ):
        pytest.fail("it was opened")
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert found <= {"b.tar", "part", "part/manifest.json", "part/overlap"}
