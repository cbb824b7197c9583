"""Runs the Dockerfile's steps in a directory, then its command, and asks once."""

import argparse
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from scripts.image.dockerfile import Stage, read_stages
from scripts.image.steps import StageFolder, say

ROOT = Path(__file__).parents[2]
READY_SECONDS = 60
MANIFEST = """\
version: 1
population:
  {id: trial, unit: patient, unit_type: integer, epsilon_cap: 5, source: made up}
dataset: trial
snapshot_date: 2026-01-31
tables:
- name: visits
  files: [visits.csv]
  unit_column: patient_id
  max_rows_per_unit: 3
  source: made up
  columns:
  - {name: patient_id, type: integer, nullable: false}
  - name: ward
    type: text
    nullable: false
    domain: {values: [north, south]}
    source: made up
"""
QUESTION = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"


class Container:
    """The last stage's folder, used as `docker run` would use the image."""

    def __init__(self, stage: Stage, stage_folder: StageFolder, port: int) -> None:
        self.stage = stage
        self._stage_folder = stage_folder
        self._port = port
        given = {"CURATOR_HOST": "127.0.0.1", "CURATOR_PORT": str(port)}
        say(f"adapted: as with docker run --env {given}: plain HTTP stays on loopback")
        self._environment = stage_folder.environment | given

    def words(self, *arguments: str) -> list[str]:
        """Return the command line that the image runs."""
        words = [*self.stage.last("ENTRYPOINT").exec_form(), *arguments]
        found = shutil.which(words[0], path=self._environment["PATH"]) or words[0]
        if not Path(found).is_relative_to(self._stage_folder.root):
            message = f"{words[0]} is {found}, which is not the image's"
            raise FileNotFoundError(message)
        return [found, *words[1:]]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the image's command."""
        folder = self._stage_folder.inside(self.stage.last("WORKDIR").rest)
        say(f"run: {' '.join(arguments)}")
        return subprocess.Popen(
            self.words(*arguments),
            cwd=folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> str:
        """Run a command to its end and return what it printed."""
        process = self.start(*arguments)
        printed, _ = process.communicate()
        if process.returncode:
            message = f"{arguments} ended with {process.returncode}"
            raise RuntimeError(message)
        return printed

    def is_healthy(self) -> bool:
        """Run the image's own health check."""
        _, _, command = self.stage.last("HEALTHCHECK").rest.partition("CMD ")
        words = [self._stage_folder.rewritten(word) for word in json.loads(command)]
        words[0] = shutil.which(words[0], path=self._environment["PATH"]) or words[0]
        done = subprocess.run(words, env=self._environment, check=False)
        return done.returncode == 0

    def ask(self, key: str, form: str) -> bytes:
        """Ask one question over HTTP and return the answer, in a form."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/v1/datasets/trial/queries",
            data=json.dumps({"sql": QUESTION, "epsilon": "1"}).encode(),
            headers={"Authorization": f"Bearer {key}", "Accept": form},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return bytes(reply.read())


def main() -> int:
    """Build, load, serve, ask; 0 when the answer came and nothing else was written."""
    parser = argparse.ArgumentParser(
        prog="scripts/dockerfile-steps", description=__doc__
    )
    parser.add_argument("directory", type=Path, help="a new or empty directory")
    folder = parser.parse_args().directory.absolute()
    if folder.exists() and any(folder.iterdir()):
        parser.error(f"{folder} is not empty")
    stage, stage_folder = build(folder)
    container = Container(stage, stage_folder, _free_port())
    before = _written(stage_folder.root, container)
    answer = _first_answer(container, stage_folder)
    changed = sorted(_written(stage_folder.root, container) ^ before)
    say(answer)
    if changed:
        say(f"written outside the volumes, so a read-only root would fail: {changed}")
        return 1
    say("nothing was written outside the volumes and /tmp")
    return 0


def build(folder: Path) -> tuple[Stage, StageFolder]:
    """Run the steps of all stages; return the last stage and its folder."""
    folders: dict[str, StageFolder] = {}
    stages = read_stages(ROOT / "Dockerfile")
    for stage in stages:
        stage_folder = StageFolder(folder / stage.name, ROOT)
        stage_folder.root.mkdir(parents=True)
        stage_folder.run_stage(stage, folders)
        folders[stage.name] = stage_folder
    return stages[-1], folders[stages[-1].name]


def _first_answer(container: Container, stage_folder: StageFolder) -> str:
    _write_dataset(stage_folder.inside("/import"))
    container.run("init", "--single-custodian")
    container.run("dataset", "load", str(stage_folder.inside("/import/trial.yaml")))
    container.run("principal", "create", "ada", "--role", "analyst")
    project = "project create trial --dataset trial --principal ada --allotment 3"
    container.run(*project.split())
    key = json.loads(container.run("key", "create", "ada", "--json"))["key"]
    server = container.start(*container.stage.last("CMD").exec_form())
    try:
        _wait(container, server)
        arrow = container.ask(key, "application/vnd.apache.arrow.stream")
        say(f"{len(arrow)} bytes of Arrow")
        say(str(container.ask(key, "text/csv"), "utf-8"))
        return str(container.ask(key, "application/json"), "utf-8")
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)


def _wait(container: Container, server: subprocess.Popen[str]) -> None:
    started = time.monotonic()
    while not container.is_healthy():
        if server.poll() is not None or time.monotonic() - started > READY_SECONDS:
            message = "the server did not become ready"
            raise RuntimeError(message)
        time.sleep(0.2)
    say(f"healthy after {time.monotonic() - started:.1f} s")


def _write_dataset(folder: Path) -> None:
    rows = [f"{patient},{('north', 'south')[patient % 2]}" for patient in range(1000)]
    (folder / "visits.csv").write_text("\n".join(["patient_id,ward", *rows]) + "\n")
    (folder / "trial.yaml").write_text(MANIFEST)


def _written(root: Path, container: Container) -> set[tuple[str, int]]:
    """Return files and when they were written, volumes and /tmp apart."""
    volumes = [*container.stage.last("VOLUME").exec_form(), "/tmp"]  # noqa: S108
    free = [root / volume.lstrip("/") for volume in volumes]
    return {
        (str(path.relative_to(root)), path.lstat().st_mtime_ns)
        for path in root.rglob("*")
        if not path.is_dir() and not any(path.is_relative_to(f) for f in free)
    }


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
