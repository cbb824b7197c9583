"""Copies that leave the house: with two persons, on record, whole."""

import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from glob import escape
from pathlib import Path
from typing import Final

from privacy.wording import counted
from server.use_cases.anonymization.copies import MANIFEST, Copy, CopyFolders
from server.use_cases.anonymization.grants import (
    WARNING,
    Grant,
    HandOut,
    Holder,
    change_of,
    holders,
    read_deleted,
    read_grants,
    said_of,
)
from server.use_cases.anonymization.replies import OthersShape
from server.use_cases.anonymization.service import CopyService, of_population
from server.use_cases.approvals.changes import Change
from server.use_cases.approvals.proposals import ProposalService
from server.use_cases.approvals.second_persons import (
    ProposalOpenError,
    asking_second_person,
    check_second_person,
    require_second_person,
)
from server.use_cases.approvals.stale_changes import COPY_GRANTED
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError
from server.use_cases.services.private_files import copy_private
from server.use_cases.services.secret_files import sync_folder
from server.use_cases.services.services import Services

_PART: Final = ".part-"
_LONGEST: Final = 200  # characters of a recipient or a purpose
Others = tuple[Mapping[Holder, Grant], OthersShape]
"""Who has other copies of the same people, and what they tell together."""


class HandOutService:
    """Hands copies out, for whoever works on the host."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._copies = CopyService(services)
        self._folders = CopyFolders(services.settings.anonymized)

    def hand_out(
        self, viewer: Viewer, wanted: str, to: HandOut, folder: Path
    ) -> Document:
        """Give a copy to somebody: a second person approves, an entry is written.

        The files are copied once that is recorded, never before: whenever the command
        is killed, nothing lies outside that no entry tells of. They lie in a new
        folder, whole.

        Args:
            viewer: Whoever works on the host.
            wanted: The copy's name or its id.
            to: Who gets it.
            folder: Where its files are put; it must not be there.

        Raises:
            NotFoundError: There is no such copy.
            ProposalOpenError: A second person has to approve.
            CommandRefusedError: The folder is there, lies among what is kept here or
                cannot be made, another command hands out beside it, its disk is too
                full, or a file of the copy is missing or changed: nothing was
                recorded. Or the files could not be written after the entry was: then
                the same command goes on.
        """
        if folder.name in {"", ".."}:
            message = f"{folder} is a folder that is there: name a new one"
            raise CommandRefusedError(message)
        with _alone_in(folder.parent):
            self._remove_deleted(folder)
            return self._handed_out(viewer, wanted, to, folder)

    def _handed_out(
        self, viewer: Viewer, wanted: str, to: HandOut, folder: Path
    ) -> Document:
        copy = self._copies.visible(viewer, wanted)
        with self._services.databases.reader.connect() as connection:
            grants = list(read_grants(connection))
        self._check_folder(folder, copy, to, grants)
        files = list(self._folders.files(copy))
        held = holders(grants, copy.population, copy.id)
        others = self._copies.others(copy, held, finds_out=True)
        part = self._left_by_a_kill(folder, copy, to, grants)
        if part is None:
            named = {one.files for one in grants}
            for left in folder.parent.glob(f".{escape(folder.name)}{_PART}*"):
                if left.name.partition(_PART)[2] not in named:
                    shutil.rmtree(left, ignore_errors=True)  # of a killed command
            _require_space(folder.parent, files)
            part = self._approved(viewer, copy, to, (held, others), folder)
        self._fill(part, copy)
        _renamed(part, folder)
        sync_folder(folder.parent)
        return {
            "copy": copy.id,
            "to": to.recipient,
            "folder": str(folder),
            "files": [path.name for path in files],
            "sha256": copy.sha256,
            "warning": WARNING,
            **others,
        }

    def _remove_deleted(self, folder: Path) -> None:
        """Delete files that never got their folder, of copies deleted since."""
        with self._services.databases.reader.connect() as connection:
            deleted = read_deleted(connection)
            given = [one for one in read_grants(connection) if one.copy in deleted]
        for one in given:
            shutil.rmtree(_part_of(folder, one.files), ignore_errors=True)

    def _check_folder(
        self, folder: Path, copy: Copy, to: HandOut, grants: Iterable[Grant]
    ) -> None:
        """Look whether files can come to a folder, before anybody approves of it.

        Raises:
            CommandRefusedError: They cannot.
        """
        message = ""
        inside = self._services.settings.data.resolve()
        given = [one for one in grants if one.is_of(copy, to)]
        if given and _holds(folder, copy):
            message = (
                f"{folder} has it already: handed out to {to.recipient} on "
                f"{given[-1].shown['time']}"
            )
        elif any(_part_of(folder, one.files).is_dir() for one in given) and (
            os.path.lexists(folder)
        ):
            message = _in_the_way(folder)
        elif os.path.lexists(folder):
            message = f"{folder} exists: nothing was handed out; name a new folder"
        elif not folder.parent.is_dir():
            message = f"there is no folder {folder.parent}: make it first"
        elif folder.resolve().is_relative_to(inside):
            message = (
                f"{folder} lies in {inside}, where what nobody else may read is kept: "
                "name a folder elsewhere"
            )
        if message:
            raise CommandRefusedError(message)

    def _approved(
        self,
        viewer: Viewer,
        copy: Copy,
        to: HandOut,
        others: Others,
        folder: Path,
    ) -> Path:
        """Write the entry where a second person approved; return where files may go.

        Raises:
            ProposalOpenError: Nobody did yet; it says what the proposer should know.
            CommandRefusedError: Nothing was recorded.
        """
        held, told = others
        try:
            with asking_second_person(self._services, viewer.actor):
                with self._services.databases.reader.connect() as connection:
                    change = change_of(copy, to, told, of_population(connection, copy))
                    check_second_person(connection, viewer.actor, change)
                return self._recorded(viewer, copy, to, (change, held), folder)
        except ProposalOpenError as error:
            besides = [*map(said_of, told["others"]), *self._also_proposed(copy, error)]
            raise ProposalOpenError(error.proposal, "; ".join(besides)) from None
        raise AssertionError  # what asks never goes on without an approval

    def _also_proposed(self, copy: Copy, error: ProposalOpenError) -> list[str]:
        """Return in words what else of a copy waits, such as another spelling."""
        waiting = [
            one
            for one in ProposalService(self._services).listed(waiting=True)
            if one["action"] == COPY_GRANTED
            and one["proposal"] != error.proposal["proposal"]
            and copy.id in one["words"][0]
        ]
        if not waiting:
            return []
        told = [f"{one['proposal']} ({', '.join(one['words'][:2])})" for one in waiting]
        count = counted(len(waiting), "proposal")
        return [f"beside it {count} of this copy waits, otherwise: {', '.join(told)}"]

    def _recorded(
        self,
        viewer: Viewer,
        copy: Copy,
        to: HandOut,
        approved: tuple[Change, Collection[Holder]],
        folder: Path,
    ) -> Path:
        """Make an empty folder beside the one wanted, and write an entry that names it.

        Args:
            viewer: Whoever works on the host.
            copy: The copy.
            to: Who gets it.
            approved: What needs a second person, and who is known to have others.
            folder: Where its files are to go.

        Raises:
            CommandRefusedError: It cannot be made, somebody got another copy
                meanwhile, or this one was deleted: nothing was recorded.
        """
        change, known = approved
        token = secrets.token_hex(8)
        part = _make(_part_of(folder, token))
        facts: dict[str, object] = {
            "population": copy.population,
            "copy": copy.id,
            "name": copy.name,
            "sha256": copy.sha256,
            **asdict(to),
            "files": token,
        }
        try:
            recorded = self._services.ledger.recorded
            with recorded(COPY_GRANTED, viewer.actor, facts) as entry:
                _require_there(copy, read_deleted(entry.connection))
                now = holders(read_grants(entry.connection), copy.population, copy.id)
                _require_same(known, now)
                require_second_person(entry, viewer.actor, change)
        except BaseException:
            if not self._is_recorded(token):
                shutil.rmtree(part, ignore_errors=True)
            raise
        return part

    def _fill(self, part: Path, copy: Copy) -> None:
        """Copy the files into a folder that an entry names, and read what came there.

        All of them, though some may be there: a kill left half of one, or the power
        that failed kept some from the disk.

        Raises:
            CommandRefusedError: They cannot be copied, or were changed meanwhile.
        """
        for path in self._folders.files(copy):
            _copied(path, part / path.name)
        try:
            for _ in self._folders.files(copy, part):
                pass  # each is read and compared
        except CommandRefusedError:
            _emptied(part)
            raise
        sync_folder(part)
        sync_folder(part.parent)

    def _is_recorded(self, token: str) -> bool:
        """Whether an entry names some files: then a repeated command finishes them."""
        with self._services.databases.reader.connect() as connection:
            return any(one.files == token for one in read_grants(connection))

    def _left_by_a_kill(
        self, folder: Path, copy: Copy, to: HandOut, grants: Iterable[Grant]
    ) -> Path | None:
        """Return the folder that an entry names and that never got its own name."""
        for one in grants:
            part = _part_of(folder, one.files)
            if one.is_of(copy, to) and part.is_dir():
                return part
        return None


def _part_of(folder: Path, token: str) -> Path:
    """Return where files lie until they come to their folder."""
    return folder.with_name(f".{folder.name}{_PART}{token}")


@contextmanager
def _alone_in(parent: Path) -> Iterator[None]:
    """Let no other command hand out into folders beside this one's meanwhile.

    It would take what is being copied for what a killed one left, or come to the same
    folder once its entry was written.

    Raises:
        CommandRefusedError: Another one does.
    """
    if not parent.is_dir():
        yield  # which is refused in its turn
        return
    held = os.open(parent, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        message = (
            f"another command hands out into {parent} now: nothing was handed out; "
            "repeat this one once that has ended"
        )
        raise CommandRefusedError(message) from None
    finally:
        os.close(held)


def checked_line(text: str) -> str:
    """Return a recipient or a purpose.

    Raises:
        ValueError: It is empty, too long, or more than one line.
    """
    told = text.strip()
    if not told or len(told) > _LONGEST or not told.isprintable():
        message = f"write one line of at most {_LONGEST} characters"
        raise ValueError(message)
    return told


def _require_there(copy: Copy, deleted: Collection[str]) -> None:
    """Refuse where a copy was deleted since it was looked up.

    Who was in it is deleted with it, so that later copies could not be compared.

    Raises:
        CommandRefusedError: It was.
    """
    if copy.id in deleted:
        message = f"{copy.name} was deleted meanwhile: nothing was handed out"
        raise CommandRefusedError(message)


def _require_same(known: Collection[Holder], now: Collection[Holder]) -> None:
    """Refuse where others got copies since they were told to a second person.

    Raises:
        CommandRefusedError: Somebody did.
    """
    if set(now) != set(known):
        message = (
            "somebody got another copy of the same people meanwhile: nothing was "
            "handed out; repeat the command"
        )
        raise CommandRefusedError(message)


def _holds(folder: Path, copy: Copy) -> bool:
    """Whether a folder has the manifest of a copy."""
    try:
        told = (folder / MANIFEST).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(told).hexdigest() == copy.sha256


def _in_the_way(folder: Path) -> str:
    return (
        f"{folder} is in the way: the ledger has this hand-out already; move that away "
        "and repeat the same command"
    )


def _renamed(part: Path, folder: Path) -> None:
    """Give the files their folder, unless something came there meanwhile.

    Raises:
        CommandRefusedError: It did.
    """
    try:
        part.replace(folder)
    except OSError:
        raise CommandRefusedError(_in_the_way(folder)) from None


def _make(part: Path) -> Path:
    try:
        part.mkdir(mode=0o700)
    except OSError as error:
        message = f"{part} cannot be made: {error.strerror}; nothing was handed out"
        raise CommandRefusedError(message) from None
    return part


def _require_space(parent: Path, files: Iterable[Path]) -> None:
    """Refuse where the files will not fit, before an entry says that they left.

    Raises:
        CommandRefusedError: There is less room than they take.
    """
    wanted = sum(one.stat().st_size for one in files)
    free = shutil.disk_usage(parent).free
    if free < wanted:
        message = (
            f"{parent} has room for {free:,} bytes and the copy has {wanted:,}: "
            "nothing was handed out; name a folder elsewhere"
        )
        raise CommandRefusedError(message)


def _emptied(part: Path) -> None:
    for left in part.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _copied(path: Path, target: Path) -> None:
    try:
        target.unlink(missing_ok=True)
        copy_private(path, target)
    except OSError as error:
        message = (
            f"{target} cannot be written: {error.strerror}; the ledger has the "
            "hand-out already: repeat the same command once it can be"
        )
        raise CommandRefusedError(message) from None
