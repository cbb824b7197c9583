"""Clients as files: the same bytes from the same sources, with all that they need."""

import csv
import hashlib
import io
import os
import shutil
import tarfile
import zipfile
from base64 import urlsafe_b64encode
from email import message_from_string
from pathlib import Path

from server.api.clients.building import clients_of

ROOT = Path(__file__).parents[5]
WHEEL = "curator_query_client-0.1.0-py3-none-any.whl"
SOURCE = "curator_0.1.0.tar.gz"


def wheel():
    return zipfile.ZipFile(io.BytesIO(clients_of(ROOT)[WHEEL]))


def told(name):
    return wheel().read(f"curator_query_client-0.1.0.dist-info/{name}").decode()


def test_their_names_are_those_that_installers_want():
    assert set(clients_of(ROOT)) == {WHEEL, SOURCE}


def test_a_copy_with_other_times_and_modes_gives_the_same_bytes(tmp_path):
    for name in ("python", "r"):
        shutil.copytree(ROOT / "clients" / name, tmp_path / "clients" / name)
    for path in (tmp_path / "clients").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
        os.utime(path, (10**9, 10**9))
    (tmp_path / "clients/r/.Rhistory").write_text("q()")
    (tmp_path / "clients/python/curator_client/notes.txt").write_text("mine")
    assert clients_of(tmp_path) == clients_of(ROOT)


def test_a_change_of_a_source_changes_the_bytes(tmp_path):
    for name in ("python", "r"):
        shutil.copytree(ROOT / "clients" / name, tmp_path / "clients" / name)
    before = clients_of(tmp_path)
    (tmp_path / "clients/r/NAMESPACE").write_text("export(other)\n")
    after = clients_of(tmp_path)
    assert [name for name in before if before[name] != after[name]] == [SOURCE]


def test_the_wheel_holds_each_module_and_its_licence():
    modules = {
        path.relative_to(ROOT / "clients/python").as_posix()
        for path in (ROOT / "clients/python/curator_client").rglob("*.py")
    }
    names = set(wheel().namelist())
    assert modules < names
    assert "curator_client/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]
    assert told("licenses/LICENSE") == (ROOT / "LICENSE").read_text("utf-8")
    with tarfile.open(fileobj=io.BytesIO(clients_of(ROOT)[SOURCE])) as source:
        licence = source.extractfile("curator/LICENSE").read().decode()
    assert licence == (ROOT / "LICENSE").read_text("utf-8")


def test_the_record_has_the_digest_of_each_file():
    archive = wheel()
    rows = list(csv.reader(io.StringIO(told("RECORD"))))
    assert sorted(row[0] for row in rows) == sorted(archive.namelist())
    for name, digest, size in rows[:-1]:
        content = archive.read(name)
        found = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
        assert (digest, int(size)) == (f"sha256={found.decode()}", len(content))


def test_the_metadata_name_what_is_needed_and_what_is_not():
    said = message_from_string(told("METADATA"))
    assert said["Name"] == "curator-query-client"
    needed = said.get_all("Requires-Dist")
    assert [one for one in needed if "extra" not in one] == [
        "httpx>=0.28", "cryptography>=45"
    ]  # fmt: skip
    assert 'pandas>=2.2; extra == "pandas"' in needed
    assert 'tomli>=2; python_version < "3.11" and extra == "config"' in needed
    assert "from curator_client import Curator" in said.get_payload()


def test_the_readme_of_the_wheel_links_to_nothing_that_it_does_not_bring():
    assert "](" not in (ROOT / "clients/python/README.md").read_text("utf-8")
