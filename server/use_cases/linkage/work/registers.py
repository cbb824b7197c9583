"""Registers at rest: one file a linkage, encrypted where the texts' key is configured.

A file has chunks, each closed and bound to its place, so that none is left out, moved
or taken from another register. While a job works the register lies open in the job's
own folder, which is deleted with all that is in it.
"""

import os
import shutil
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path
from typing import Final

from server.use_cases.loading.lock import lock_beside_loads
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.secret_files import sync_folder
from server.use_cases.services.services import Services
from server.use_cases.services.text_cipher import TextCipher

_CHUNK: Final = 2**20
_LENGTH_BYTES: Final = 4
WORK: Final = "work"


class RegisterFiles:
    """Where the registers of linkages, and jobs' own folders, lie."""

    def __init__(self, services: Services, cipher: TextCipher) -> None:
        self._settings = services.settings
        self.folder = services.settings.data / "linkages"
        self._cipher = cipher

    def work(self, job: str) -> Path:
        """Return a job's own folder."""
        return self.folder / WORK / job

    def make_work(self, job: str) -> Path:
        """Make a job's own folder, if it is not there."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        (self.folder / WORK).mkdir(mode=0o700, exist_ok=True)
        folder = self.work(job)
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def jobs(self) -> list[str]:
        """Return the jobs that have a folder, or a register."""
        work = [path.name for path in (self.folder / WORK).glob("job_*")]
        return sorted({*work, *(path.stem for path in self.folder.glob("job_*"))})

    def delete(self, job: str) -> None:
        """Delete a job's register, what it wrote of one, and its folder.

        Waits for a backup under way: it holds the registers that its ledger names.
        """
        if self.path(job).exists():
            with lock_beside_loads(self._settings):
                self.path(job).unlink(missing_ok=True)
        self._part(job).unlink(missing_ok=True)
        self.delete_work(job)

    def delete_work(self, job: str) -> None:
        """Delete a job's own folder."""
        shutil.rmtree(self.work(job), ignore_errors=True)

    def path(self, job: str) -> Path:
        """Return where a job's register is kept."""
        return self.folder / f"{job}.register"

    def _part(self, job: str) -> Path:
        return self.folder / f"{job}.part"

    def sheet(self, linkage: str) -> Path:
        """Return where the sheet of a linkage lies: the last one that was made."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return self.folder / f"{linkage}.csv"

    def keep(self, job: str, register: Path) -> str:
        """Keep a register that was closed; return the file's SHA-256 in hexadecimal.

        It is durable when this returns.
        """
        part = self._part(job)
        digest = sha256()
        with register.open("rb") as read, _private(part) as written:
            number = 0
            while True:
                content = read.read(_CHUNK)
                chunk = self._cipher.encrypt(content, "register", job, number)
                told = len(chunk).to_bytes(_LENGTH_BYTES, "big") + chunk
                written.write(told)
                digest.update(told)
                number += 1
                if not content:
                    break  # an empty chunk ends it
            written.flush()
            os.fsync(written.fileno())
        part.replace(self.path(job))
        sync_folder(self.folder)
        return digest.hexdigest()

    def open(self, job: str, digest: str, target: Path) -> Path:
        """Open a kept register into a file; return its path.

        Raises:
            CommandRefusedError: It is missing, or another than was kept.
            TextKeyError: It was closed with another key.
        """
        path, seen = self.path(job), sha256()
        if not path.is_file():
            message = f"the register {path} is missing: bring it back from a backup"
            raise CommandRefusedError(message)
        with path.open("rb") as read, _private(target) as written:
            number = 0
            while told := read.read(_LENGTH_BYTES):
                chunk = read.read(int.from_bytes(told, "big"))
                seen.update(told + chunk)
                written.write(self._cipher.decrypt(chunk, "register", job, number))
                number += 1
        if seen.hexdigest() != digest:
            message = f"the register {path} was changed: bring it back from a backup"
            raise CommandRefusedError(message)
        return target


def _private(path: Path) -> BufferedWriter:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    return os.fdopen(descriptor, "wb")
