"""What whoever works on the host does with linkages, without a job."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from server.use_cases.extraction.store.slices import Slices
from server.use_cases.jobs.jobs import Viewer
from server.use_cases.linkage.store import LinkageRow, LinkageStore
from server.use_cases.linkage.work.leftovers import delete_rows_of_run, shown_folder
from server.use_cases.linkage.work.registers import RegisterFiles
from server.use_cases.linkage.work.sheets import read_sheet
from server.use_cases.services.documents import Document
from server.use_cases.services.errors import CommandRefusedError, NoSuchThingError
from server.use_cases.services.private_files import copy_private
from server.use_cases.services.services import Services
from server.use_cases.services.text_cipher import read_text_key
from upstream.linkage.registers.keyed import write_crosswalk, write_identifiers
from upstream.linkage.registers.register import Register, opened


class LinkageService:
    """Shows and exports what linkages made of records; imports sheets; deletes."""

    def __init__(self, services: Services, actor: str) -> None:
        self._services = services
        self._actor = actor
        self._store = LinkageStore()

    @property
    def viewer(self) -> Viewer:
        """Whoever works on the host: of all populations."""
        return Viewer(self._actor, None)

    def row(self, wanted: str) -> LinkageRow:
        """Return a linkage by its name or its id.

        Raises:
            NoSuchThingError: There is none.
            CommandRefusedError: Several populations have one of this name.
        """
        with self._services.databases.reader.connect() as connection:
            found = [
                one
                for one in self._store.all(connection)
                if wanted in {one.name, one.id}
            ]
        if not found:
            message = f"no linkage {wanted!r}: see 'curator linkage list'"
            raise NoSuchThingError(message)
        if len(found) > 1:
            ids = ", ".join(one.id for one in found)
            message = f"{len(found)} populations have a linkage {wanted!r}: say {ids}"
            raise CommandRefusedError(message)
        return found[0]

    def view(self, wanted: str, key: int) -> list[Document]:
        """Return the identifier view of one patient, with the origin of each value.

        Raises:
            NoSuchThingError: Nobody has this unit key.
        """
        with self._register(self.row(wanted)) as (register, _):
            found = register.connection.execute(
                "SELECT record, class, attribute, value, source, id, file, place, "
                'start, "end", finder FROM identifier WHERE key = ? '
                "ORDER BY class, attribute, source, id, place, start, value",
                [key],
            )
            names = [str(one[0]) for one in found.description or ()]
            rows = found.fetchall()
        if not rows:
            message = f"nobody has the unit key {key} in this linkage"
            raise NoSuchThingError(message)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def export_view(self, wanted: str, target: Path) -> Document:
        """Write the identifier view of all patients as CSV.

        Raises:
            CommandRefusedError: The target exists, or cannot be written.
        """
        return self._exported(wanted, target, write_identifiers)

    def crosswalk(self, wanted: str, target: Path) -> Document:
        """Write which unit key each id has, as CSV.

        Raises:
            CommandRefusedError: The target exists, or cannot be written.
        """
        return self._exported(wanted, target, write_crosswalk)

    def _exported(
        self, wanted: str, target: Path, write: Callable[[Register, Path], int]
    ) -> Document:
        if os.path.lexists(target):
            message = f"{target} exists: nothing was written"
            raise CommandRefusedError(message)
        with self._register(self.row(wanted)) as (register, folder):
            shown = folder / "shown.csv"
            rows = write(register, shown)
            try:
                copy_private(shown, target)
            except OSError as error:
                message = f"{target} cannot be written: {error.strerror}"
                raise CommandRefusedError(message) from None
        return {"to": str(target), "rows": rows}

    def import_sheet(self, wanted: str, sheet: Path) -> Document:
        """Write what a clerk filled in; a row that says what it said before is no new.

        Raises:
            CommandRefusedError: The sheet is wrong; nothing was decided.
        """
        row = self.row(wanted)
        opinions = read_sheet(sheet, self._actor)
        with self._services.databases.writer.begin() as connection:
            held = {
                one.pair: one.verdict
                for one in self._store.opinions(connection, row.id)
                if one.clerk == self._actor
            }
            pairs = set(self._store.doubt_pairs(connection, row.job))
            strange = [one.pair for one in opinions if one.pair not in pairs]
            if strange:
                told = ", ".join(f"{left}-{right}" for left, right in strange[:10])
                message = (
                    f"{sheet}: {len(strange)} pairs are no doubts of the latest run "
                    f"({told}): export a new sheet. Nothing was decided"
                )
                raise CommandRefusedError(message)
            new = [one for one in opinions if held.get(one.pair) != one.verdict]
            for one in new:
                self._store.decide(connection, row.id, one)
        return {"read": len(opinions), "decided": len(new)}

    def delete(self, wanted: str) -> Document:
        """Delete a linkage: its register, runs, doubts, decisions, what its loop found.

        What was loaded with its unit keys stays; another linkage numbers anew.
        """
        row = self.row(wanted)
        facts = {"population": row.population, "linkage": row.id, "name": row.name}
        with self._services.databases.reader.connect() as connection:
            jobs = [str(run.job) for run in self._store.runs(connection, row.id)]
        recorded = self._services.ledger.recorded("linkage.delete", self._actor, facts)
        with recorded as change:
            self._store.drop(change.connection, row.id)
        slices = Slices(self._services.databases)
        files = RegisterFiles(self._services, read_text_key(None))
        files.sheet(row.id).unlink(missing_ok=True)
        for job in jobs:
            delete_rows_of_run(slices, job, is_named=False)
            files.delete(job)
        return {"deleted": row.name, "id": row.id}

    @contextmanager
    def _register(self, row: LinkageRow) -> Iterator[tuple[Register, Path]]:
        """Open a linkage's register in a folder that goes behind it; lend both."""
        cipher = read_text_key(self._services.settings.text_key)
        files = RegisterFiles(self._services, cipher)
        with self._services.databases.reader.connect() as connection:
            digest = self._store.register_digest(connection, row.job)
        with shown_folder(files.folder) as folder:
            path = files.open(row.job, digest, folder / "register.duckdb")
            with opened(path, read_only=True) as register:
                path.unlink()  # it is open: a killed command leaves no names behind
                yield register, folder
