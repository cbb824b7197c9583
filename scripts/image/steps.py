"""Runs a stage's steps in a plain directory that stands for the root directory.

Absolute paths of the Dockerfile are read as paths below it. What only a real root
directory and its superuser can do (users, owners) is skipped, and said aloud.
"""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.image.dockerfile import Instruction, Stage

SKIPPED = ("groupadd", "useradd", "chown", "apt-get")
_ABSOLUTE = re.compile(r"(?<![\w.$}~/-])/(?=[a-z])")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201 - a tool's own words


class StageFolder:
    """A stage's directory, its environment and its working directory."""

    def __init__(self, root: Path, context: Path) -> None:
        self.root = root
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CURATOR_", "PYTHON", "VIRTUAL_ENV"))
        }
        self._context = context
        self._folder = root
        self._ignored = Ignored(context / ".dockerignore")

    def run_stage(self, stage: Stage, others: dict[str, "StageFolder"]) -> None:
        """Run every step of a stage, in order."""
        self._stand_in_for(stage.base)
        for step in stage.steps:
            if step.word == "COPY":
                self._copy(step, others)
            elif step.word == "RUN":
                self._run(step.rest)
            elif step.word == "ENV":
                self._set(step)
            elif step.word == "WORKDIR":
                self._folder = self.inside(step.rest)
                self._folder.mkdir(parents=True, exist_ok=True)
            elif step.word == "USER":
                say(f"  adapted: USER {step.rest}: goes on as {os.getuid()}")

    def inside(self, path: str) -> Path:
        """Return where a path of the image lies here."""
        return self.root / path.lstrip("/") if path[0] == "/" else self._folder / path

    def rewritten(self, text: str) -> str:
        """Return a text whose absolute paths lie below this folder's root."""
        return _ABSOLUTE.sub(f"{self.root}/", text)

    def _stand_in_for(self, base: str) -> None:
        say(f"FROM {base}")
        say(f"  adapted: a venv of Python {sys.version.split()[0]} is the base image")
        base_python = self.root / "usr/local"
        command = [sys.executable, "-m", "venv", str(base_python)]
        subprocess.run(command, check=True)
        self.environment["PATH"] = f"{base_python}/bin:{os.environ['PATH']}"
        self.environment["TMPDIR"] = str(self.root / "tmp")
        (self.root / "tmp").mkdir()

    def _set(self, step: Instruction) -> None:
        say(f"ENV {step.rest}")
        for name, value in step.pairs().items():
            written = self.rewritten(value) if "/" in value else value
            path = self.environment["PATH"]
            self.environment[name] = written.replace("$PATH", path)

    def _run(self, line: str) -> None:
        for command in (part.strip() for part in line.split("&&")):
            if command.split()[0] in SKIPPED:
                say(f"  SKIPPED, needs a real root: {command}")
                continue
            say(f"RUN {command}")
            subprocess.run(  # noqa: S602 - the Dockerfile's own line, as a builder runs it
                self.rewritten(command),
                shell=True,
                cwd=self._folder,
                env=self.environment,
                check=True,
                stdout=sys.stderr,
            )

    def _copy(self, step: Instruction, others: dict[str, "StageFolder"]) -> None:
        say(f"COPY {step.rest}")
        words = step.rest.split()
        origin = words.pop(0) if words[0].startswith("--from=") else ""
        *sources, target = words
        for source in sources:
            aim = self.inside(target)
            if target.endswith("/"):
                aim = aim / Path(source).name
            if origin:
                other = others[origin.removeprefix("--from=")]
                self._take_over(other, other.inside(source), aim)
            else:
                self._ignored.copy(source, aim)

    def _take_over(self, other: "StageFolder", source: Path, aim: Path) -> None:
        shutil.copytree(source, aim, symlinks=True, dirs_exist_ok=True)
        moved = 0
        for path in [aim / "pyvenv.cfg", *(aim / "bin").iterdir()]:
            if path.is_symlink() or not path.is_file():
                continue
            text = path.read_bytes()
            if str(other.root).encode() in text:
                path.write_bytes(
                    text.replace(str(other.root).encode(), str(self.root).encode())
                )
                moved += 1
        say(f"  adapted: {moved} scripts now name this stage's directory")


class Ignored:
    """A .dockerignore of plain patterns; the last that fits decides."""

    def __init__(self, path: Path) -> None:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
        self._context = path.parent
        self._patterns = [line for line in lines if line and line[0] != "#"]

    def hides(self, name: str) -> bool:
        """Whether a path of the context never reaches the builder."""
        hidden = False
        for pattern in self._patterns:
            if _fits(name, pattern.removeprefix("!")):
                hidden = pattern[0] != "!"
        return hidden

    def copy(self, source: str, aim: Path) -> None:
        """Copy a file or folder of the context, without what is hidden.

        Raises:
            FileNotFoundError: There is no such file, or it is hidden.
        """
        start = self._context / source
        paths = [start] if start.is_file() else sorted(start.rglob("*"))
        chosen = [path for path in paths if path.is_file() and not self._hides(path)]
        if not chosen:
            raise FileNotFoundError(source)
        for path in chosen:
            target = aim if path == start else aim / path.relative_to(start)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)

    def _hides(self, path: Path) -> bool:
        return self.hides(path.relative_to(self._context).as_posix())


def _fits(name: str, pattern: str) -> bool:
    """Whether a pattern names a path or one of the folders above it."""
    parts = name.split("/")
    if pattern.startswith("**/"):
        return any(fnmatch.fnmatchcase(part, pattern[3:]) for part in parts)
    tops = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return any(fnmatch.fnmatchcase(top, pattern) for top in tops)
