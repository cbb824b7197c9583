"""``curator backup create | verify | restore`` with recipients and a rule."""

import shutil
import subprocess
import sys
import time

import pytest

from server.use_cases.operations import backup_staging
from server.use_cases.operations.backup_staging import STAGING

age = pytest.importorskip("pyrage")


@pytest.fixture
def vault(tmp_path):
    """A folder for backups, a file of recipients, and the identity of one of them."""
    folder = tmp_path / "vault"
    folder.mkdir()
    keys = [age.x25519.Identity.generate() for _ in range(2)]
    recipients = tmp_path / "recipients.txt"
    recipients.write_text("".join(f"{key.to_public()}\n" for key in keys))
    identity = tmp_path / "key.txt"
    identity.write_text(f"{keys[1]}\n")
    identity.chmod(0o600)
    return folder, recipients, identity


def create(commands, vault, *more):
    folder, recipients, _ = vault
    return commands.json(
        "backup", "create", "--into", folder, "--recipients-file", recipients, *more
    )


def test_an_encrypted_backup_is_restored_by_its_identity_and_reconciled(loaded, vault):
    installation = loaded.installation
    made = create(loaded, vault)
    assert made["encrypted_to"] == 2
    sealed = vault[0] / made["backup"].rpartition("/")[2]
    secret = installation.settings.secret_file.read_bytes()
    assert secret not in sealed.read_bytes()
    assert sealed.stat().st_mode & 0o777 == 0o600
    assert not (installation.data / STAGING).exists()
    told = loaded.json("backup", "verify", sealed, "--identity", vault[2])
    assert (told["entries"], told["head"]) == (made["entries"], made["head"])
    loaded.run("principal", "create", "late", "--role", "analyst")
    shutil.rmtree(installation.data)
    said = loaded.said("backup", "restore", sealed)
    assert "--identity" in said
    restored = loaded.json("backup", "restore", sealed, "--identity", vault[2])
    assert restored["head"] == made["head"]
    assert installation.settings.secret_file.read_bytes() == secret
    assert "anchor" in loaded.said("principal", "create", "eve", "--role", "analyst")
    loaded.run("ledger", "reconcile", "--reason", "the disk failed")
    assert loaded.json("ledger", "verify")["ok"]


def test_a_wrong_identity_or_a_cut_file_leaves_nothing_in_data(loaded, vault, tmp_path):
    sealed = vault[0] / create(loaded, vault)["backup"].rpartition("/")[2]
    shutil.rmtree(loaded.installation.data)
    stranger = tmp_path / "stranger.txt"
    stranger.write_text(str(age.x25519.Identity.generate()))
    stranger.chmod(0o600)
    said = loaded.said("backup", "restore", sealed, "--identity", stranger)
    assert "for other keys" in said
    sealed.write_bytes(sealed.read_bytes()[:-1])
    for verb in ("restore", "verify"):
        said = loaded.said("backup", verb, sealed, "--identity", vault[2])
        assert "cut or changed" in said
    assert list(loaded.installation.data.iterdir()) == []


def test_a_rule_deletes_older_backups_after_the_new_one_is_whole(loaded, vault):
    first = create(loaded, vault)["backup"]
    time.sleep(1.1)  # names tell seconds
    second = create(loaded, vault, "--keep-daily", 1)
    assert second["deleted"] == [first.rpartition("/")[2]]
    left = [path.name for path in vault[0].iterdir()]
    assert sorted(left) == sorted(
        [second["backup"].rpartition("/")[2] + end for end in ("", ".note.json")]
    )


def test_a_plain_backup_is_verified_without_an_identity(loaded, tmp_path):
    for name in ("copy", "copy.tar"):
        loaded.run("backup", "create", tmp_path / name)
        assert loaded.json("backup", "verify", tmp_path / name)["files"] >= 4
    (tmp_path / "copy" / "secret.key").write_text("another")
    assert "secret.key" in loaded.said("backup", "verify", tmp_path / "copy")
    content = bytearray((tmp_path / "copy.tar").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "copy.tar").write_bytes(content)
    loaded.said("backup", "verify", tmp_path / "copy.tar")


def test_names_and_options_that_do_not_go_together_are_refused(loaded, vault, tmp_path):
    recipient = str(age.x25519.Identity.generate().to_public())
    said = loaded.said("backup", "create", tmp_path / "b.tar", "--recipient", recipient)
    assert "name it *.tar.age" in said
    assert "--recipient" in loaded.said("backup", "create", tmp_path / "b.tar.age")
    for wrong in (
        (),
        (tmp_path / "b.tar", "--into", vault[0]),
        (tmp_path / "b.tar", "--keep-daily", 3),
    ):
        loaded.run("backup", "create", *wrong, code=2)
    assert "no folder" in loaded.said("backup", "create", "--into", tmp_path / "none")
    assert not list(vault[0].iterdir())


KILLED = """\
import os, signal, sys
from server.main import main
from server.use_cases.operations import backup, backup_archives, backup_retention
where, name = {where}, {name!r}
setattr(where, name, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
sys.argv = ["curator", *sys.argv[1:]]
main()
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("backup", "write_durably"),
        ("backup_archives", "_anonymous"),
        ("backup_archives.os", "fsync"),
        ("backup", "note_backup"),
        ("backup", "delete_superfluous"),
        ("backup_retention", "sync_folder"),
    ],
)
def test_killed_at_any_step_no_whole_backup_is_lost_and_the_next_one_is_made(
    loaded, vault, where, name
):
    first = create(loaded, vault)["backup"]
    time.sleep(1.1)  # archives are named by the second
    code = KILLED.format(where=where, name=name)
    rule = ("--keep-daily", "1")
    killed = subprocess.run(
        [
            *(sys.executable, "-c", code, "backup", "create", "--into", vault[0]),
            *("--recipients-file", vault[1], *rule),
        ],
        env=loaded.installation.environment,
        check=False,
    )
    assert killed.returncode == -9
    whole = list(vault[0].glob("*.tar.age"))
    assert whole
    for path in whole:
        loaded.run("backup", "verify", path, "--identity", vault[2])
    time.sleep(1.1)
    last = create(loaded, vault, *rule)["backup"]
    left = [str(path) for path in vault[0].glob("*.tar.age")]
    assert first not in left
    assert last in left
    assert not (loaded.installation.data / STAGING).exists()
    assert not list(vault[0].glob("*.packing"))


def test_a_server_that_starts_deletes_what_a_killed_backup_had_copied(loaded):
    left = loaded.installation.data / STAGING
    left.mkdir()
    (left / "secret.key").write_text("a copy")
    with loaded.installation.services() as services:
        backup_staging.delete_cut_off_backup(services.settings)
    assert not left.exists()


def test_only_one_backup_is_made_at_a_time(loaded, tmp_path):
    descriptor = backup_staging._locked(loaded.installation.settings)
    assert descriptor is not None
    said = loaded.said("backup", "create", tmp_path / "b.tar")
    assert "another backup" in said
