"""What killed commands and jobs leave beside registers, and its deletion.

A register is shown out of a folder that is deleted behind the command. Whoever shows
one holds a lock meanwhile, which the system lets go of when the process dies: so what
lies there while nobody holds it is of the dead.

A linkage is deleted in one transaction, and what its runs wrote behind that, in slices:
of a deletion that is cut off, the rest goes when a server or a worker starts.
"""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import Select, select

from server.persistence import tables
from server.persistence.linkage_tables import linkage_act, linkage_doubt
from server.persistence.text_tables import text_origin
from server.use_cases.extraction.store.slices import Slices
from server.use_cases.extraction.store.spans import SpanStore
from server.use_cases.jobs.store import ENDED
from server.use_cases.linkage.store import LinkageStore
from server.use_cases.linkage.work.registers import RegisterFiles
from server.use_cases.services.services import Services
from server.use_cases.services.text_cipher import TextCipher

KNOWN: Final = "known_"
"""Begins the names of finders that are the loops of runs."""
_SHOWN: Final = "shown_"
_LOCK: Final = "shown.lock"


@contextmanager
def shown_folder(linkages: Path) -> Iterator[Path]:
    """Lend a folder in which a register is opened to be shown; it is deleted behind.

    Args:
        linkages: Where the registers lie.
    """
    _delete_shown(linkages)
    with (
        _locked(linkages, fcntl.LOCK_SH),
        TemporaryDirectory(dir=linkages, prefix=_SHOWN) as folder,
    ):
        yield Path(folder)


def delete_leftovers(services: Services) -> None:
    """Delete registers that dead commands showed, and sheets of deleted linkages."""
    linkages = services.settings.data / "linkages"
    _delete_shown(linkages)
    sheets = list(linkages.glob("lnk_*.csv"))
    if not sheets:
        return
    with services.databases.reader.connect() as connection:
        known = {one.id for one in LinkageStore().all(connection)}
    for sheet in sheets:
        if sheet.stem not in known:
            sheet.unlink(missing_ok=True)


def known_finder(job: str) -> str:
    """Return under which name a run's loop keeps what it found.

    >>> known_finder("job_01")
    'known_01'
    """
    return KNOWN + job.partition("_")[2]


def delete_rows_of_run(slices: Slices, job: str, *, is_named: bool) -> None:
    """Delete what a run wrote that counts no more: doubts, and spans of its loop.

    Args:
        slices: Delete them.
        job: The run's.
        is_named: Whether its linkage still lists it, and so what it did to patients.
    """
    slices.delete(linkage_doubt, linkage_doubt.c.job == job)
    if not is_named:
        slices.delete(linkage_act, linkage_act.c.job == job)
        slices.delete(text_origin, text_origin.c.job == job)
    spans = SpanStore()
    with slices.reader() as connection:
        found = spans.findings_of(connection, known_finder(job))
    for one in found:
        if one.job == job:
            spans.delete_finding(slices, one)


def delete_registers_of_nobody(services: Services) -> None:
    """Delete registers that no linkage names, of jobs that ended.

    Only for who holds off loads and backups, and knows that the ledger is the last one.
    """
    files = RegisterFiles(services, TextCipher(None))  # nothing is opened
    for job in _of_nobody(services, files.jobs()):
        files.path(job).unlink(missing_ok=True)


def delete_rows_of_nobody(services: Services) -> None:
    """Delete the rows of runs that no linkage names, of jobs that ended."""
    store, slices = LinkageStore(), Slices(services.databases)
    with services.databases.reader.connect() as connection:
        made = store.jobs_of_doubts(connection) | store.jobs_of_acts(connection)
        found = SpanStore().findings_of(connection, KNOWN)
        made |= {str(one) for one in connection.execute(_with_origins()).scalars()}
        named = store.all_runs(connection)
    made |= {one.job for one in found if one.finder == known_finder(one.job)}
    for job in _of_nobody(services, made - named):
        delete_rows_of_run(slices, job, is_named=False)


def _with_origins() -> Select[tuple[str]]:
    """Return the query of linkages' jobs that wrote where values of texts come from."""
    job, origin = tables.job, text_origin
    wrote = select(origin.c.job).where(origin.c.job == job.c.id).exists()
    return select(job.c.id).where(job.c.kind.startswith("linkage."), wrote)


def _of_nobody(services: Services, jobs: Iterable[str]) -> list[str]:
    """Return those of some jobs that no linkage names and nobody works on."""
    job = tables.job
    with services.databases.reader.connect() as connection:
        counting = LinkageStore().registers(connection)
        open_jobs = select(job.c.id).where(job.c.state.not_in(ENDED))
        working = set(connection.execute(open_jobs).scalars())
    return sorted({*jobs} - counting - working)


def _delete_shown(linkages: Path) -> None:
    """Delete what dead commands left; where one is shown now, a later look does it."""
    if not any(linkages.glob(f"{_SHOWN}*")):
        return
    try:
        with _locked(linkages, fcntl.LOCK_EX | fcntl.LOCK_NB):
            for folder in linkages.glob(f"{_SHOWN}*"):
                shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return


@contextmanager
def _locked(linkages: Path, kind: int) -> Iterator[None]:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(linkages / _LOCK, flags, 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield
    finally:
        os.close(descriptor)
