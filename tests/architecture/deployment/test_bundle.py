"""The parts of a bundle: what installs from it, builds from it and checks it.

The whole is made and tried by ``make bundle bundle-check``, which take minutes.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from scripts.bundle import trial
from scripts.bundle.contents import (
    CHECKSUMS,
    pack,
    write_checksums,
    write_image,
    write_operations,
    write_page,
    write_r_client,
)
from scripts.bundle.materials import require_valid, write_bill_of_materials
from scripts.bundle.wheels import LOCKED, install, named, write_requirements
from scripts.image.dockerfile import read_stages
from server.version import VERSION

ROOT = Path(__file__).parents[3]


def write_wheel(folder, name, version, word="1"):
    """Write a wheel of one module, as an installer takes it."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"WORD = {word!r}\n")
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        wheel.writestr(f"{info}/METADATA", head + "License-Expression: MIT\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def bundle(tmp_path):
    """A bundle of two small wheels."""
    folder = tmp_path / "bundle"
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    for name in ("first_word", "second"):
        write_wheel(wheels, name, "1.5")
    write_requirements(wheels, folder / "requirements.txt")
    return folder


def test_a_bundle_takes_what_the_image_takes():
    words = (ROOT / "Dockerfile").read_text("utf-8")
    assert all(name in words for name in LOCKED)
    assert words.count("--requirement requirements/") == len(LOCKED)


def test_a_bundle_has_each_file_that_operators_copy(tmp_path):
    write_operations(ROOT, tmp_path)
    found = {path.name for path in (tmp_path / "operations").iterdir()}
    page = (ROOT / "docs/operations/container.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.(?:yaml|service|timer))\)", page))
    assert len(linked) >= 5
    assert linked | {"alerts.yaml", "dashboard.json", "rsyslog-curator.conf"} <= found


def test_the_requirements_name_each_wheel_by_its_hash_and_no_host(bundle):
    text = (bundle / "requirements.txt").read_text()
    assert named(Path("first_word-1.5-py3-none-any.whl")) == ("first-word", "1.5")
    assert text.count("==1.5 \\\n    --hash=sha256:") == 2
    assert "first-word==1.5" in text
    assert "://" not in text


@pytest.mark.thorough
def test_a_bundle_installs_by_its_hashes_alone_and_is_described(bundle, tmp_path):
    python = install(bundle, tmp_path / "env")
    done = subprocess.run([python, "-c", "import first_word, second"], check=False)
    assert done.returncode == 0
    write_bill_of_materials(ROOT, python, bundle / "sbom.cdx.json")
    text = (bundle / "sbom.cdx.json").read_text("utf-8")
    assert '"name": "first_word"' in text
    assert '"id": "MIT"' in text
    assert str(tmp_path) not in text
    (bundle / "sbom.cdx.json").write_text(text.replace('"library"', '"thing"'))
    with pytest.raises(ValueError, match="does not fit its schema"):
        require_valid(bundle / "sbom.cdx.json")
    write_wheel(bundle / "wheels", "second", "1.5", word="another")
    with pytest.raises(subprocess.CalledProcessError):
        install(bundle, tmp_path / "other")


def test_the_bundles_dockerfile_runs_the_repositorys_last_stage_from_wheels(bundle):
    write_image(ROOT, bundle)
    ours = read_stages(ROOT / "Dockerfile")
    theirs = read_stages(bundle / "image/Dockerfile")
    assert theirs[-1].steps == ours[-1].steps
    build = theirs[0].steps
    (installing,) = [step.rest for step in build if "pip" in step.rest]
    assert {"--no-index", "--require-hashes", "--no-deps"} <= {*installing.split()}
    assert not any("apt-get" in step.rest for step in build)
    assert build[-1].rest == 'python slim.py /opt/curator "${MODELS:-no}"'
    for step in build + theirs[-1].steps:
        if step.word == "COPY" and not step.rest.startswith("--from"):
            for source in step.rest.split()[:-1]:
                assert (bundle / source).exists(), source


def test_hadolint_finds_nothing_in_the_bundles_dockerfile(bundle):
    write_image(ROOT, bundle)
    tool = shutil.which("hadolint", path=Path(sys.executable).parent)
    done = subprocess.run(
        [tool, bundle / "image/Dockerfile"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()


def test_the_sums_are_checked_by_the_tool_that_every_machine_has(bundle):
    write_page(bundle)
    write_checksums(bundle)
    check = ["sha256sum", "--check", "--quiet", CHECKSUMS]
    assert subprocess.run(check, cwd=bundle, check=False).returncode == 0
    listed = (bundle / CHECKSUMS).read_text().splitlines()
    assert len(listed) == len([p for p in bundle.rglob("*") if p.is_file()]) - 1
    (bundle / "requirements.txt").write_text("other")
    done = subprocess.run(check, cwd=bundle, check=False, capture_output=True)
    assert done.returncode == 1


def test_the_page_says_the_version_and_lines_that_ask_no_index(bundle):
    write_page(bundle)
    page = bundle / "INSTALL.md"
    assert f"# Curator {VERSION} " in page.read_text()
    lines = trial.lines_of(page)
    assert [line.split()[0] for line in lines] == [
        "python3", "/opt/curator/bin/pip", "/opt/curator/bin/curator",
    ]  # fmt: skip
    assert {"--no-index", "--require-hashes", "--no-deps"} <= {*lines[1].split()}


def test_a_tar_says_nothing_of_who_made_it_and_is_the_same_each_time(bundle):
    first = hashlib.sha256(pack(bundle).read_bytes()).digest()
    (bundle / "requirements.txt").touch()
    path = pack(bundle)
    assert hashlib.sha256(path.read_bytes()).digest() == first
    with tarfile.open(path) as tar:
        owners = {(one.uid, one.uname, one.mtime) for one in tar.getmembers()}
    assert owners == {(0, "", 0)}


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("R") is None, reason="needs R")
def test_r_installs_its_client_from_the_bundles_package(bundle, tmp_path):
    write_r_client(ROOT, bundle)
    library = tmp_path / "library"
    library.mkdir()
    (package,) = bundle.glob("curator_*.tar.gz")
    words = ["R", "CMD", "INSTALL", "--no-test-load", f"--library={library}", package]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if "dependenc" in done.stderr:
        pytest.skip("needs R's packages httr2, jsonlite and tibble")
    assert done.returncode == 0, done.stderr
    assert (library / "curator/DESCRIPTION").exists()


def test_an_isolated_run_reaches_loopback_and_nobody_else(tmp_path):
    if not trial.can_be_isolated():
        pytest.skip("this system lets no ordinary user make a network")
    code = (
        "import socket\n"
        "held = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(held.getsockname()).close()\n"
        "try: socket.create_connection(('192.0.2.1', 80), timeout=2)\n"
        "except OSError: pass\n"
        "else: raise SystemExit(3)\n"
    )
    trial.run([sys.executable, "-c", code], tmp_path, isolated=True)


def test_no_extra_of_ours_names_the_client():
    """An index that has a stranger's package of that name would be asked for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    assert not any("curator" in name for names in extras.values() for name in names)
